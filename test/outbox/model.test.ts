import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { noCounters, noProgress, type Outbox } from '../../src/outbox/outbox.ts';
import { readOutbox } from '../../src/outbox/reader.ts';
import { imbalance } from '../../src/outbox/store/counters.ts';
import { runs } from '../support/runs.ts';
import { appendRecords, createHarness, type Harness, positions } from './harness.ts';

const sinkNames = ['hub', 'table', 'stdout'] as const;
const eventIds = ['A', 'B', 'C'];
const week = 7 * 24 * 3_600_000;

type Standing = 'pending' | 'delivered' | 'dead' | 'abandoned' | 'purged';

/** A model of the outbox without a disk. */
interface Model {
  sinks: readonly string[];
  /** By position: the event, when it was appended, and the state of its deliveries. */
  readonly records: Map<
    number,
    { readonly eventKey: string; readonly at: number; readonly standing: Map<string, Standing> }
  >;
  readonly open: Map<string, boolean>;
  position: number;
  readonly accepted: Map<string, number>;
}

interface World {
  harness: Harness;
  outbox: Outbox;
  now: number;
}

type Step =
  | { readonly do: 'append'; readonly eventId: string; readonly count: number; readonly open: boolean }
  | {
      readonly do: 'settle';
      readonly sink: number;
      readonly first: number;
      readonly state: 'delivered' | 'dead' | 'pending';
    }
  | { readonly do: 'retry' | 'purge dead' | 'purge pending'; readonly sink: number }
  | { readonly do: 'crash' | 'restart' | 'maintain' }
  | { readonly do: 'wait'; readonly days: number }
  | { readonly do: 'configure'; readonly sinks: readonly string[] };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      eventId: fc.constantFrom(...eventIds),
      count: fc.integer({ min: 1, max: 3 }),
      open: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      sink: fc.nat(2),
      first: fc.integer({ min: 1, max: 4 }),
      state: fc.constantFrom('delivered' as const, 'delivered' as const, 'dead' as const, 'pending' as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('retry' as const, 'retry' as const, 'purge dead' as const, 'purge pending' as const),
      sink: fc.nat(2),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('crash' as const, 'restart' as const, 'maintain' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 8 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('configure' as const),
      sinks: fc.subarray([...sinkNames], { minLength: 1 }),
    }),
  },
);

/** As a kill -9 leaves it: another directory with the same bytes, while the first is still open. */
function crash(world: World): void {
  const harness = createHarness();
  for (const name of readdirSync(world.harness.directory).filter((file) => /^outbox\.sqlite(-wal)?$/.test(file))) {
    writeFileSync(join(harness.directory, name), readFileSync(join(world.harness.directory, name)));
  }
  world.harness[Symbol.dispose]();
  world.harness = harness;
}

function reopen(world: World, model: Model): void {
  world.harness.clock.stepWall(world.now - world.harness.clock.now().getTime());
  world.outbox = world.harness.open({ sinks: model.sinks });
}

function configure(model: Model, sinks: readonly string[]): void {
  for (const [, { standing }] of model.records) {
    for (const sink of sinkNames) {
      const was = model.sinks.includes(sink);
      const state = standing.get(sink);
      if (was && !sinks.includes(sink) && (state === 'pending' || state === 'dead')) standing.set(sink, 'abandoned');
      if (!was && sinks.includes(sink) && (state === undefined || state === 'abandoned')) accept(model, sink, standing);
    }
  }
  model.sinks = sinks;
}

function accept(model: Model, sink: string, standing: Map<string, Standing>): void {
  standing.set(sink, 'pending');
  model.accepted.set(sink, (model.accepted.get(sink) ?? 0) + 1);
}

const deliveriesIn = (model: Model, sink: string, state: Standing): number[] =>
  [...model.records].filter(([, { standing }]) => standing.get(sink) === state).map(([position]) => position);

function take(step: Step, world: World, model: Model): void {
  switch (step.do) {
    case 'append': {
      appendRecords(world.outbox, step);
      model.open.set(step.eventId.toLowerCase(), step.open);
      for (let n = 0; n < step.count; n += 1) {
        model.position += 1;
        const standing = new Map<string, Standing>();
        for (const sink of model.sinks) accept(model, sink, standing);
        model.records.set(model.position, { eventKey: step.eventId.toLowerCase(), at: world.now, standing });
      }
      return;
    }
    case 'settle': {
      const sink = model.sinks[step.sink % model.sinks.length] ?? '';
      const chosen = deliveriesIn(model, sink, 'pending').slice(0, step.first);
      const reason = { code: 'x', reason: 'y' };
      world.outbox.settle(
        sink,
        chosen.map((position) => ({ position, state: step.state, ...reason })),
        noProgress,
      );
      if (step.state === 'pending') return;
      for (const position of chosen) model.records.get(position)?.standing.set(sink, step.state);
      return;
    }
    case 'retry':
    case 'purge dead':
    case 'purge pending': {
      const sink = model.sinks[step.sink % model.sinks.length] ?? '';
      const state = step.do === 'purge pending' ? 'pending' : 'dead';
      const chosen = deliveriesIn(model, sink, state);
      const changed =
        step.do === 'retry' ? world.outbox.retryDeadLetters({ sink }) : world.outbox.purge({ sink, state });
      expect(changed).toBe(chosen.length);
      for (const position of chosen)
        model.records.get(position)?.standing.set(sink, step.do === 'retry' ? 'pending' : 'purged');
      return;
    }
    case 'wait':
      world.now += step.days * 24 * 3_600_000;
      world.harness.clock.stepWall(step.days * 24 * 3_600_000);
      return;
    case 'maintain': {
      world.outbox.maintain();
      for (const [position, { at, standing }] of model.records) {
        const isSettled = [...standing.values()].every((state) => state !== 'pending' && state !== 'dead');
        if (isSettled && world.now - at > week) model.records.delete(position);
      }
      return;
    }
    case 'configure':
      world.outbox.close();
      configure(model, step.sinks);
      reopen(world, model);
      return;
    case 'restart':
      world.outbox.close();
      reopen(world, model);
      return;
    case 'crash':
      crash(world);
      reopen(world, model);
      return;
  }
}

function compare({ outbox, harness }: World, model: Model): void {
  expect(outbox.state.position).toBe(model.position);
  expect(new Map([...outbox.state.events].map(([key, { open }]) => [key, open]))).toEqual(model.open);
  const counters = outbox.counters();
  for (const sink of model.sinks) {
    expect(positions(outbox, sink)).toEqual(deliveriesIn(model, sink, 'pending'));
    expect(counters[sink]).toMatchObject({
      accepted: model.accepted.get(sink) ?? 0,
      pending: deliveriesIn(model, sink, 'pending').length,
      dead: deliveriesIn(model, sink, 'dead').length,
    });
  }
  for (const own of Object.values(counters)) expect(imbalance(own)).toBe(0);
  for (const { name, counters: stored } of readOutbox(harness.directory)?.sinks ?? []) {
    expect(stored).toEqual(counters[name] ?? noCounters);
  }
}

describe('any sequence of appends, updates, crashes, configurations, manual actions and waits', () => {
  test('the outbox holds what a list in memory would hold', () => {
    fc.assert(
      fc.property(fc.array(steps, { minLength: 1, maxLength: 30 }), (history) => {
        const harness = createHarness();
        const model: Model = {
          sinks: ['hub', 'table'],
          records: new Map(),
          open: new Map(),
          position: 0,
          accepted: new Map(),
        };
        const world: World = {
          harness,
          outbox: harness.open({ sinks: model.sinks }),
          now: harness.clock.now().getTime(),
        };
        try {
          for (const step of history) {
            take(step, world, model);
            compare(world, model);
          }
        } finally {
          world.harness[Symbol.dispose]();
        }
        expect(existsSync(world.harness.directory)).toBe(false);
      }),
      { numRuns: runs('histories of an outbox', { quick: 20, full: 60 }), endOnFailure: true },
    );
  });
});

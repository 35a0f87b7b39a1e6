import fs, { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noProgress, type Outbox } from '../../../src/outbox/outbox.ts';
import { readOutbox } from '../../../src/outbox/reader.ts';
import { imbalance } from '../../../src/outbox/store/counters.ts';
import { runs } from '../../support/runs.ts';
import { after, appendRecords, createHarness, deliverAll, type Harness, positions, recordAt } from '../harness.ts';

/** What the disk has free, as the outbox sees it. */
const disk = { freeBytes: 0 };
const { statfsSync } = fs;

// In `fs` itself: a mock of the product's module does nothing where a file before this one has loaded it.
beforeAll(() => {
  const faked = (path: string) => {
    const found = statfsSync(path);
    return { ...found, bavail: Math.floor(disk.freeBytes / found.bsize) };
  };
  fs.statfsSync = faked as typeof statfsSync;
  syncBuiltinESMExports();
});
afterAll(() => {
  fs.statfsSync = statfsSync;
  syncBuiltinESMExports();
});

const megabyte = 2 ** 20;
const sinks = ['hub', 'table'] as const;
type SinkName = (typeof sinks)[number];

/** As a kill -9 leaves it: another directory with the same bytes, while the first is still open. */
function killed(harness: Harness): Harness {
  const copy = createHarness();
  for (const name of readdirSync(harness.directory).filter((file) => /^outbox\.(sqlite(-wal)?|position)$/.test(file))) {
    writeFileSync(join(copy.directory, name), readFileSync(join(harness.directory, name)));
  }
  harness[Symbol.dispose]();
  return copy;
}

describe('a backlog on a disk that other programs have filled', () => {
  // A tenth of 12,000 records of 4.4 KB with 1 GB and with 100 MB free.
  test.each([{ freeMegabytes: 100 }, { freeMegabytes: 10 }])(
    'survives a restart, a kill -9 and the return of its sink with $freeMegabytes MB free',
    ({ freeMegabytes }) => {
      disk.freeBytes = 1e12;
      using first = createHarness();
      const before = first.open();
      for (let n = 0; n < 12; n += 1)
        appendRecords(before, { eventId: `E-${n}`, count: 100, bytes: 2000, open: false });
      deliverAll(before, 'table');
      before.close();
      disk.freeBytes = freeMegabytes * megabyte;
      const second = first.open();
      for (let n = 0; n < 20; n += 1) appendRecords(second, { eventId: `NEW-${n}`, bytes: 2000 });
      second.maintain();
      expect(second.storage).toEqual({ fault: null, undurable: 0 });
      using harness = killed(first);
      const third = harness.open();
      expect(positions(third, 'hub', 10_000)).toEqual(Array.from({ length: 1220 }, (_, n) => n + 1));
      deliverAll(third, 'hub');
      third.maintain();
      expect(third.counters().hub).toMatchObject({ accepted: 1220, delivered: 1220, expired: 0 });
    },
  );
});

test('room is made in a file that has no page left, where each record that goes leaves a tombstone', () => {
  disk.freeBytes = 1e12;
  using harness = createHarness();
  const outbox = harness.open({ maxMegabytes: 1 });
  for (let n = 0; n < 150; n += 1) appendRecords(outbox, { eventId: `EVENT-${n}`, count: 10, open: false });
  expect(outbox.storage).toEqual({ fault: null, undurable: 0 });
  const { accepted = 0, expired = 0, pending = 0 } = outbox.counters().hub ?? {};
  expect({ accepted, sum: expired + pending }).toEqual({ accepted: 1500, sum: 1500 });
  expect(expired).toBeGreaterThan(0);
  const codes = harness.lines.map(({ fields }) => fields.code);
  expect(codes).not.toContain('sqlite-13');
  expect(codes.indexOf('fill')).toBeGreaterThanOrEqual(0);
  expect(codes.indexOf('fill')).toBeLessThan(codes.indexOf('expired'));
});

test('the quota grows at maintenance when the disk has more free space', () => {
  disk.freeBytes = 100 * megabyte;
  using harness = createHarness();
  const outbox = harness.open({ maxMegabytes: 64 });
  expect(outbox.fill.limitBytes).toBeLessThan(6 * megabyte);
  disk.freeBytes = 1e12;
  outbox.maintain();
  expect(outbox.fill.limitBytes).toBe(64 * megabyte);
});

test('what the outbox takes is its file without free pages, and its log', () => {
  disk.freeBytes = 1e12;
  using harness = createHarness();
  const outbox = harness.open();
  appendRecords(outbox, { count: 50, bytes: 2000 });
  outbox.maintain();
  using db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'), { readOnly: true });
  const [pages, free] = ['page_count', 'freelist_count'].map((name) =>
    Number(db.prepare(`PRAGMA ${name}`).get()?.[name]),
  );
  const log = statSync(join(harness.directory, 'outbox.sqlite-wal')).size;
  expect(log).toBeGreaterThan(0);
  expect(outbox.fill.bytes).toBe(((pages ?? 0) - (free ?? 0)) * 4096 + log);
});

test('results of deliveries are written into a file that has no page left for records', () => {
  disk.freeBytes = 1e12;
  using harness = createHarness();
  const outbox = harness.open({ maxMegabytes: 1, sinks: ['hub'] });
  for (let n = 0; n < 200; n += 1) appendRecords(outbox, { eventId: 'OPEN', bytes: 3000 });
  expect(outbox.storage.fault).toMatchObject({ kind: 'full' });
  const onDisk = positions(outbox, 'hub', 1000).slice(0, -outbox.storage.undurable);
  const dead = { state: 'dead', code: 'poison', reason: 'y'.repeat(1000) } as const;
  outbox.settle(
    'hub',
    onDisk.map((position) => ({ position, ...dead })),
    noProgress,
  );
  outbox.close();
  expect(readOutbox(harness.directory)?.sinks[0]?.counters).toMatchObject({ dead: onDisk.length, expired: 0 });
});

type Step =
  | { readonly do: 'append'; readonly event: string; readonly kilobytes: number; readonly isOpen: boolean }
  | { readonly do: 'deliver'; readonly sink: SinkName; readonly records: number }
  | { readonly do: 'break' | 'repair'; readonly sink: SinkName }
  | { readonly do: 'restart' | 'kill' | 'maintain' }
  | { readonly do: 'free'; readonly megabytes: number };

const sink = fc.constantFrom(...sinks);
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      event: fc.constantFrom('A', 'B', 'C', 'D', 'E', 'F'),
      kilobytes: fc.integer({ min: 2, max: 60 }),
      isOpen: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('deliver' as const), sink, records: fc.integer({ min: 1, max: 20 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('break' as const, 'repair' as const), sink }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('restart' as const, 'kill' as const, 'maintain' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('free' as const), megabytes: fc.constantFrom(10, 40, 100, 1000, 10_000) }),
  },
);

/** The outbox under test, and the outcome of each record that was appended. */
class World {
  harness: Harness = createHarness();
  outbox: Outbox;
  readonly #broken = new Set<SinkName>();
  readonly #delivered = { hub: new Set<string>(), table: new Set<string>() };
  /** Bytes of each record that was appended, by a name of its own. */
  readonly #appended = new Map<string, number>();
  /** More than this may have cost the oldest records their place, within the rules. */
  #allowedBytes = 0;
  isOverfull = false;
  timesStuck = 0;

  constructor() {
    disk.freeBytes = 400 * megabyte;
    this.outbox = this.#open();
  }

  take(step: Step): void {
    switch (step.do) {
      case 'append':
        this.#append(step);
        return;
      case 'deliver':
        this.#deliver(step.sink, step.records);
        return;
      case 'break':
        this.#broken.add(step.sink);
        return;
      case 'repair':
        this.#broken.delete(step.sink);
        return;
      case 'maintain':
        this.outbox.maintain();
        return;
      case 'free':
        disk.freeBytes = step.megabytes * megabyte;
        return;
      case 'restart':
        this.outbox.close();
        this.outbox = this.#open();
        return;
      case 'kill':
        this.harness = killed(this.harness);
        this.outbox = this.#open();
    }
  }

  /** Everything recovered: what no sink has by then is lost. */
  lostInTheEnd(): number {
    disk.freeBytes = 1e12;
    this.#broken.clear();
    this.take({ do: 'restart' });
    for (const name of sinks) this.#deliver(name, 100_000);
    return [...this.#appended.keys()].filter((id) => sinks.some((name) => !this.#delivered[name].has(id))).length;
  }

  get #waitingBytes(): number {
    const waiting = [...this.#appended].filter(([id]) => sinks.some((name) => !this.#delivered[name].has(id)));
    return waiting.reduce((sum, [, bytes]) => sum + bytes, 0);
  }

  #open(): Outbox {
    const outbox = this.harness.open({ sinks });
    const fivePercent = Math.min(256 * megabyte, disk.freeBytes / 20);
    // A record takes more room in the file than its bytes.
    this.#allowedBytes = Math.max(0.6 * fivePercent, 1.06 * this.#waitingBytes, 0.5 * megabyte);
    return outbox;
  }

  #append({ event, kilobytes, isOpen }: Extract<Step, { do: 'append' }>): void {
    const { state } = this.outbox;
    const id = `${this.#appended.size}`;
    const description = `${id}:${'x'.repeat(kilobytes * 1024)}`;
    const record = recordAt(state.position + 1, event, { streamId: state.streamId, description });
    this.#appended.set(id, description.length + 4096);
    this.outbox.append(after(state, 1, event, isOpen), [record]);
    this.outbox.retry();
    if (this.#waitingBytes > this.#allowedBytes) this.isOverfull = true;
    if (this.outbox.storage.fault !== null && !this.isOverfull) this.timesStuck += 1;
  }

  #deliver(name: SinkName, limit: number): void {
    if (this.#broken.has(name)) return;
    const found = this.outbox.pending(name, { limit });
    for (const { json } of found) {
      this.#delivered[name].add(String(JSON.parse(String(json)).description).split(':', 1)[0] ?? '');
    }
    this.outbox.settle(
      name,
      found.map(({ position }) => ({ position, state: 'delivered' })),
      noProgress,
    );
  }

  [Symbol.dispose](): void {
    this.harness[Symbol.dispose]();
  }
}

/** Where more was appended than the bound allows, the oldest may go: there only the balance is held. */
test('restarts, kills, broken sinks and a disk that others fill cost no record and never stop the outbox', () => {
  const seen = { histories: 0, overfull: 0, lost: 0, stuck: 0 };
  fc.assert(
    fc.property(fc.array(steps, { minLength: 40, maxLength: 120, size: 'max' }), (history) => {
      using world = new World();
      for (const step of history) world.take(step);
      const lost = world.lostInTheEnd();
      for (const counters of Object.values(world.outbox.counters())) expect(imbalance(counters)).toBe(0);
      seen.histories += 1;
      seen.overfull += world.isOverfull ? 1 : 0;
      seen.lost += world.isOverfull ? 0 : lost;
      seen.stuck += world.timesStuck;
    }),
    { numRuns: runs('histories of a full disk', { quick: 8, full: 15 }), endOnFailure: true },
  );
  const { histories, overfull } = seen;
  console.log(`  ${histories} histories, ${overfull} of them with more than fits, ${seen.lost} records lost`);
  expect(overfull).toBeLessThan(histories);
  expect(seen).toMatchObject({ lost: 0, stuck: 0 });
}, 120_000);

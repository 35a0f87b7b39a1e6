import { describe, expect, test } from 'vitest';
import { foldCopies, foldEvents, foldObservers } from '../../src/lifecycle/fold.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import {
  at,
  event,
  nothing,
  type ObservationSpec,
  observe,
  observerNamed,
  settled,
  started,
} from '../support/observations.ts';

const scheduled = event({ resources: ['web_0', 'web_1', 'web_2'] });
const seenBy = (vm: string, observations: readonly ObservationSpec[]): readonly LifecycleRecord[] =>
  observe(observations, { observer: observerNamed(vm) }).records;
const wholeLifecycle: readonly ObservationSpec[] = [
  nothing,
  { events: [scheduled] },
  { events: [started(scheduled)] },
  nothing,
];

describe('folding copies', () => {
  test('a record that was sent again counts once, as it was first observed', () => {
    const [record] = seenBy('web_0', wholeLifecycle);
    if (!record) throw new Error('no record');
    const again = { ...record, observedAt: at(500) };
    expect(foldCopies([again, record, again])).toEqual([record]);
  });
});

describe('one answer per event', () => {
  test('three VMs that saw one freeze make one event of three steps', () => {
    const records = ['web_0', 'web_1', 'web_2'].flatMap((vm) => seenBy(vm, wholeLifecycle));
    const [folded, ...others] = foldEvents(records);
    expect(others).toEqual([]);
    expect(folded?.steps.map(({ phase }) => phase)).toEqual(['Scheduled', 'Started']);
    expect(folded?.end?.phase).toBe('Completed');
  });

  test('of several observations of one step the earliest is kept', () => {
    const late = wholeLifecycle.map((observation) => ({ ...observation, after: 3 }));
    const [folded] = foldEvents([...seenBy('web_0', late), ...seenBy('web_1', wholeLifecycle)]);
    expect(folded?.steps.map(({ vmName, observedAt }) => [vmName, observedAt])).toEqual([
      ['web_1', at(2)],
      ['web_1', at(3)],
    ]);
  });

  test('an event that has not ended has no end', () => {
    expect(foldEvents(seenBy('web_0', wholeLifecycle.slice(0, 3)))[0]?.end).toBeNull();
  });
});

describe('letter case', () => {
  test('of event id and vmId adds neither an event nor a VM', () => {
    const records = seenBy('web_0', wholeLifecycle).map((record, n) =>
      n % 2 === 0 ? record : { ...record, eventId: record.eventId.toLowerCase(), vmId: record.vmId.toUpperCase() },
    );
    expect(foldEvents(records)).toHaveLength(1);
    expect(foldObservers(records)).toHaveLength(1);
  });
});

describe('of several ends the one with the best evidence is kept', () => {
  const missedStarted: readonly ObservationSpec[] = [
    { events: [] },
    { events: [scheduled] },
    { events: [], incarnation: 4 },
  ];
  const canceled: readonly ObservationSpec[] = [nothing, { events: [scheduled] }, nothing];
  const saidSo: readonly ObservationSpec[] = [
    nothing,
    { events: [event({ ...scheduled, eventStatus: 'Canceled' })], after: 60 },
  ];
  const paused: readonly ObservationSpec[] = [
    nothing,
    { events: [scheduled] },
    { events: [], incarnation: 4, pauseMs: 5000, after: 8 },
  ];
  const cases: readonly { name: string; ends: readonly (readonly ObservationSpec[])[]; wins: string }[] = [
    { name: 'Completed after Started over Ended', ends: [missedStarted, wholeLifecycle], wins: 'left-after-started' },
    {
      name: 'Completed after Started over Completed by a pause',
      ends: [paused, wholeLifecycle],
      wins: 'left-after-started',
    },
    { name: 'Canceled over Completed by a pause', ends: [canceled, paused], wins: 'left-before-not-before' },
    { name: 'Canceled over Ended', ends: [missedStarted, canceled], wins: 'left-before-not-before' },
    { name: 'said by Azure before all others', ends: [wholeLifecycle, canceled, saidSo], wins: 'said-by-azure' },
  ];
  test('among equals the earliest is kept', () => {
    const late = wholeLifecycle.map((observation) => ({ ...observation, after: 5 }));
    const records = [...seenBy('web_1', late), ...seenBy('web_0', wholeLifecycle)];
    expect(foldEvents(records)[0]?.end?.vmName).toBe('web_0');
  });

  test.each(cases)('$name', ({ ends, wins }) => {
    const records = ends.flatMap((observations, n) => seenBy(`web_${n}`, observations));
    expect(foldEvents(records)[0]?.end?.evidence).toContain(wins);
    expect(foldEvents(records.toReversed())[0]?.end?.evidence).toContain(wins);
  });
});

describe('an event that returns', () => {
  const returns: readonly ObservationSpec[] = [
    nothing,
    { events: [scheduled] },
    nothing,
    { events: [scheduled], after: 60 },
  ];

  test('withdraws every end observed before, by any VM', () => {
    const records = [...seenBy('web_0', returns), ...seenBy('web_1', returns.slice(0, 3))];
    expect(foldEvents(records)[0]?.end).toBeNull();
  });

  test('leaves the ends observed after it', () => {
    const [folded] = foldEvents(seenBy('web_0', [...returns, nothing]));
    expect(folded?.end).toMatchObject({ phase: 'Canceled', repeat: 1 });
  });

  test('withdraws, in the question about VMs, only the ends of the VM that saw it return', () => {
    const folded = foldObservers([...seenBy('web_0', returns), ...seenBy('web_1', returns.slice(0, 3))]);
    expect(folded.map(({ end }) => end?.phase ?? null)).toEqual([null, 'Canceled']);
  });
});

describe('a VM that lost its state', () => {
  const back: readonly ObservationSpec[] = [
    nothing,
    { events: [scheduled] },
    nothing,
    { events: [scheduled], after: 60 },
  ];
  /** What it reports after it lost its state, two minutes after the first observation. */
  const anew = (observations: readonly ObservationSpec[]): readonly LifecycleRecord[] =>
    observe(observations, {
      observer: observerNamed('web_0'),
      state: { ...settled, streamId: 'second' },
      from: Date.parse(at(120)),
    }).records;

  test('ends an event that had reappeared before, though its second end has the recordId of the first', () => {
    const first = seenBy('web_0', back);
    const second = anew([{ events: [scheduled] }, nothing]);
    expect(second.map(({ recordId }) => recordId)).toEqual(first.slice(0, 2).map(({ recordId }) => recordId));
    for (const records of [
      [...first, ...second],
      [...second, ...first],
    ]) {
      expect(foldCopies(records)).toHaveLength(5);
      for (const [folded, ...others] of [foldEvents(records), foldObservers(records)]) {
        expect(others).toEqual([]);
        expect(folded?.end).toMatchObject({ phase: 'Canceled', streamId: 'second' });
        expect(folded?.steps.map(({ observedAt, evidence }) => [observedAt, ...evidence])).toEqual([
          [at(2), 'said-by-azure'],
          [at(63), 'reappeared'],
        ]);
      }
    }
  });

  test('does not add a step to an event that it reports again, and the first report is kept', () => {
    const records = [
      ...seenBy('web_0', wholeLifecycle.slice(0, 2)),
      ...anew([{ events: [scheduled] }, { events: [started(scheduled)], after: 900 }, nothing]),
    ];
    expect(foldCopies(records).map(({ phase }) => phase)).toEqual(['Scheduled', 'Scheduled', 'Started', 'Completed']);
    const [folded] = foldEvents(records);
    expect(folded?.steps.map(({ phase, observedAt }) => [phase, observedAt])).toEqual([
      ['Scheduled', at(2)],
      ['Started', at(1021)],
    ]);
    expect(folded?.end?.phase).toBe('Completed');
  });

  test('takes back its own end by a return in the new stream that has the recordId of an earlier one', () => {
    const records = [...seenBy('web_0', back), ...anew(back)];
    expect(foldEvents(records)[0]?.end).toBeNull();
    expect(foldEvents(records)[0]?.steps).toHaveLength(2);
  });
});

describe('a fleet goes through a rolling maintenance', () => {
  test('two hundred observers that each miss other documents report each step once', () => {
    const names = Array.from({ length: 200 }, (_, n) => `web_${n}`);
    const waves = Array.from({ length: 5 }, (_, wave) =>
      event({ eventId: `wave-${wave}`, resources: names.slice(40 * wave, 40 * wave + 40), notBefore: at(60 + wave) }),
    );
    const documents = waves.flatMap((wave) => [[wave], [started(wave)], []]);
    const misses = (vm: number, document: number): boolean => (vm * 7 + document * 13) % 5 === 0;
    const records = names.flatMap(
      (name, vm) =>
        observe(
          [nothing, ...documents.map((events, n): ObservationSpec => ({ events, incarnation: n + 2 }))].filter(
            (_, n) => n === 0 || !misses(vm, n),
          ),
          { observer: observerNamed(name), witnessRate: 0.1 },
        ).records,
    );
    const folded = foldEvents(records);
    expect(folded.map(({ eventId }) => eventId).sort()).toEqual(waves.map(({ eventId }) => eventId));
    for (const { steps, end } of folded) {
      expect(steps.map(({ phase }) => phase).sort()).toEqual(['Scheduled', 'Started']);
      expect(end?.evidence).toContain('left-after-started');
    }
  });
});

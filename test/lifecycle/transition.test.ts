import { describe, expect, test } from 'vitest';
import { gapAfterMs } from '../../src/lifecycle/transition.ts';
import { play, seconds } from '../support/cases.ts';
import { at, event, nothing, type ObservationSpec, observe, phaseLines, started } from '../support/observations.ts';

const scheduled = event();
const reboot = event({ eventType: 'Reboot', durationSeconds: -1 });

describe('an event runs its course', () => {
  play([
    {
      name: 'a freeze is scheduled, starts and leaves',
      seen: [nothing, { events: [scheduled] }, { events: [started(scheduled)], after: 900 }, nothing],
      records: [
        'Scheduled: said-by-azure',
        'Started: said-by-azure observation-gap',
        'Completed: left-after-started not-before-passed',
      ],
    },
    {
      name: 'the same document again is no step',
      seen: [nothing, { events: [scheduled] }, { events: [scheduled] }, { events: [scheduled], incarnation: 9 }],
      records: ['Scheduled: said-by-azure'],
    },
    {
      name: 'a hardware failure starts without notice',
      seen: [nothing, { events: [started(reboot)] }, nothing],
      records: ['Started: started-without-notice', 'Completed: left-after-started not-before-unknown'],
    },
    {
      name: 'an event listed in the first observation has an unknown start',
      seen: [{ events: [scheduled] }],
      records: ['Scheduled: present-at-first-look'],
    },
    {
      name: 'a Started event that was there after a gap has an unknown beginning',
      seen: [nothing, { events: [started(scheduled)], after: 60 }],
      records: ['Started: present-at-first-look'],
    },
    {
      name: 'a list that changed with equal incarnation is a step all the same',
      seen: [
        { events: [], incarnation: 5 },
        { events: [scheduled], incarnation: 5 },
        { events: [started(scheduled)], incarnation: 5 },
      ],
      records: ['Scheduled: said-by-azure', 'Started: said-by-azure'],
    },
    {
      name: 'Azure reports Completed, and leaving afterwards is no step',
      seen: [
        nothing,
        { events: [started(scheduled)] },
        { events: [event({ eventStatus: 'Completed' })] },
        { events: [event({ eventStatus: 'Completed' })] },
        nothing,
      ],
      records: ['Started: started-without-notice', 'Completed: said-by-azure'],
    },
    {
      name: 'Azure reports Canceled of an event never listed before',
      seen: [nothing, { events: [event({ eventStatus: 'Canceled' })] }, nothing],
      records: ['Canceled: said-by-azure'],
    },
    {
      name: 'a missing document is no observation',
      seen: [nothing, { events: [scheduled] }, { events: [], kind: 'unavailable' }, { events: [scheduled] }],
      records: ['Scheduled: said-by-azure'],
    },
    {
      name: 'a 304 answer keeps every event open',
      seen: [
        nothing,
        { events: [scheduled] },
        ...seconds(20, { events: [], kind: 'unchanged' }),
        { events: [scheduled] },
      ],
      records: ['Scheduled: said-by-azure'],
    },
  ]);
});

test('the events of one document are recorded in the order of their lower-case ids', () => {
  const { records } = observe([nothing, { events: ['b', 'A', 'C'].map((eventId) => event({ eventId })) }]);
  expect(records.map(({ eventId }) => eventId)).toEqual(['A', 'b', 'C']);
});

test('a gap is ten seconds, or three poll intervals where that is more', () => {
  expect([1, 3, 5].map(gapAfterMs)).toEqual([10_000, 10_000, 15_000]);
});

describe('until the observer is known', () => {
  const early: readonly ObservationSpec[] = [
    { ...nothing, unknownObserver: true },
    { events: [scheduled], unknownObserver: true },
    { events: [scheduled], unknownObserver: true },
    { events: [started(scheduled)], unknownObserver: true },
    { events: [], unknownObserver: true },
  ];

  test('documents are buffered, and no record is made', () => {
    const { records, state } = observe(early);
    expect(records).toEqual([]);
    expect(state.undecided.map(({ document }) => document?.events.length)).toEqual([0, 1, 1, 1, 0]);
  });

  test('of equal documents the first, the second and the latest are kept', () => {
    const { undecided } = observe(Array.from({ length: 9 }, () => ({ ...nothing, unknownObserver: true }))).state;
    expect(undecided.map(({ at }) => at)).toEqual([at(1), at(2), at(9)]);
  });

  test('also those in which the machine measured a pause', () => {
    const observations = [{}, {}, {}, {}, { pauseMs: 5000 }, {}, {}].map((observation) => ({
      ...nothing,
      ...observation,
      unknownObserver: true,
    }));
    expect(observe(observations).state.undecided.map(({ at }) => at)).toEqual([
      at(1),
      at(2),
      at(4),
      at(5),
      at(6),
      at(7),
    ]);
  });

  test('an event that is absent from two documents and reappears has ended and reappeared', () => {
    const absent: ObservationSpec = { events: [], incarnation: 2, after: 2 };
    const observations: readonly ObservationSpec[] = [
      { events: [scheduled], incarnation: 1 },
      absent,
      absent,
      { events: [scheduled], incarnation: 3 },
    ];
    const late = observe([...observations.map((observation) => ({ ...observation, unknownObserver: true })), nothing], {
      confirms: false,
    });
    expect(phaseLines(late.records).map((words) => words.replace(/:.*/, ''))).toEqual([
      'Scheduled',
      'Canceled',
      'Scheduled',
    ]);
  });

  test('they are decided in order, with the time of each observation', () => {
    const { records, state } = observe([...early, { events: [], kind: 'unavailable' }]);
    expect(phaseLines(records)).toEqual([
      'Scheduled: said-by-azure',
      'Started: said-by-azure',
      'Completed: left-after-started',
    ]);
    expect(records.map(({ observedAt }) => observedAt)).toEqual([at(2), at(4), at(5)]);
    expect(state.undecided).toEqual([]);
  });

  test('they make the same records as with a known observer', () => {
    const late = observe([...early, nothing]).records;
    const known = observe(early.map((observation) => ({ ...observation, unknownObserver: false }))).records;
    expect(late).toEqual(known);
  });

  test('a polling pause between two of them is a gap for the later one', () => {
    const { records } = observe([
      { ...nothing, unknownObserver: true },
      { events: [scheduled], unknownObserver: true, after: 60 },
      { events: [scheduled] },
    ]);
    expect(phaseLines(records)).toEqual(['Scheduled: present-at-first-look']);
  });

  test('a boot between two equal documents is not overlooked', () => {
    const reboot = event({ eventType: 'Reboot', notBefore: at(60) });
    const observations: readonly ObservationSpec[] = [
      nothing,
      { events: [reboot] },
      { events: [reboot], after: 100, bootId: 'boot-2' },
      { events: [], incarnation: 4 },
    ];
    const early = observe([
      ...observations.map((observation) => ({ ...observation, unknownObserver: true })),
      { events: [], kind: 'unavailable' },
    ]);
    expect(early.records).toEqual(observe(observations).records);
    expect(phaseLines(early.records).at(-1)).toMatch(/^Ended: /);
  });

  test('a dropped document is a gap for the next one, and the first is never dropped', () => {
    const big = (n: number): ObservationSpec => ({
      events: [event({ notBefore: at(900 + n), description: 'x'.repeat(3_000_000) })],
      unknownObserver: true,
    });
    const { undecided } = observe([big(0), big(1), big(2), big(3)]).state;
    expect(undecided.map(({ document }) => document?.events[0]?.notBefore)).toEqual([at(900), at(903)]);
    expect(undecided[1]?.previousDocumentAt).toBeNull();
  });

  test('at most a thousand are buffered: then the newest replaces the one before', () => {
    const observations = Array.from({ length: 1010 }, (_, n) => ({
      events: [event({ notBefore: at(n) })],
      unknownObserver: true,
    }));
    const { undecided } = observe(observations).state;
    expect(undecided).toHaveLength(1000);
    expect(undecided[0]?.document?.events[0]?.notBefore).toBe(at(0));
    expect(undecided.at(-1)?.document?.events[0]?.notBefore).toBe(at(1009));
  });

  test('a 304 answer to a document that is not buffered is ignored', () => {
    const { records, state } = observe([{ events: [], kind: 'unchanged' }]);
    expect(records).toEqual([]);
    expect(state.lastDocumentAt).toBeNull();
  });
});

describe('a crowd', () => {
  test('a thousand events of a hundred VMs each are recorded once', () => {
    const names = Array.from({ length: 100 }, (_, n) => `web_${n}`);
    const crowd = Array.from({ length: 1000 }, (_, n) => event({ eventId: `event-${n}`, resources: names }));
    const { records, state } = observe([nothing, { events: crowd }, { events: crowd }]);
    expect(records).toHaveLength(1000);
    expect(state.position).toBe(1000);
  });

  test('an unchanged document returns the same events object', () => {
    const before = observe([nothing, { events: [scheduled] }]).state;
    const after = observe([{ events: [event()], incarnation: 2 }], { state: before }).state;
    expect(after.events).toBe(before.events);
  });

  test('which of several events that end together are forgotten does not depend on their order in the document', () => {
    const many = Array.from({ length: 1010 }, (_, n) => event({ eventId: `event-${n}` }));
    const kept = (events: typeof many) => [...observe([nothing, { events }, nothing]).state.events.keys()].sort();
    expect(kept(many.toReversed())).toEqual(kept(many));
  });

  test('events that stay listed as Completed are recorded once, however many', () => {
    const many = Array.from({ length: 1010 }, (_, n) => event({ eventId: `event-${n}`, eventStatus: 'Completed' }));
    expect(observe([nothing, { events: many }, { events: many }, { events: many }]).records).toHaveLength(1010);
  });

  test('a clock offset that varies by a second is returned, and causes no write', () => {
    const observations = [0, 1, 0, 1].map((clockOffsetSeconds) => ({ events: [scheduled], clockOffsetSeconds }));
    const { state } = observe([nothing, ...observations]);
    expect(state.clockOffsetSeconds).toBe(0);
    const [record] = observe([
      { events: [], clockOffsetSeconds: 0 },
      { events: [scheduled], clockOffsetSeconds: 1 },
    ]).records;
    expect(record?.clockOffsetSeconds).toBe(1);
  });

  test('a pause after an event has ended changes nothing that is remembered', () => {
    const ended = observe([nothing, { events: [scheduled] }, nothing]).state;
    expect(observe([{ events: [], kind: 'unavailable', pauseMs: 5000 }], { state: ended }).state.events).toBe(
      ended.events,
    );
  });

  test('of ended events the last thousand are remembered', () => {
    const many = Array.from({ length: 1200 }, (_, n) => event({ eventId: `event-${n}` }));
    const { state } = observe([nothing, { events: many }, nothing]);
    expect(state.events.size).toBe(1000);
  });
});

import { describe, expect, test } from 'vitest';
import { encodeRow, type Row } from '../../../src/sinks/log-analytics/encode.ts';
import { at, event, nothing, started } from '../../support/observations.ts';
import { ask, recordsBy, type Tables } from './query.ts';

const ofTwo = event({ resources: ['web_0', 'web_1'] });
const announced = { events: [ofTwo] };
const begun = { events: [started(ofTwo)], after: 900 };
const over = { events: [], after: 300 };
const day = 24 * 3600;

const steps =
  'VmLifecycle() | sort by ObservedAt asc, Phase desc | project ObservedAt, VmName, Phase, strcat_array(Evidence, " "), SeenBy';

/** A record that arrives later than two days after it was made: the service puts the time of its arrival there. */
const arriving = (row: Row, time: string): Row => ({ ...row, TimeGenerated: time });

interface Case {
  readonly of: string;
  readonly tables: Tables;
  /** ObservedAt, VmName, Phase, Evidence, SeenBy. */
  readonly steps: readonly string[];
}

const inOrder = recordsBy('web_0', [nothing, announced, begun, over]);
const cases: readonly Case[] = [
  {
    of: 'one VM that saw everything',
    tables: { records: inOrder },
    steps: [
      '12:00:02 | web_0 | Scheduled | said-by-azure | 1',
      '12:15:02 | web_0 | Started | said-by-azure | 1',
      '12:20:02 | web_0 | Completed | left-after-started not-before-passed | 1',
    ],
  },
  {
    of: 'records that were sent twice',
    tables: { records: [...inOrder, ...inOrder] },
    steps: [
      '12:00:02 | web_0 | Scheduled | said-by-azure | 1',
      '12:15:02 | web_0 | Started | said-by-azure | 1',
      '12:20:02 | web_0 | Completed | left-after-started not-before-passed | 1',
    ],
  },
  {
    of: 'records that arrived in the wrong order, one of them after three days',
    tables: {
      rows: inOrder.toReversed().map((record, index) => {
        const row = encodeRow(record);
        return index === 2 ? arriving(row, '2026-03-04T13:00:00Z') : row;
      }),
      now: 3 * day + 2 * 3600,
    },
    steps: [
      '12:00:02 | web_0 | Scheduled | said-by-azure | 1',
      '12:15:02 | web_0 | Started | said-by-azure | 1',
      '12:20:02 | web_0 | Completed | left-after-started not-before-passed | 1',
    ],
  },
  {
    of: 'a VM whose bridge started later',
    tables: {
      records: [...inOrder, ...recordsBy('web_1', [{ ...announced, after: 100 }, { ...begun, after: 803 }, over])],
    },
    steps: [
      '12:00:02 | web_0 | Scheduled | said-by-azure | 2',
      '12:15:02 | web_0 | Started | said-by-azure | 2',
      '12:20:02 | web_0 | Completed | left-after-started not-before-passed | 2',
    ],
  },
  {
    of: 'an event that was canceled ahead of its time',
    tables: { records: recordsBy('web_0', [nothing, announced, nothing]) },
    steps: [
      '12:00:02 | web_0 | Scheduled | said-by-azure | 1',
      '12:00:03 | web_0 | Canceled | left-before-not-before | 1',
    ],
  },
  {
    of: 'an event whose end has no known cause',
    tables: { records: recordsBy('web_0', [nothing, announced, { events: [], after: 1000, incarnation: 9 }]) },
    steps: [
      '12:00:02 | web_0 | Scheduled | said-by-azure | 1',
      '12:16:42 | web_0 | Ended | incarnation-gap observation-gap not-before-passed | 1',
    ],
  },
  {
    of: 'several ends, of which the one that is known best was seen last',
    tables: {
      records: [
        ...recordsBy('web_0', [nothing, announced, { events: [], after: 1000, incarnation: 9 }]),
        ...recordsBy('web_1', [nothing, { ...announced, after: 2 }, begun, over]),
      ],
    },
    steps: [
      '12:00:02 | web_0 | Scheduled | said-by-azure | 2',
      '12:15:03 | web_1 | Started | said-by-azure | 1',
      '12:20:03 | web_1 | Completed | left-after-started not-before-passed | 2',
    ],
  },
  {
    of: 'two ends that are known equally well: the earlier',
    tables: {
      records: [...recordsBy('web_1', [nothing, announced, begun, { ...over, after: 302 }]), ...inOrder],
    },
    steps: [
      '12:00:02 | web_0 | Scheduled | said-by-azure | 2',
      '12:15:02 | web_0 | Started | said-by-azure | 2',
      '12:20:02 | web_0 | Completed | left-after-started not-before-passed | 2',
    ],
  },
  {
    of: 'an event that came back',
    tables: { records: recordsBy('web_0', [nothing, announced, nothing, { ...announced, after: 60 }]) },
    steps: ['12:00:02 | web_0 | Scheduled | said-by-azure | 1', '12:01:03 | web_0 | Scheduled | reappeared | 1'],
  },
  {
    of: 'an event that came back for one VM: what the other took for its end was none',
    tables: {
      records: [
        ...recordsBy('web_0', [nothing, announced, nothing, { ...announced, after: 60 }]),
        ...recordsBy('web_1', [nothing, announced, { ...nothing, after: 3 }]),
      ],
    },
    steps: ['12:00:02 | web_0 | Scheduled | said-by-azure | 2', '12:01:03 | web_0 | Scheduled | reappeared | 1'],
  },
  {
    of: 'an event that came back and ended after all',
    tables: { records: recordsBy('web_0', [nothing, announced, nothing, { ...announced, after: 60 }, nothing]) },
    steps: [
      '12:00:02 | web_0 | Scheduled | said-by-azure | 1',
      '12:01:03 | web_0 | Scheduled | reappeared | 1',
      '12:01:04 | web_0 | Canceled | left-before-not-before | 1',
    ],
  },
  {
    of: 'an event that another VM only witnesses',
    tables: { records: recordsBy('web_5', [nothing, announced, begun, over], { witnessRate: 1 }) },
    steps: [
      '12:00:02 | web_5 | Scheduled | said-by-azure | 1',
      '12:15:02 | web_5 | Started | said-by-azure | 1',
      '12:20:02 | web_5 | Completed | left-after-started not-before-passed | 1',
    ],
  },
  { of: 'a test', tables: { records: inOrder.map((record) => ({ ...record, isTest: true })) }, steps: [] },
  { of: 'an event older than the requested range', tables: { records: inOrder, now: 15 * day }, steps: [] },
];

test.each(cases)('the folded lifecycle of $of', ({ tables, steps: expected }) => {
  expect(ask(steps, tables)).toEqual(expected);
});

test('a clock that went back does not keep an end that the same VM took back', () => {
  const [scheduled, left, back] = recordsBy('web_0', [nothing, announced, nothing, { ...announced, after: 60 }]);
  if (!scheduled || !left || !back) return expect.unreachable();
  const setBack = { ...back, observedAt: scheduled.observedAt };
  expect(ask('VmLifecycle() | where Phase == "Canceled" | count', { records: [scheduled, left, setBack] })).toEqual([
    '0',
  ]);
});

test('a record observed later than two days ago is found by its observation time, not by its arrival', () => {
  const rows = inOrder.map((record) => arriving(encodeRow(record), '2026-03-04T13:00:00Z'));
  const seen = 'VmLifecycleRecords(2d) | summarize count()';
  expect(ask(seen, { rows, now: 3 * day + 2 * 3600 })).toEqual(['0']);
  expect(ask('VmLifecycleRecords(4d) | summarize count()', { rows, now: 3 * day + 2 * 3600 })).toEqual(['3']);
});

test('every VM keeps its own sighting of a step', () => {
  const records = [...inOrder, ...recordsBy('web_1', [nothing, announced, begun, over]), ...inOrder];
  const sightings = 'VmLifecycleSights() | summarize count() by VmName, IsEnd | sort by VmName asc, IsEnd asc';
  expect(ask(sightings, { records })).toEqual([
    'web_0 | false | 2',
    'web_0 | true | 1',
    'web_1 | false | 2',
    'web_1 | true | 1',
  ]);
});

describe('a VM that lost its state', () => {
  /** What it reports in a new stream, as it would begin two minutes after noon. */
  const anew = (observations: Parameters<typeof recordsBy>[1]): ReturnType<typeof recordsBy> =>
    recordsBy('web_0', observations, { from: Date.parse(at(120)) }).map((record) => ({
      ...record,
      streamId: 'second stream',
    }));
  const back = { ...announced, after: 60 };
  /** Rows of each function: records, steps of the VM, steps of the event, VMs of the event. */
  const counts = (records: Tables['records'] = []): string[] =>
    ['VmLifecycleRecords', 'VmLifecycleSights', 'VmLifecycle', 'VmEventTimeline'].flatMap((name) =>
      ask(`${name}() | summarize count()`, { records }),
    );
  const ofTimeline = 'VmEventTimeline() | where VmName == "web_0" | project ScheduledAt, EndedAt, Outcome, IsOpen';

  test('ends an event that had reappeared before, though its second end has the RecordId of the first', () => {
    const first = recordsBy('web_0', [nothing, announced, nothing, back]);
    const records = [...first, ...anew([announced, nothing])];
    expect(new Set(records.map(({ recordId }) => recordId)).size).toBe(records.length - 2);
    expect(ask(ofTimeline, { records: first })).toEqual(['12:01:03 | - | - | true']);
    expect(ask(ofTimeline, { records })).toEqual(['12:01:03 | 12:02:02 | Canceled | false']);
    expect(ask(steps, { records })).toEqual([
      '12:00:02 | web_0 | Scheduled | said-by-azure | 1',
      '12:01:03 | web_0 | Scheduled | reappeared | 1',
      '12:02:02 | web_0 | Canceled | left-before-not-before | 1',
    ]);
    // The withdrawn end is a record, but no step.
    expect(counts(records)).toEqual(['5', '3', '3', '2']);
  });

  test('reports an event again without adding a step, a VM or an event', () => {
    const first = recordsBy('web_0', [nothing, announced]);
    const rest = [{ ...begun, after: 780 }, over];
    const lost = [...first, ...anew([announced, ...rest])];
    const kept = recordsBy('web_0', [nothing, announced, { ...begun, after: 899 }, over]);
    expect(counts(kept)).toEqual(['3', '3', '3', '2']);
    expect(counts(lost)).toEqual(['4', '3', '3', '2']);
    expect(counts([...lost, ...lost])).toEqual(['4', '3', '3', '2']);
    expect(ask(ofTimeline, { records: lost })).toEqual(ask(ofTimeline, { records: kept }));
    expect(ask(steps, { records: lost })).toEqual(ask(steps, { records: kept }));
  });

  test('takes back its end by a return that has the RecordId of an earlier one', () => {
    const records = [
      ...recordsBy('web_0', [nothing, announced, nothing, back]),
      ...anew([nothing, announced, nothing, back]),
    ];
    expect(ask(ofTimeline, { records })).toEqual(['12:01:03 | - | - | true']);
    expect(counts(records)).toEqual(['6', '2', '2', '2']);
  });

  test('has two approvals where it approved an event in each stream', () => {
    const [first] = recordsBy('web_0', [nothing, announced]);
    if (!first) return expect.unreachable();
    const ids = { recordId: 'approval', transitionId: 'approval' };
    const approval = { ...first, ...ids, phase: 'Approved' as const, evidence: ['accepted' as const] };
    const records = [first, approval, { ...approval, streamId: 'second stream', observedAt: at(200) }];
    expect(ask('VmLifecycleRecords() | where Phase == "Approved" | count', { records })).toEqual(['2']);
    expect(ask('VmLifecycle() | where Phase == "Approved" | count', { records })).toEqual(['1']);
  });
});

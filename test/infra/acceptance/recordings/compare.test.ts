import { expect, test } from 'vitest';
import { compare } from '../../../../infra/acceptance/recordings/compare.ts';
import type { Play } from '../../../../infra/acceptance/recordings/play.ts';
import { at, changes, type Entry, freeze, inSeconds, play, records, scheduled, started, step } from './plays.ts';

/** Every entry of the event in every document, changed. */
const withEntries = (edit: (entry: Entry) => Entry): Play =>
  play({
    changes: changes.map(({ atSeconds, seen }) =>
      'document' in seen
        ? at(atSeconds, seen.document.DocumentIncarnation, ...seen.document.Events.map(edit))
        : { atSeconds, seen },
    ),
  });
const onlyWhen =
  (status: string, edit: object) =>
  (entry: Entry): Entry =>
    entry.EventStatus === status ? { ...entry, ...edit } : entry;

/** The simulator's side of a pair with one difference. */
const pairs: readonly {
  name: string;
  simulator: Play;
  kind: string;
  sides: readonly [azure: string, simulator: string];
}[] = [
  {
    name: 'a second event',
    simulator: play({
      changes: [at(0, 1), at(10, 2, scheduled, freeze), at(910, 3, started, freeze), at(1200, 4, freeze)],
    }),
    kind: 'event',
    sides: ['did not list it', 'did'],
  },
  {
    name: 'another type',
    simulator: withEntries((entry) => ({ ...entry, EventType: 'Redeploy' })),
    kind: 'event-type',
    sides: ['Reboot', 'Redeploy'],
  },
  {
    name: 'another source',
    simulator: withEntries((entry) => ({ ...entry, EventSource: 'Platform' })),
    kind: 'event-source',
    sides: ['User', 'Platform'],
  },
  {
    name: 'another resource type',
    simulator: withEntries((entry) => ({ ...entry, ResourceType: 'Vm' })),
    kind: 'resource-type',
    sides: ['VirtualMachine', 'Vm'],
  },
  {
    name: 'an event that never started',
    simulator: play({
      changes: [
        at(0, 1),
        at(10, 2, scheduled),
        at(910, 3, { ...scheduled, DurationInSeconds: -1, Resources: ['orion'] }),
        at(1200, 4),
      ],
    }),
    kind: 'status-sequence',
    sides: ['Scheduled → Started → gone', 'Scheduled → gone'],
  },
  {
    name: 'more VMs',
    simulator: withEntries((entry) => ({ ...entry, Resources: ['orion', 'two'] })),
    kind: 'resources',
    sides: ['1', '2'],
  },
  {
    name: 'the name of the VM in other letter case',
    simulator: withEntries((entry) => ({ ...entry, Resources: ['Orion'] })),
    kind: 'own-name',
    sides: ['as compute.name', 'as compute.name, in other letter case'],
  },
  {
    name: 'a date that stays after the start',
    simulator: withEntries(onlyWhen('Started', { NotBefore: inSeconds(910) })),
    kind: 'not-before',
    sides: ['no', 'yes'],
  },
  {
    name: 'another duration',
    simulator: withEntries(onlyWhen('Started', { DurationInSeconds: 9 })),
    kind: 'duration',
    sides: ['-1', '9'],
  },
  {
    name: 'another description',
    simulator: withEntries(onlyWhen('Started', { Description: 'Virtual machine orion is paused.' })),
    kind: 'description',
    sides: [
      '"Virtual machine … is going to be restarted as requested by authorized user"',
      '"Virtual machine … is paused"',
    ],
  },
  {
    name: 'a shorter notice',
    simulator: withEntries(onlyWhen('Scheduled', { NotBefore: inSeconds(310) })),
    kind: 'notice',
    sides: ['900 s', '300 s'],
  },
  {
    name: 'a later end',
    simulator: play({ changes: [...changes.slice(0, 3), at(1900, 4)] }),
    kind: 'time-to-end',
    sides: ['290 s', '990 s'],
  },
  {
    name: 'a field more',
    simulator: withEntries((entry) => ({ ...entry, Severity: 3 })),
    kind: 'field',
    sides: ['does not', 'has it (whole number)'],
  },
  {
    name: 'a field less',
    simulator: withEntries(({ Description: _, ...entry }) => entry),
    kind: 'field',
    sides: ['has it (text)', 'does not'],
  },
  {
    name: 'a field of another type',
    simulator: withEntries((entry) => ({ ...entry, DurationInSeconds: '-1' })),
    kind: 'form',
    sides: ['whole number', 'text'],
  },
  {
    name: 'dates of another form',
    simulator: withEntries(onlyWhen('Scheduled', { NotBefore: new Date(inSeconds(910)).toISOString() })),
    kind: 'form',
    sides: ['RFC 1123 date', 'ISO 8601 date (0000-00-00T00:00:00.000Z)'],
  },
  {
    name: 'ids in lower case',
    simulator: withEntries((entry) => ({ ...entry, EventId: entry.EventId.toLowerCase() })),
    kind: 'form',
    sides: ['GUID in upper case', 'GUID in lower case'],
  },
  {
    name: 'more incarnations',
    simulator: play({ changes: [at(0, 1), at(10, 2, scheduled), at(910, 4, started), at(1200, 5)] }),
    kind: 'incarnations',
    sides: ['+1, +1, +1', '+1, +2, +1'],
  },
  {
    name: 'an incarnation that begins again',
    simulator: play({ changes: [at(0, 1), at(10, 2, scheduled), at(910, 3, started), at(1200, 1)] }),
    kind: 'incarnations',
    sides: ['+1, +1, +1', '+1, +1, back'],
  },
  {
    name: 'more documents',
    simulator: play({ changes: [...changes, at(1300, 5)] }),
    kind: 'documents',
    sides: ['4', '5'],
  },
  {
    name: 'an answer that is no document',
    simulator: play({
      changes: [
        ...changes.slice(0, 2),
        { atSeconds: 20, seen: { answer: { status: 429, headers: { 'retry-after': '5' }, body: '' } } },
        ...changes.slice(2),
      ],
    }),
    kind: 'answers',
    sides: ['none', 'status 429 with Retry-After (seconds)'],
  },
  {
    name: 'an answer that never came',
    simulator: play({
      changes: [...changes, { atSeconds: 1300, seen: { failure: { kind: 'no-answer', reason: 'x' } } }],
    }),
    kind: 'answers',
    sides: ['none', 'no answer in time'],
  },
  {
    name: 'other phases',
    simulator: play({ records: records.slice(0, 2) }),
    kind: 'phases',
    sides: ['Scheduled → Started → Completed', 'Scheduled → Started'],
  },
  {
    name: 'other evidence',
    simulator: play({ records: [...records.slice(0, 2), step('Completed', 3, 'left-after-started')] }),
    kind: 'evidence',
    sides: ['boot-id-changed, left-after-started', 'left-after-started'],
  },
];

test.for(pairs)('two plays that differ in $name have one difference', ({ simulator, kind, sides }) => {
  expect(compare(play(), simulator)).toMatchObject([{ kind, azure: sides[0], simulator: sides[1] }]);
  expect(compare(simulator, play())).toMatchObject([{ kind }]);
});

test('a date that moves is a difference, and so is the document that shows it', () => {
  const later = { ...scheduled, NotBefore: inSeconds(1800) };
  const moved = play({
    changes: [at(0, 1), at(10, 2, scheduled), at(300, 3, later), at(910, 4, started), at(1200, 5)],
  });
  expect(compare(play(), moved)).toMatchObject([
    { kind: 'not-before-moved', azure: 'none', simulator: 'later' },
    { kind: 'documents', azure: '4', simulator: '5' },
  ]);
});

test('a start long before NotBefore differs by the time until it, within the tolerance it does not', () => {
  const startedAfter = (seconds: number): Play =>
    play({ changes: [...changes.slice(0, 2), at(10 + seconds, 3, started), at(300 + seconds, 4)] });
  expect(compare(play(), startedAfter(20))).toEqual([
    {
      kind: 'time-to-start',
      subject: 'Reboot by User',
      azure: '900 s',
      simulator: '20 s',
      tolerance: '94 s',
    },
  ]);
  expect(compare(play(), startedAfter(810))).toEqual([]);
  expect(compare(play(), startedAfter(800))).toHaveLength(1);
});

test('times of a faster play count as many times as much', () => {
  const fast = play({
    changes: [at(0, 1), at(0.1, 2, { ...scheduled, NotBefore: inSeconds(9) }), at(9.1, 3, started), at(12, 4)],
  });
  expect(compare(play(), { ...fast, speed: 100 })).toEqual([]);
  expect(compare(play(), fast).map(({ kind }) => kind)).toEqual(['notice', 'time-to-start', 'time-to-end']);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anonymise } from '../../../../infra/acceptance/recordings/anonymise.ts';
import { compare } from '../../../../infra/acceptance/recordings/compare.ts';
import type { Play } from '../../../../infra/acceptance/recordings/play.ts';
import { type Recording, readRecording } from '../../../../src/azure-simulator/recording/read-recording.ts';
import { type Change, writeChange, writeHeader } from '../../../../src/recording/format.ts';
import {
  at,
  begunAt,
  changes,
  type Entry,
  freeze,
  inSeconds,
  play,
  recordingOf,
  records,
  scheduled,
  started,
  step,
} from './plays.ts';

const other = '00000000-1111-4111-8111-000000000001'.replaceAll('1', 'A');
const renamed = (entry: Entry): Entry => ({
  ...entry,
  EventId: other,
  Resources: ['web-server'],
  Description: String(entry.Description).replace('orion', 'web-server'),
});
const laterBy = (seconds: number, given: readonly Change[]): Recording => ({
  header: { ...recordingOf([]).header, begunAt: new Date(begunAt.getTime() + 86_400_000), vm: { name: 'web-server' } },
  changes: given.map(({ atSeconds, seen }) => ({
    atSeconds: atSeconds + seconds,
    seen:
      'document' in seen
        ? {
            document: {
              DocumentIncarnation: seen.document.DocumentIncarnation + 40,
              Events: seen.document.Events.map((entry) => ({
                ...renamed(entry),
                NotBefore: entry.NotBefore === '' ? '' : inSeconds(86_400 + 910 + seconds),
              })),
            },
          }
        : seen,
  })),
});

const harmless: readonly { name: string; one: Play; other: Play }[] = [
  {
    name: 'names, ids, dates and the first incarnation',
    one: play(),
    other: {
      recording: laterBy(7, changes),
      records: records.map((record) => ({ ...record, eventId: other, streamId: 'other' })),
    },
  },
  {
    name: 'the order of equal entries',
    one: play({ changes: [at(0, 1), at(10, 2, scheduled, freeze)] }),
    other: play({ changes: [at(0, 1), at(10, 2, freeze, scheduled)] }),
  },
  {
    name: 'copies of records and their order',
    one: play(),
    other: play({ records: [...records, ...records].reverse() }),
  },
  {
    name: 'test records and snapshots',
    one: play(),
    other: play({ records: [...records, { ...step('Started', 9), isTest: true }, step('Snapshot', 10)] }),
  },
  {
    name: 'the order of the approval and the start',
    one: play({ records: [step('Scheduled', 1), step('Approved', 2), step('Started', 3)] }),
    other: play({ records: [step('Scheduled', 1), step('Started', 2), step('Approved', 3)] }),
  },
  {
    name: 'the order of evidence',
    one: play(),
    other: play({ records: [...records.slice(0, 2), step('Completed', 3, 'left-after-started', 'boot-id-changed')] }),
  },
  {
    name: 'the number of equal failures',
    one: play({ changes: [...changes, { atSeconds: 1300, seen: { failure: { kind: 'broken', reason: 'a' } } }] }),
    other: play({
      changes: [0, 1].flatMap((again): Change[] => [
        ...changes.filter(() => again === 0),
        { atSeconds: 1300 + 10 * again, seen: { failure: { kind: 'broken', reason: 'b' } } },
        { ...at(1301 + 10 * again, 4) },
      ]),
    }),
  },
  {
    name: 'seconds',
    one: play(),
    other: play({ changes: [at(0, 1), at(12, 2, scheduled), at(915, 3, started), at(1215, 4)] }),
  },
];

test.for(harmless)('two plays that differ in $name have no difference', ({ one, other: second }) => {
  expect(compare(one, second)).toEqual([]);
});

const name = fc.stringMatching(/^[a-z]{2}[a-z0-9]{2,8}(_[0-9]|-[a-f0-9]{4})?$/);
const entry = fc.record(
  {
    EventId: fc.uuid().chain((id) => fc.constantFrom(id, id.toUpperCase())),
    EventStatus: fc.constantFrom('Scheduled', 'Started', 'Paused'),
    EventType: fc.constantFrom('Freeze', 'Reboot', 'Hibernate'),
    ResourceType: fc.constant('VirtualMachine'),
    Resources: fc.array(name, { maxLength: 4 }),
    NotBefore: fc.oneof(fc.constant(''), fc.integer({ min: 0, max: 9_000 }).map(inSeconds)),
    Description: fc
      .tuple(name, fc.ipV4(), fc.uuid())
      .map(([who, ip, id]) => `Virtual machine ${who} is paused by ${who}@${who}.org, ${ip}, ${id}`),
    EventSource: fc.constantFrom('User', 'Platform'),
    DurationInSeconds: fc.constantFrom(-1, 0, 5),
    Novelty: fc.oneof(fc.boolean(), fc.nat(), name, fc.record({ of: name })),
  },
  { requiredKeys: ['EventId', 'EventStatus'] },
);
const change = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      document: fc.record({
        DocumentIncarnation: fc.nat(20),
        Events: fc.uniqueArray(entry, { maxLength: 3, selector: ({ EventId }) => EventId.toLowerCase() }),
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      answer: fc.record({
        status: fc.constantFrom(200, 429, 500),
        headers: fc.constantFrom({}, { 'retry-after': '7' }),
        body: fc.constantFrom('', 'x'),
      }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ failure: { kind: 'broken', reason: 'x' } as const }) },
);

test('a recording has no difference to itself without names', () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), name, fc.boolean(), (all, vm, isListed) => {
      const seen = all.map((one) =>
        isListed && 'document' in one ? listing(one.document, vm) : one,
      ) as Change['seen'][];
      const { header, changes } = recordingOf(
        seen.map((one, index) => ({ atSeconds: 10 * index, seen: one })),
        vm,
      );
      const text = writeHeader(header) + changes.map(writeChange).join('');
      const original = readRecording('original', text);
      const anonymous = readRecording('anonymous', anonymise(text).text);
      expect(compare({ recording: original, records: [] }, { recording: anonymous, records: [] })).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

const listing = (document: { DocumentIncarnation: number; Events: readonly object[] }, vm: string) => ({
  document: { ...document, Events: document.Events.map((listed) => ({ ...listed, Resources: [vm] })) },
});

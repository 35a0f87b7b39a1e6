import { expect, test } from 'vitest';
import { differencesOf, timeDifferencesOf } from '../../../../infra/acceptance/events/differences.ts';
import type { Played } from '../../../../infra/acceptance/events/played.ts';
import { type Change, writeChange, writeHeader } from '../../../../src/recording/format.ts';
import { at, begunAt, inSeconds, recordingOf, records, scheduled, started } from '../recordings/plays.ts';

/** A restart. Times are in seconds of the recording, the notice from the announcement. */
const played = (
  notice: number,
  start: number,
  end: number,
  approvedAt: Date | null = null,
  others: readonly Change[] = [],
): Played => {
  const { header, changes } = recordingOf([
    at(0, 1),
    ...others,
    at(10, 2, { ...scheduled, NotBefore: inSeconds(10 + notice) }),
    at(start, 3, started),
    at(end, 4),
  ]);
  return {
    requestedAt: begunAt,
    approvedAt,
    approvalProblem: null,
    eventId: scheduled.EventId,
    records: records.map((record) => ({
      record: { ...record, observedAt: new Date(begunAt.getTime() + 10_000).toISOString() },
      enqueuedAt: begunAt,
      partitionId: '0',
      partitionKey: null,
      messageId: null,
      correlationId: null,
      contentType: null,
      properties: {},
    })),
    rows: [],
    others: [],
    recording: [writeHeader(header), ...changes.map(writeChange)].join(''),
  };
};
const restart = { simulated: 'user-reboot' };

test('the shortened times of a play on the simulator are no differences', () => {
  expect(differencesOf('azure', played(900, 910, 1215), played(3, 14, 16))).toEqual([]);
});

test('a poll without an answer in time is a difference only in Azure', () => {
  const failure = { kind: 'no-answer', reason: 'no answer within 2 s' } as const;
  const busy = played(900, 910, 1215, null, [{ atSeconds: 5, seen: { failure } }]);
  const broken = played(900, 910, 1215, null, [{ atSeconds: 5, seen: { failure: { ...failure, kind: 'broken' } } }]);
  const calm = played(900, 910, 1215);
  expect(differencesOf('azure', busy, calm)).toMatchObject([{ kind: 'answers', azure: 'no answer in time' }]);
  expect(differencesOf('azure', calm, busy)).toEqual([]);
  expect(differencesOf('simulator', busy, calm)).toEqual([]);
  expect(differencesOf('simulator', broken, calm)).toMatchObject([{ kind: 'answers' }]);
});

test('evidence of a gap between two polls is a difference only in Azure', () => {
  const calm = played(900, 910, 1215);
  const evidence = { Scheduled: ['present-at-first-look'], Started: ['said-by-azure', 'observation-gap'] } as const;
  const busy: Played = {
    ...calm,
    records: calm.records.map((one) => {
      const { phase } = one.record;
      const changed = phase === 'Scheduled' || phase === 'Started' ? [...evidence[phase]] : one.record.evidence;
      return { ...one, record: { ...one.record, evidence: changed } };
    }),
  };
  expect(differencesOf('azure', busy, calm).map(({ kind }) => kind)).toEqual(['evidence', 'evidence']);
  expect(differencesOf('azure', calm, busy)).toEqual([]);
  expect(differencesOf('simulator', busy, calm)).toEqual([]);
});

test('evidence of a gap at the end of an event, when its VM was off, is a difference everywhere', () => {
  const calm = played(900, 910, 1215);
  const off: Played = {
    ...calm,
    records: calm.records.map((one) =>
      one.record.phase === 'Completed'
        ? { ...one, record: { ...one.record, evidence: [...one.record.evidence, 'observation-gap'] } }
        : one,
    ),
  };
  expect(differencesOf('azure', off, off)).toEqual([]);
  expect(differencesOf('azure', off, calm).map(({ kind }) => kind)).toEqual(['evidence']);
  expect(differencesOf('simulator', calm, off).map(({ kind }) => kind)).toEqual(['evidence']);
});

test('times are compared with those of the scenario, which an approval shortens', () => {
  const approvedAt = new Date(begunAt.getTime() + 30_000);
  expect(timeDifferencesOf(restart, played(900, 910, 1215))).toEqual([]);
  expect(timeDifferencesOf(restart, played(900, 31, 336, approvedAt))).toEqual([]);
  expect(timeDifferencesOf(restart, played(900, 31, 336)).map(({ kind }) => kind)).toEqual(['time-to-start']);
  expect(timeDifferencesOf(restart, played(300, 910, 1215)).map(({ kind }) => kind)).toEqual(['notice']);
});

test('without a scenario of the simulator or a readable recording there is nothing to compare', () => {
  expect(timeDifferencesOf({ simulated: null }, played(300, 910, 1215))).toEqual([]);
  expect(timeDifferencesOf(restart, { ...played(300, 910, 1215), recording: null })).toEqual([]);
  expect(differencesOf('azure', { ...played(300, 910, 1215), recording: 'x' }, played(3, 14, 16))).toEqual([]);
});

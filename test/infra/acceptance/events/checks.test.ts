import { describe, expect, test } from 'vitest';
import { copiesOf, problemsOf } from '../../../../infra/acceptance/events/checks.ts';
import { measuresOf } from '../../../../infra/acceptance/events/measures.ts';
import type { EnqueuedRecord } from '../../../../infra/acceptance/target.ts';
import { at, playedWith, recordOf, rowOf, scenarioNamed, waitedRestart } from './timeline.ts';

const restart = scenarioNamed('restart');
const [announced, started, completed] = waitedRestart();
const problems = (records: readonly EnqueuedRecord[], more = {}) => problemsOf(restart, playedWith(records, more));
const changed = (one: EnqueuedRecord, record: Partial<EnqueuedRecord['record']>): EnqueuedRecord => ({
  ...one,
  record: { ...one.record, ...record },
});

describe('a restart without an approval', () => {
  test('as documented has no problem', () => {
    expect(problems(waitedRestart())).toEqual([]);
  });

  test.each<[fault: string, records: readonly EnqueuedRecord[], expected: readonly string[]]>([
    [
      'a lost record',
      [announced, completed],
      ['Started is missing.', 'The records of stream stream-1 have the sequence 1, 3: one is missing.'],
    ],
    ['an event that does not end', [announced, started], ['Completed is missing.']],
    [
      'a wrong phase at the end',
      [announced, started, changed(completed, { phase: 'Ended' })],
      ['Ended was not expected before Completed.', 'Completed is missing.'],
    ],
    [
      'an announcement after the start',
      [changed(started, { sequence: 1 }), changed(announced, { sequence: 2 }), completed],
      ['Scheduled is missing.', 'Scheduled was not expected before Completed.'],
    ],
    [
      'another type',
      waitedRestart().map((one) => changed(one, { eventType: 'Freeze' })),
      ['Scheduled', 'Started', 'Completed'].map((phase) => `${phase} names the type Freeze; expected Reboot.`),
    ],
    [
      'another source',
      [changed(announced, { eventSource: 'Platform' }), started, completed],
      ['Scheduled names the source Platform; expected User.'],
    ],
    [
      'a start before NotBefore',
      [announced, changed(started, { observedAt: at(900) }), completed],
      ['Started was observed -10.0 s after NotBefore; expected at the earliest -2 s.'],
    ],
    [
      'a late start',
      [announced, changed(started, { observedAt: at(1250) }), changed(completed, { observedAt: at(1300) })],
      ['Started was observed 340.0 s after NotBefore; expected at the latest 300 s.'],
    ],
    [
      'an end without evidence',
      [announced, started, changed(completed, { evidence: [] })],
      ['Completed has no evidence.'],
    ],
    [
      'an end whose evidence shows no end',
      [announced, started, changed(completed, { evidence: ['not-before-passed'] })],
      ['Completed has only the evidence not-before-passed.'],
    ],
    [
      'a restart that the boot ids do not show',
      [announced, started, changed(completed, { bootId: 'boot-1' })],
      ['Completed says boot-id-changed, which its other fields do not show.'],
    ],
    [
      'an approval that no one sent',
      [announced, started, changed(completed, { evidence: ['left-after-started', 'approved'] })],
      ['Completed says approved, and no Approved was sent.'],
    ],
  ])('with %s', (_, records, expected) => {
    expect(problems(records)).toEqual(expected);
  });

  test('may have updates between its steps', () => {
    const updated = recordOf(2, 'Updated', 60, { evidence: ['notBefore-later'] });
    const later = [recordOf(3, 'Started', 911), recordOf(4, 'Completed', 1200)];
    expect(problems([announced, updated, ...later])).toEqual([]);
  });

  test('has a problem if its event never appears, or cannot be approved', () => {
    expect(problems([], { eventId: null })).toEqual(['No Reboot event of the VM arrived in the event hub.']);
    expect(problems(waitedRestart(), { approvalProblem: 'exit code 22' })).toEqual([
      'The event could not be approved: exit code 22',
    ]);
  });
});

describe('event hub and table', () => {
  test('a row that is missing, one that differs and one that only the table has are problems', () => {
    const rows = waitedRestart().map(rowOf);
    const other = { ...rowOf(completed), RecordId: 'record-4' };
    const wrong = { ...rowOf(completed), Phase: 'Ended' };
    expect(problems(waitedRestart(), { rows: rows.slice(1) })).toEqual(['Scheduled is missing in the table.']);
    expect(problems(waitedRestart(), { rows: [...rows.slice(0, 2), wrong] })).toEqual([
      'Completed is in the table as Ended with sequence 3.',
    ]);
    expect(problems(waitedRestart(), { rows: [...rows, other] })).toEqual([
      'Completed is in the table and missing in the event hub.',
    ]);
  });

  test('equal copies are counted and are no problem; different ones are', () => {
    const twice = [...waitedRestart(), started];
    expect(problems(twice)).toEqual([]);
    expect(copiesOf(playedWith(twice))).toEqual({ hub: 1, table: 1 });
    expect(problems([...waitedRestart(), changed(started, { observedAt: at(912) })])).toEqual([
      'Copies of Started in the event hub differ from each other.',
    ]);
  });
});

describe('a deletion', () => {
  const deletion = scenarioNamed('delete-uniform');
  const terminate = (one: EnqueuedRecord): EnqueuedRecord => changed(one, { eventType: 'Terminate' });

  test('needs only the announcement, because the VM may be gone before anything else', () => {
    expect(problemsOf(deletion, playedWith([terminate(announced)]))).toEqual([]);
    expect(problemsOf(deletion, playedWith(waitedRestart().map(terminate)))).toEqual([]);
    expect(problemsOf(deletion, playedWith([terminate(changed(started, { sequence: 1 }))]))).toEqual([
      'Scheduled is missing.',
    ]);
  });
});

test('of a deleted VM, only the row of a step that may be missing may be missing too', () => {
  const deleted = waitedRestart().map((one) => changed(one, { eventType: 'Terminate' }));
  const problemsWith = (rows: readonly EnqueuedRecord[]) =>
    problemsOf(scenarioNamed('delete-uniform'), playedWith(deleted, { rows: rows.map(rowOf) }));
  expect(problemsWith(deleted.slice(0, 1))).toEqual([]);
  expect(problemsWith(deleted.slice(1))).toEqual(['Scheduled is missing in the table.']);
});

test('a deallocation, for which no event is documented, is checked for nothing but what arrived', () => {
  const scenario = scenarioNamed('deallocate');
  expect(problemsOf(scenario, playedWith([], { eventId: null }))).toEqual([]);
});

test('durations count from the request, the announcement and each observation', () => {
  const approvedAt = new Date(at(20));
  const measures = measuresOf(playedWith(waitedRestart(), { approvedAt }));
  const secondsOf = (what: string) => measures.filter((one) => one.what === what).map(({ seconds }) => seconds);
  expect(secondsOf('from the request until the event is listed')).toEqual([10]);
  expect(secondsOf('notice announced: from the first record until NotBefore')).toEqual([900]);
  expect(secondsOf('delivery to the event hub, records of scenarios')).toEqual([1, 1, 1]);
  expect(secondsOf('ingestion into the table, records of scenarios')).toEqual([90, 90, 90]);
});

test('a start that is seen just before the answer to the approval is no problem', () => {
  const approvedAt = new Date(at(60));
  const start = changed(started, { sequence: 2, observedAt: at(60), startedAt: at(60) });
  const approval = changed(started, {
    sequence: 3,
    phase: 'Approved',
    evidence: ['accepted'],
    observedAt: at(60.1),
    recordId: 'record-of-the-approval',
  });
  const end = changed(completed, { sequence: 4, observedAt: at(200), evidence: ['left-after-started', 'approved'] });
  const played = playedWith([announced, start, approval, end], { approvedAt });
  expect(problemsOf(scenarioNamed('restart-approved'), played)).toEqual([]);
});

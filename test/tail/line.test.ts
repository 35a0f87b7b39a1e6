import { expect, test } from 'vitest';
import { FleetView, type LifecycleRecord } from '../../src/consumer/index.ts';
import { jsonOf, lineOf } from '../../src/tail/line.ts';
import { type Transition, Transitions } from '../../src/tail/transitions.ts';
import { toText } from '../../src/terminal/styled-text.ts';
import { sampleRecord } from '../support/sample-record.ts';

type Given = Partial<ReturnType<typeof sampleRecord>>;

/** The last transition that these records of one event bring. */
function lastOf(...given: readonly Given[]): Transition {
  const view = new FleetView();
  for (const [index, one] of given.entries()) {
    const ids = { recordId: `${index}`, transitionId: `${index}`, sequence: index + 1 };
    view.add(sampleRecord({ ...ids, changes: [], ...one }) as LifecycleRecord);
  }
  const found = new Transitions(view).allNews(new Date('2026-03-14T09:30:00Z')).at(-1);
  if (found === undefined) throw new Error('no transition');
  return found;
}

const text = (...given: readonly Given[]): string => toText(lineOf(lastOf(...given), Number.POSITIVE_INFINITY), false);

const id = '602D9444-D2CD-49C7-8624-8643E7171297';
const scheduled: Given = { phase: 'Scheduled', startedAt: null, startSeen: null };

test('an announcement says in UTC when it came, whom it affects, how much time is left and until when', () => {
  expect(text(scheduled)).toBe(
    `2026-03-14T09:26:53Z  Scheduled  Freeze     web_3, web_7          in 14 min 59 s, not before 09:41:53Z, for 5 s  ${id}`,
  );
});

const announcements: readonly { of: string; given: Given; says: string }[] = [
  { of: 'no time', given: { notBefore: null }, says: 'at an unknown time' },
  { of: 'a past time', given: { notBefore: '2026-03-14T09:20:00.000Z' }, says: 'due now, not before 09:20:00Z' },
  {
    of: 'another day',
    given: { notBefore: '2026-03-16T10:27:00.000Z' },
    says: 'in 2 d 1 h, not before 2026-03-16T10:27:00Z',
  },
  { of: 'an unknown duration', given: { durationSeconds: -1 }, says: 'not before 09:41:53Z  602D' },
  { of: 'a return', given: { evidence: ['said-by-azure', 'reappeared'] }, says: 'listed again, in 14 min 59 s' },
  { of: 'a user', given: { eventSource: 'User' }, says: ', requested by a user' },
  { of: 'a witness', given: { observerAffected: false, vmName: 'web_9' }, says: ', seen by web_9' },
  {
    of: 'many VMs',
    given: { affectedResources: ['a', 'b', 'c', 'd'], affectedResourceCount: 4 },
    says: ' a, b +3 ',
  },
  {
    of: 'a list that Azure cut',
    given: { affectedResources: ['a', 'web_3'], affectedResourceCount: 1500 },
    says: ' a, web_3 +1498 ',
  },
  { of: 'a hostile name', given: { affectedResources: ['a\u001b[31m\nb', 'c'] }, says: ' a [31m b, c +1 ' },
];

test.for(announcements)('an announcement with $of says so', ({ given, says }) => {
  expect(text({ ...scheduled, ...given })).toContain(says);
});

const alone: Given = { affectedResources: ['web_3'], affectedResourceCount: 1 };
const unmeasured = { observedPauseTotalMs: 0, observedOutageSeconds: null, startedSeconds: null };
const others: readonly { phase: NonNullable<Given['phase']>; given: Given; says: string }[] = [
  { phase: 'Started', given: {}, says: '  web_3 had 14 min 59 s of notice  ' },
  { phase: 'Started', given: alone, says: '  after 14 min 59 s of notice  ' },
  {
    phase: 'Started',
    given: { ...alone, startSeen: false },
    says: '  at this time or earlier, after at most 14 min 59 s of notice  ',
  },
  {
    phase: 'Started',
    given: { ...alone, noticeSeconds: null, evidence: ['reappeared'] },
    says: 'web_3                 listed again  602D',
  },
  { phase: 'Completed', given: {}, says: '  web_3 paused 3.0 s, down 41 s, 7 s after its start, said-by-azure' },
  { phase: 'Completed', given: { observedPauseTotalMs: 0 }, says: '  web_3 down 41 s, 7 s after its start' },
  {
    phase: 'Canceled',
    given: { ...unmeasured, evidence: ['left-before-not-before'] },
    says: 'web_3, web_7          left-before-not-before  602D',
  },
  { phase: 'Approved', given: { evidence: ['accepted'] }, says: 'accepted, by web_3' },
  {
    phase: 'Updated',
    given: { changes: [{ field: 'notBefore', from: null, to: '2026-03-14T09:41:53.000Z' }] },
    says: 'in 14 min 59 s, not before 09:41:53Z',
  },
  {
    phase: 'Updated',
    given: { changes: [{ field: 'affectedResources', from: ['a', 'b'], to: ['b', 'c'] }] },
    says: '+c -a',
  },
  {
    phase: 'Updated',
    given: { evidence: ['reappeared'], changes: [{ field: 'eventType', from: 'Reboot', to: 'Freeze' }] },
    says: 'listed again, eventType Reboot → Freeze',
  },
];

test.for(others)('$phase says $says', ({ phase, given, says }) => {
  const announced = given.affectedResources === undefined ? scheduled : { ...scheduled, ...alone };
  const line = text(announced, { phase, observedAt: '2026-03-14T09:26:54.000Z', ...given });
  expect(line.startsWith(`2026-03-14T09:26:54Z  ${phase.padEnd(9)}  Freeze     `)).toBe(true);
  expect(line).toContain(says);
});

test('an end names the VMs that the event affected last, not those that left it', () => {
  const without: Given = { phase: 'Updated', observedAt: '2026-03-14T09:26:54.000Z', ...alone };
  const line = text(scheduled, without, { phase: 'Completed', observedAt: '2026-03-14T09:26:55.000Z', ...alone });
  expect(line).toContain('Completed  Freeze     web_3                 paused 3.0 s, down 41 s,');
});

test('a presumed end says why it is presumed', () => {
  const evicted = { ...scheduled, ...alone, eventType: 'Preempt', notBefore: '2026-03-14T09:18:00.000Z' };
  expect(text(evicted)).toContain('web_3                 presumed: due to be deleted, no end reported in 10 min  602D');
  const begunAnew: Given = { phase: 'Snapshot', streamId: 'new', observedAt: '2026-03-14T09:29:00.000Z' };
  expect(text(scheduled, { ...begunAnew, eventsInSight: [] })).toContain(
    '2026-03-14T09:29:00Z  Ended      Freeze     web_3, web_7          presumed: web_3 lost its state and no longer lists it  602D',
  );
});

test('a time that is none is shown as the text that it is', () => {
  const changes = [{ field: 'eventStatus' as const, from: null, to: '2026-99-99T00:00' }];
  const line = text(scheduled, { phase: 'Updated', observedAt: '2026-03-14T09:26:54.000Z', changes });
  expect(line).toContain('eventStatus none → 2026-99-99T00:00');
});

test('a line for a narrow terminal has the beginning of the id', () => {
  expect(toText(lineOf(lastOf(scheduled), 100), false)).toMatch(/ {2}602D9444$/);
});

test('the phase is coloured on a terminal', () => {
  expect(toText(lineOf(lastOf(scheduled), 100), true)).toContain('\u001b[33mScheduled\u001b[0m');
});

test('the JSON of a transition has the fold beside the record as it was received', () => {
  const transition = lastOf(scheduled);
  const { record, ...fold } = JSON.parse(jsonOf(transition));
  expect(fold).toEqual({
    at: '2026-03-14T09:26:53.123Z',
    phase: 'Scheduled',
    eventId: id.toLowerCase(),
    eventType: 'Freeze',
    notBefore: '2026-03-14T09:41:53.000Z',
    isOpen: true,
    isPresumed: false,
    corrects: null,
    affected: ['web_3', 'web_7'],
    named: ['web_3', 'web_7'],
  });
  expect(record).toEqual(sampleRecord({ ...scheduled, recordId: '0', transitionId: '0', changes: [] }));
});

test('the JSON of a transition has no control characters, and the same value', () => {
  const description = '\u001b[2J \u009b2J \u007f \u0085 é';
  const json = jsonOf(lastOf({ ...scheduled, description }));
  expect(json).not.toMatch(/\p{Cc}/u);
  expect(JSON.parse(json).record.description).toBe(description);
});

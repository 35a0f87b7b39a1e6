import { describe, expect, test } from 'vitest';
import type { Played } from '../../../../infra/acceptance/events/played.ts';
import { findingsOf } from '../../../../infra/acceptance/events/proofs.ts';
import type { EnqueuedRecord } from '../../../../infra/acceptance/target.ts';
import { at, playedWith, recordOf, scenarioNamed, waitedRestart } from './timeline.ts';

const [announced, started, completed] = waitedRestart();
const { eventId } = announced.record;

const event = (EventStatus: string, more: object = {}) => ({
  EventId: eventId,
  EventStatus,
  EventType: 'Reboot',
  ResourceType: 'VirtualMachine',
  Resources: ['vm-1'],
  NotBefore: EventStatus === 'Scheduled' ? 'Sun, 22 Nov 2026 10:15:10 GMT' : '',
  Description: 'A restart.',
  EventSource: 'User',
  DurationInSeconds: -1,
  ...more,
});

/** A recording of documents, each a list of events, with incarnations from 1. */
const recordingOf = (...lists: readonly (readonly object[])[]): string =>
  [
    { format: 'scheduled-events-recording' },
    ...lists.map((Events, index) => ({ atSeconds: index, document: { DocumentIncarnation: index + 1, Events } })),
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');

const whole = recordingOf([], [event('Scheduled')], [event('Started')], []);

const verdictsOf = (id: string, played: Played): Readonly<Record<string, string>> =>
  Object.fromEntries(findingsOf(scenarioNamed(id), played).map(({ assumption, verdict }) => [assumption, verdict]));

const restarted = (more: Partial<Played> = {}): Played => playedWith(waitedRestart(), { recording: whole, ...more });

describe('a restart as documented', () => {
  test('proves what it can, and refutes nothing', () => {
    expect(verdictsOf('restart', restarted())).toEqual({
      'host-boot-id': 'proven',
      'imds-date-header': 'proven',
      'imds-event-id': 'proven',
      'imds-fields': 'proven',
      'imds-incarnation-counts': 'proven',
      'imds-minimum-notice': 'proven',
      'imds-not-before': 'proven',
      'imds-resource-names': 'proven',
      'imds-statuses': 'proven',
      'imds-user-restart': 'proven',
    });
  });

  test('proves the same if a poll had no answer and the next one saw the same document', () => {
    const [header = '', ...changes] = whole.trimEnd().split('\n');
    const failure = '{"atSeconds":4,"failure":{"kind":"no-answer","reason":"no answer came in 10 s"}}';
    const recording = [header, ...changes, failure, changes.at(-1), ''].join('\n');
    expect(verdictsOf('restart', restarted({ recording }))).toEqual(verdictsOf('restart', restarted()));
  });

  test('shows nothing if nothing arrived', () => {
    expect(verdictsOf('restart', playedWith([], { eventId: null }))).toEqual({});
  });
});

describe('by a contradiction', () => {
  const changed = (one: EnqueuedRecord, record: Partial<EnqueuedRecord['record']>): EnqueuedRecord => ({
    ...one,
    record: { ...one.record, ...record },
  });
  test.each<[assumption: string, played: Played]>([
    ['host-boot-id', playedWith([announced, started, changed(completed, { bootId: 'boot-1' })])],
    [
      'imds-event-id',
      restarted({
        recording: recordingOf([event('Scheduled')], [event('Started', { EventId: 'other' })]),
      }),
    ],
    ['imds-fields', restarted({ recording: recordingOf([event('Scheduled', { DurationInSeconds: undefined })]) })],
    [
      'imds-incarnation-counts',
      restarted({ recording: whole.replace('"DocumentIncarnation":3', '"DocumentIncarnation":2') }),
    ],
    ['imds-minimum-notice', playedWith([changed(announced, { notBefore: at(300) })])],
    ['imds-not-before', playedWith([announced, changed(started, { observedAt: at(890) })])],
    [
      'imds-not-before',
      restarted({ recording: recordingOf([event('Started', { NotBefore: 'Sun, 22 Nov 2026 10:15:10 GMT' })]) }),
    ],
    ['imds-resource-names', playedWith([changed(announced, { observerAffected: false })])],
    ['imds-statuses', restarted({ recording: recordingOf([event('Completed')], []) })],
    ['imds-user-restart', playedWith([changed(announced, { eventSource: 'Platform' })])],
    ['imds-user-restart', playedWith([changed(announced, { affectedResources: ['vm-1', 'vm-2'] })])],
  ])('%s is refuted', (assumption, played) => {
    expect(verdictsOf('restart', played)[assumption]).toBe('refuted');
  });
});

test('an event that is still listed at the end of a recording shows nothing about its end', () => {
  expect(
    verdictsOf('restart', restarted({ recording: recordingOf([event('Started')]) }))['imds-statuses'],
  ).toBeUndefined();
});

test('an approval that starts the event within a minute proves that it does; a later start refutes it', () => {
  const approved = recordOf(2, 'Approved', 20, { evidence: ['accepted'] });
  const startedAfter = (seconds: number) =>
    verdictsOf('restart-approved', playedWith([announced, approved, recordOf(3, 'Started', 20 + seconds)]))[
      'imds-approval-starts'
    ];
  expect([startedAfter(5), startedAfter(61)]).toEqual(['proven', 'refuted']);
});

test('a second event of the type, and a boot id that is not known, refute nothing', () => {
  const second = event('Started', { EventId: 'other' });
  const later = restarted({ recording: recordingOf([event('Scheduled')], [event('Started')], [second], []) });
  expect(verdictsOf('restart', later)['imds-event-id']).toBe('proven');
  const unknown = { ...completed, record: { ...completed.record, bootId: null } };
  expect(verdictsOf('restart', playedWith([announced, started, unknown]))['host-boot-id']).toBeUndefined();
});

test('an eviction needs most of its 30 seconds, and a record in the hub before it', () => {
  const verdict = (noticed: number, delivered: number) => {
    const first = recordOf(1, 'Scheduled', 910 - noticed, { eventType: 'Preempt', eventSource: 'Platform' });
    const enqueuedAt = new Date(at(910 - noticed + delivered));
    return verdictsOf('evict', playedWith([{ ...first, enqueuedAt }]))['imds-preempt'];
  };
  expect([verdict(28, 2), verdict(28, 60), verdict(5, 1)]).toEqual(['proven', undefined, 'refuted']);
});

test('the clock of Azure is judged by the offset that the VM measured', () => {
  const withOffset = (clockOffsetSeconds: number | null) =>
    playedWith(waitedRestart().map((one) => ({ ...one, record: { ...one.record, clockOffsetSeconds } })));
  const verdict = (offset: number | null) => verdictsOf('restart', withOffset(offset))['imds-date-header'];
  expect([verdict(1), verdict(30), verdict(null)]).toEqual(['proven', undefined, 'refuted']);
});

test('an approval by another VM counts only if Azure was not to start the event anyway', () => {
  const played = (seconds: number) =>
    playedWith([announced, recordOf(2, 'Started', seconds)], { approvedAt: new Date(at(15)) });
  const verdict = (seconds: number) => verdictsOf('restart-uniform', played(seconds))['imds-approval-on-behalf'];
  expect([verdict(20), verdict(911)]).toEqual(['proven', 'refuted']);
});

test('a scale set must show the event to its other VM', () => {
  const unseen = restarted({ recording: recordingOf([], []) });
  expect(verdictsOf('restart-uniform', restarted())['imds-group-uniform']).toBe('proven');
  expect(verdictsOf('restart-uniform', unseen)['imds-group-uniform']).toBe('refuted');
  expect(verdictsOf('restart-flexible', restarted())['imds-group-flexible']).toBe('proven');
  expect(verdictsOf('restart-flexible', unseen)['imds-group-flexible']).toBe('refuted');
});

test('a redeploy shows host, state and incarnations before and after it', () => {
  const records = (host: string | null) => [
    announced,
    started,
    { ...completed, record: { ...completed.record, physicalHost: host } },
  ];
  const reset = whole.replace('"DocumentIncarnation":4', '"DocumentIncarnation":1');
  const ids = ['host-physical-name', 'host-os-disk', 'imds-vm-id', 'imds-incarnation-resets'];
  const verdicts = (host: string | null, recording: string) => {
    const all = verdictsOf('redeploy', playedWith(records(host), { recording }));
    return ids.map((id) => all[id]);
  };
  expect(verdicts('host-2', reset)).toEqual(['proven', 'proven', 'proven', 'proven']);
  expect(verdicts('host-2', whole)).toEqual(['proven', 'proven', 'proven', 'refuted']);
  expect(verdicts(null, whole)).toEqual(['refuted', 'proven', 'proven', undefined]);
});

test.for(['present-at-first-look', 'observation-gap'])(
  'a notice of which the beginning may be missed (%s) refutes nothing',
  (word) => {
    const [first, ...rest] = waitedRestart();
    const record = {
      ...first.record,
      evidence: [word],
      observedAt: new Date(Date.parse(first.record.observedAt) + 600_000).toISOString(),
    };
    const late = playedWith([{ ...first, record }, ...rest], { recording: whole });
    expect(Object.entries(verdictsOf('restart', late)).filter(([, verdict]) => verdict === 'refuted')).toEqual([]);
  },
);

test('a Windows VM can only show that the time of its boot changes within a boot', () => {
  const other = { ...started, record: { ...started.record, bootId: 'boot-0' } };
  const verdict = (second: EnqueuedRecord) =>
    verdictsOf('windows-restart', playedWith([announced, second, completed]))['windows-boot-time'];
  expect([verdict(started), verdict(other)]).toEqual([undefined, 'refuted']);
});

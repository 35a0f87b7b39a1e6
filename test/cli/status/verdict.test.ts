import { expect, test } from 'vitest';
import type { Facts, StatusEvent } from '../../../src/cli/status/facts.ts';
import { judge } from '../../../src/cli/status/verdict.ts';
import { linux, windows } from '../../../src/operating-system.ts';
import { noCounters } from '../../../src/outbox/outbox.ts';
import type { SenderFacts } from '../../../src/sender/sender-process.ts';
import { linuxWords } from '../../support/linux-words.ts';
import { facts, poll, service, sink, unanswered } from './sample-status.ts';

const forbidden = {
  at: '2026-03-14T09:29:00.000Z',
  code: 'http-403',
  reason: 'The identity may not write: grant the role.',
};
const refusedThere = { code: 'connection-refused', reason: 'Nothing listens there.' };
const dying = (recentDeaths: number, role: SenderFacts['role']): SenderFacts => ({
  role,
  pid: null,
  residentBytes: 0,
  starts: 8,
  deaths: { 'sender-exited': 7 },
  recentDeaths,
  lastDeath: { code: 'sender-exited', reason: `The process that sends to ${role} ended (SIGKILL).` },
});
const fullDisk = { since: '2026-03-14T09:14:00.000Z', code: 'sqlite-13', reason: 'database or disk is full' };
/** Of a service that has had no answer yet, on a VM where the feature may be off. */
const first = (rest: Parameters<typeof poll>[0]) =>
  poll({ isFirstAnswer: true, answerSeconds: 130, documentAgeSeconds: null, ...rest });
const event = (eventType: string, phase: 'Scheduled' | 'Started', notBefore: string | null): StatusEvent => ({
  eventId: eventType,
  eventType,
  eventSource: 'Platform',
  phase,
  notBefore,
  firstSeenAt: '2026-03-14T09:20:00.000Z',
  startedAt: null,
  affectsThisVm: true,
  published: true,
});
const unreachable = { at: '2026-03-14T09:29:00.000Z', code: 'connection-closed', reason: 'The connection broke.' };

interface Case {
  readonly name: string;
  readonly given: Facts;
  readonly message: RegExp;
  readonly problems?: number;
}

const cases: readonly Case[] = [
  { name: 'all is well', given: facts(), message: /^Running; both destinations are up to date\.$/ },
  {
    name: 'one destination',
    given: facts({ sinks: [sink('event-hubs'), sink('stdout', { state: 'not-configured', waiting: 3 })] }),
    message: /^Running; Event Hubs is up to date\.$/,
  },
  {
    name: 'records on their way',
    given: facts({
      sinks: [sink('event-hubs', { state: 'delivering', waiting: 2, oldestAgeSeconds: 3 }), sink('log-analytics')],
    }),
    message: /^Running; 2 deliveries are under way\.$/,
  },
  {
    name: 'a destination that fails for the moment',
    given: facts({
      sinks: [
        sink('event-hubs', {
          state: 'retrying',
          waiting: 1,
          oldestAgeSeconds: 60,
          lastError: unreachable,
          retryAt: '2026-03-14T09:31:00.000Z',
        }),
      ],
    }),
    message: /^Running; Event Hubs failed, next attempt in 60 s; no action needed yet: The connection broke\.$/,
  },
  {
    name: 'a destination whose next attempt is not known',
    given: facts({ sinks: [sink('event-hubs', { state: 'retrying', waiting: 1, lastError: unreachable })] }),
    message: /^Running; Event Hubs failed, will be retried; no action needed yet: The connection broke\.$/,
  },
  {
    name: 'one that has failed for more than two minutes',
    given: facts({
      sinks: [
        sink('event-hubs', {
          state: 'retrying',
          waiting: 4,
          lateSeconds: 660,
          lastError: unreachable,
          retryAt: '2026-03-14T09:30:34.000Z',
        }),
      ],
    }),
    message:
      /^Event Hubs has accepted nothing for 11 min, 4 records wait for it; next attempt in 34 s: The connection broke\. \(check shows where it fails; outbox retry --now --sink event-hubs tries at once\.\)$/,
    problems: 1,
  },
  {
    name: 'a send without an answer for more than two minutes',
    given: facts({ sinks: [sink('event-hubs', { state: 'delivering', waiting: 1, lateSeconds: 130 })] }),
    message:
      /^Event Hubs has accepted nothing for 2 min, 1 record waits for it: the current attempt has had no answer\. Run check/,
    problems: 1,
  },
  {
    name: 'one that refuses',
    given: facts({
      sinks: [
        sink('event-hubs'),
        sink('log-analytics', {
          state: 'refused',
          waiting: 1,
          oldestWaitingAt: '2026-03-14T02:14:00.000Z',
          lastSuccessAt: null,
          lastError: forbidden,
        }),
      ],
    }),
    message:
      /^Log Analytics has accepted nothing since 02:14 UTC: The identity may not write: grant the role\. \(check prints the command that fixes it; outbox retry --now --sink log-analytics tries at once\.\)$/,
    problems: 1,
  },
  {
    name: 'one that has been refusing since yesterday',
    given: facts({
      sinks: [
        sink('event-hubs', { state: 'refused', lastSuccessAt: '2026-03-13T23:59:00.000Z', lastError: forbidden }),
      ],
    }),
    message: /^Event Hubs has accepted nothing since 2026-03-13 23:59 UTC: /,
    problems: 1,
  },
  {
    name: 'a sender process that died three times in ten minutes, with nothing waiting',
    given: facts({ service: service({ senders: [dying(2, 'log-analytics'), dying(3, 'event-hubs')] }) }),
    message:
      /^A sender process failed 3 times in the last 10 min: The process that sends to event-hubs ended \(SIGKILL\)\. Check the log .*journalctl -u scheduled-events-bridge.* free memory of the VM\.$/,
    problems: 1,
  },
  {
    name: 'dead letters',
    given: facts({ sinks: [sink('log-analytics', { deadLetters: 3 })] }),
    message:
      /^Log Analytics refused 3 records, now dead letters: outbox list --state dead shows why; when that is fixed, outbox retry --all --sink log-analytics resends them\.$/,
    problems: 1,
  },
  {
    name: 'a service that does not run, and more',
    given: facts({ ...unanswered('nobody', false), sinks: [sink('event-hubs', { deadLetters: 1 })] }),
    message:
      /^Not running: no events polled since 09:29 UTC\. Start the service .*systemctl start scheduled-events-bridge.* \(1 more below\.\)$/,
    problems: 2,
  },
  {
    name: 'a lock that this user may not read',
    given: facts(unanswered('nobody', null)),
    message: /^Unknown: this user may not query .* Run status as the user of the service, or as root\.$/,
    problems: 1,
  },
  {
    name: 'a socket that this user may not use',
    given: facts(unanswered('denied', true)),
    message: /^Unknown: this user may not query /,
    problems: 1,
  },
  {
    name: 'a process that holds the directory and does not answer',
    given: facts(unanswered('nobody', true)),
    message: /^Unknown: a process holds .* does not answer status requests\. .*older version/,
    problems: 1,
  },
  {
    name: 'a process that does not answer',
    given: facts(unanswered('silent', true)),
    message: /^Not responding: .* did not answer within 2 s\. It is stopped \(SIGSTOP.*kill -CONT.*systemctl restart/,
    problems: 1,
  },
  {
    name: 'a service on its way out',
    given: facts({ service: service({ stopping: true }), sinks: [sink('event-hubs', { waiting: 2 })] }),
    message: /^Stopping: 2 deliveries are under way\.$/,
  },
  {
    name: 'a poll that is late by more than three intervals',
    given: facts({ service: service({ poll: poll({ ageSeconds: 4, documentAgeSeconds: 4 }) }) }),
    message:
      /^Running; the last poll ended 4 s ago, with an interval of 1 s: the metadata service is slow to answer\.$/,
  },
  {
    name: 'a longer interval',
    given: facts({ service: service({ poll: poll({ intervalSeconds: 3, ageSeconds: 4, documentAgeSeconds: 4 }) }) }),
    message: /^Running; both destinations are up to date\.$/,
  },
  {
    name: 'no document for more than ten seconds',
    given: facts({ service: service({ poll: poll({ documentAgeSeconds: 14, failing: refusedThere }) }) }),
    message:
      /^No document from the metadata service for 14 s: Nothing listens there\. Events are missed until then\. Run check/,
    problems: 1,
  },
  {
    name: 'no answer to the poll under way for more than ten seconds',
    given: facts({ service: service({ poll: poll({ ageSeconds: 11, documentAgeSeconds: 11 }) }) }),
    message: /^No document from the metadata service for 11 s: it has not answered the last poll for 11 s\./,
    problems: 1,
  },
  {
    name: 'a poll loop that is past every deadline',
    given: facts({ service: service({ poll: poll({ ageSeconds: 40, documentAgeSeconds: 40 }) }) }),
    message: /although an answer may take 10 s: restart the service, and please report it\./,
    problems: 1,
  },
  {
    name: 'polls that end in an internal error',
    given: facts({ service: service({ poll: poll({ documentAgeSeconds: 40 }) }) }),
    message: /polls end in an internal error; see the log/,
    problems: 1,
  },
  {
    name: 'a first start',
    given: facts({ service: service({ poll: first({ upSeconds: 20 }) }) }),
    message: /^Running; not watching yet: the first answer of the metadata service may take 2 min \(20 s so far\)\.$/,
  },
  {
    name: 'a first answer that never came',
    given: facts({ service: service({ poll: first({ upSeconds: 900, ageSeconds: 900 }) }) }),
    message: /^No document from the metadata service since the start, 15 min ago: /,
    problems: 1,
  },
  {
    name: 'a metadata service that refuses from the start',
    given: facts({ service: service({ poll: first({ upSeconds: 11, failing: refusedThere }) }) }),
    message: /^No document from the metadata service since the start, 11 s ago: Nothing listens there\./,
    problems: 1,
  },
  {
    name: 'a loop that is stuck',
    given: facts({ service: service({ stuck: ['The loop event-hubs has been stuck for 300 s.'] }) }),
    message: /^The loop event-hubs has been stuck/,
    problems: 1,
  },
  {
    name: 'records in memory only',
    given: facts({
      service: service({ inMemoryOnly: 2, storageTrouble: fullDisk }),
      outbox: { freeBytes: 0 },
    }),
    message:
      /^2 records are in memory only since 09:14 UTC: do not restart the service, that would lose them\. The disk of .* is full \(0 KB free\): free some space/,
    problems: 1,
  },
  {
    name: 'a disk that takes no writes, before there is a record',
    given: facts({ service: service({ storageTrouble: { ...fullDisk, code: 'EIO', reason: 'disk I/O error' } }) }),
    message:
      /^Nothing can be written in \/var\/lib\/scheduled-events-bridge since 09:14 UTC, .* disk I\/O error: check the disk/,
    problems: 1,
  },
  {
    name: 'an impact that is near',
    given: facts({
      events: [event('Freeze', 'Scheduled', '2026-03-14T09:35:00.000Z'), event('Reboot', 'Scheduled', null)],
    }),
    message: /^Running; both destinations are up to date\. Reboot of this VM at any moment\.$/,
  },
  {
    name: 'an impact under way',
    given: facts({
      events: [event('Redeploy', 'Scheduled', '2026-03-14T09:31:00.000Z'), event('Freeze', 'Started', null)],
    }),
    message: /^Running; both destinations are up to date\. Freeze of this VM is under way\.$/,
  },
  {
    name: 'a clock that is off by three minutes, with which tokens are still accepted',
    given: facts({ document: { clockOffsetSeconds: 180 } }),
    message: /^The clock of this VM is 3 min behind Azure's, and from 5 min on tokens and certificates are refused\./,
    problems: 1,
  },
  {
    name: 'a clock that is off by a day',
    given: facts({ document: { clockOffsetSeconds: -86_400 } }),
    message: /^The clock of this VM is 24 h ahead of Azure's, so .*chronyc/,
    problems: 1,
  },
  {
    name: 'a full disk',
    given: facts({ outbox: { freeBytes: 100_000 } }),
    message: /^The disk of \/var\/lib\/scheduled-events-bridge is full \(98 KB free\): free some space/,
    problems: 1,
  },
  {
    name: 'a disk that has little room left',
    given: facts({ outbox: { freeBytes: 5 * 2 ** 20 } }),
    message: /is nearly full \(5\.0 MB free\): free some space/,
    problems: 1,
  },
  {
    name: 'a disk that is mounted read-only',
    given: facts({ outbox: { readOnlyDisk: true } }),
    message: /is mounted read-only: mount it writable/,
    problems: 1,
  },
  {
    name: 'an outbox that is nearly full',
    given: facts({ outbox: { bytes: 200 * 2 ** 20 } }),
    message: /^The outbox takes 200 MB of its 256 MB: fix the destination/,
    problems: 1,
  },
];

test.for(cases)('$name: the first line has the most important problem', ({ given, message, problems = 0 }) => {
  const verdict = judge(given, linux);
  expect(verdict.message).toMatch(message);
  expect(verdict.problems).toHaveLength(problems);
  expect(verdict.actionRequired).toBe(problems > 0);
  expect(judge({ ...given, stateDirectory: 'C:\\state' }, windows).problems.join(' ')).not.toMatch(linuxWords);
});

test('a remark needs no operator', () => {
  const { actionRequired, notes } = judge(
    facts({
      sinks: [sink('event-hubs', { counters: { ...noCounters, accepted: 2, expired: 2 } })],
      approvals: [{ eventId: 'E-1', cause: 'by-hand', intendedAt: '2026-03-14T09:29:00.000Z' }],
      outbox: {
        recovery: { at: '2026-03-13T08:00:00.000Z', reason: 'a page was damaged', movedTo: '/state/corrupt-1' },
        undecidedDocuments: 4,
      },
    }),
    linux,
  );
  expect(actionRequired).toBe(false);
  expect(notes).toEqual([
    '2 records were discarded undelivered (Event Hubs).',
    'A damaged outbox was replaced 2026-03-13 08:00 UTC: a page was damaged; it is kept in /state/corrupt-1.',
    'The approval of E-1, begun 09:29 UTC, has no outcome yet.',
    '4 documents wait for the identity of this VM, which could not be read from the metadata service yet.',
  ]);
});

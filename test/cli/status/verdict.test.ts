import { expect, test } from 'vitest';
import type { Facts } from '../../../src/cli/status/facts.ts';
import { judge } from '../../../src/cli/status/verdict.ts';
import { noCounters } from '../../../src/outbox/tally.ts';
import { facts, sink } from './sample-status.ts';

const forbidden = {
  at: '2026-03-14T09:29:00.000Z',
  code: 'http-403',
  reason: 'The identity may not write: grant the role.',
};
const unreachable = { at: '2026-03-14T09:29:00.000Z', code: 'connection-closed', reason: 'The connection broke.' };

interface Case {
  readonly name: string;
  readonly given: Facts;
  readonly says: RegExp;
  readonly problems?: number;
}

const cases: readonly Case[] = [
  { name: 'all is well', given: facts(), says: /^Running; both destinations are up to date\.$/ },
  {
    name: 'one destination',
    given: facts({ sinks: [sink('event-hubs'), sink('stdout', { state: 'not-configured', waiting: 3 })] }),
    says: /^Running; Event Hubs is up to date\.$/,
  },
  {
    name: 'records on their way',
    given: facts({ sinks: [sink('event-hubs', { waiting: 2, oldestAgeSeconds: 3 }), sink('log-analytics')] }),
    says: /^Running; 2 deliveries are under way\.$/,
  },
  {
    name: 'a destination that fails for the moment',
    given: facts({
      sinks: [
        sink('event-hubs', {
          state: 'waiting',
          waiting: 1,
          oldestAgeSeconds: 60,
          lastError: unreachable,
          retryAt: '2026-03-14T09:31:00.000Z',
        }),
      ],
    }),
    says: /^Running; Event Hubs failed just now and is asked again in 60 s, nothing is to be done yet: The connection broke\.$/,
  },
  {
    name: 'one that has failed for a quarter of an hour',
    given: facts({
      sinks: [
        sink('event-hubs', {
          state: 'waiting',
          waiting: 4,
          oldestAgeSeconds: 1000,
          oldestWaitingAt: '2026-03-14T09:13:20.000Z',
          lastSuccessAt: '2026-03-13T09:00:00.000Z',
          lastError: unreachable,
        }),
      ],
    }),
    says: /^Event Hubs has taken nothing since 09:13 UTC, 4 records wait for it: The connection broke\.$/,
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
    says: /^Log Analytics has taken nothing since 02:14 UTC: The identity may not write: grant the role\. \(check gives the exact command\.\)$/,
    problems: 1,
  },
  {
    name: 'one that has been refusing since yesterday',
    given: facts({
      sinks: [
        sink('event-hubs', { state: 'refused', lastSuccessAt: '2026-03-13T23:59:00.000Z', lastError: forbidden }),
      ],
    }),
    says: /^Event Hubs has taken nothing since 2026-03-13 23:59 UTC: /,
    problems: 1,
  },
  {
    name: 'dead letters',
    given: facts({ sinks: [sink('log-analytics', { deadLetters: 3 })] }),
    says: /^Log Analytics refused single records, 3 dead letters: outbox list --state dead tells why; when that is mended, outbox retry --all --sink log-analytics sends them again\.$/,
    problems: 1,
  },
  {
    name: 'a service that does not run, and more',
    given: facts({ running: false, sinks: [sink('event-hubs', { deadLetters: 1 })] }),
    says: /^Not running: nothing has been watched since 09:29 UTC\. Start the service .*systemctl start scheduled-events-bridge.* \(1 more below\.\)$/,
    problems: 2,
  },
  {
    name: 'a lock that this user may not look at',
    given: facts({ running: null }),
    says: /^Probably running; both destinations are up to date\.$/,
  },
  {
    name: 'silence of the metadata service',
    given: facts({ document: { lastSeenAt: '2026-03-14T09:13:00.000Z', ageSeconds: 1020 } }),
    says: /^Nothing was heard from Azure, or stored, since 09:13 UTC \(17 min\)\. Run check/,
    problems: 1,
  },
  {
    name: 'a first start',
    given: facts({ document: { lastSeenAt: null, ageSeconds: null }, outbox: { createdAgeSeconds: 20 } }),
    says: /^Running; Azure's first answer is awaited, which may take two minutes\.$/,
  },
  {
    name: 'a first answer that never came',
    given: facts({ document: { lastSeenAt: null, ageSeconds: null }, outbox: { createdAgeSeconds: 900 } }),
    says: /^Azure has not answered once in 15 min\./,
    problems: 1,
  },
  {
    name: 'a clock that is off by a day',
    given: facts({ document: { clockOffsetSeconds: -86_400 } }),
    says: /^The clock of this VM is 24 h ahead of Azure's: .*timedatectl/,
    problems: 1,
  },
  {
    name: 'a full disk',
    given: facts({ outbox: { freeBytes: 100_000 } }),
    says: /^The disk of \/var\/lib\/scheduled-events-bridge is full \(98 KB free\): free some space/,
    problems: 1,
  },
  {
    name: 'a disk that has little room left',
    given: facts({ outbox: { freeBytes: 5 * 2 ** 20 } }),
    says: /is nearly full \(5\.0 MB free\): free some space/,
    problems: 1,
  },
  {
    name: 'a disk that is mounted read-only',
    given: facts({ outbox: { readOnlyDisk: true } }),
    says: /is mounted read-only: .*Mount it writable/,
    problems: 1,
  },
  {
    name: 'an outbox that is nearly full',
    given: facts({ outbox: { bytes: 200 * 2 ** 20 } }),
    says: /^The outbox takes 200 MB of its 256 MB: mend the destination/,
    problems: 1,
  },
];

test.for(cases)('$name: the first line says what matters most', ({ given, says, problems = 0 }) => {
  const verdict = judge(given);
  expect(verdict.says).toMatch(says);
  expect(verdict.problems).toHaveLength(problems);
  expect(verdict.needsPerson).toBe(problems > 0);
});

test('what is worth knowing needs nobody', () => {
  const { needsPerson, notes } = judge(
    facts({
      running: null,
      sinks: [sink('event-hubs', { counters: { ...noCounters, accepted: 2, expired: 2 } })],
      approvals: [{ eventId: 'E-1', cause: 'by hand', intendedAt: '2026-03-14T09:29:00.000Z' }],
      outbox: {
        recovery: { at: '2026-03-13T08:00:00.000Z', reason: 'a page was damaged', movedTo: '/state/corrupt-1' },
        undecidedDocuments: 4,
      },
    }),
  );
  expect(needsPerson).toBe(false);
  expect(notes).toEqual([
    'Whether it runs cannot be told: this user may not look at lock.sqlite.',
    '2 records were given up before Event Hubs had them.',
    'A damaged outbox was replaced 2026-03-13 08:00 UTC: a page was damaged; it is kept in /state/corrupt-1.',
    'The approval of E-1, begun 09:29 UTC, has no outcome yet.',
    '4 documents wait for the name of this VM, which the metadata service has not told yet.',
  ]);
});

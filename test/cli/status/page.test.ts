import { expect, test } from 'vitest';
import { statusPage } from '../../../src/cli/status/page.ts';
import { judge } from '../../../src/cli/status/verdict.ts';
import { linux } from '../../../src/operating-system.ts';
import { facts, sink, unanswered } from './sample-status.ts';

const page = (given: Parameters<typeof facts>[0]): string => {
  const all = facts(given);
  return statusPage({ verdict: judge(all, linux), ...all });
};

test('a bridge that is well fills a calm page', () => {
  expect(page({ outbox: { maxBytes: null } })).toBe(`Running; both destinations are up to date.

Service        running for 60 min (pid 4711, version 1.2.3), last poll ended 0 s ago
VM             web_3 (web, westeurope)
Last document  0 s ago (2026-03-14T09:29:59.600Z), incarnation 2
Events         none open
Outbox         newest record 17, 36 KB, in /var/lib/scheduled-events-bridge

DESTINATION    STATE  WAITING  OLDEST  NEXT ATTEMPT  DEAD  LAST SUCCESS
Event Hubs     idle         0  -       -                0  09:26 UTC (3 min ago)
Log Analytics  idle         0  -       -                0  09:26 UTC (3 min ago)
`);
});

test('an unhealthy service shows its problems first, then the facts', () => {
  const refused = {
    at: '2026-03-14T09:28:00.000Z',
    code: 'http-403',
    reason: 'The identity may not write: grant the role.',
  };
  const passing = { at: '2026-03-14T09:27:00.000Z', code: 'server-busy', reason: 'It is busy.' };
  const event = { eventSource: 'Platform', firstSeenAt: '2026-03-14T09:00:00.000Z', startedAt: null, published: true };
  expect(
    page({
      ...unanswered('nobody', false),
      document: { lastSeenAt: '2026-03-14T09:29:26.000Z', ageSeconds: 34 },
      observer: null,
      events: [
        {
          ...event,
          eventId: '602D9444',
          eventType: 'Freeze',
          phase: 'Scheduled',
          notBefore: '2026-03-14T09:41:53.000Z',
          affectsThisVm: true,
        },
        {
          ...event,
          eventId: 'C0FFEE00',
          eventType: 'Reboot',
          eventSource: 'User',
          phase: 'Started',
          notBefore: null,
          startedAt: '2026-03-14T09:20:00.000Z',
          affectsThisVm: false,
        },
      ],
      sinks: [
        sink('event-hubs', {
          state: 'stopped',
          waiting: 12,
          oldestAgeSeconds: 240,
          lastError: passing,
        }),
        sink('log-analytics', { state: 'refused', waiting: 2, oldestAgeSeconds: 26_400, lastError: refused }),
        sink('stdout', { state: 'not-configured', lastSuccessAt: null }),
      ],
    }),
  ).toBe(`Not running: no events polled since 09:29 UTC. Start the service (sudo systemctl start scheduled-events-bridge) and read its log if it ends again. (1 more below.)

Operator action also required:
  - Log Analytics has accepted nothing since 09:26 UTC: The identity may not write: grant the role. (check prints the command that fixes it; outbox retry --now --sink log-analytics tries at once.)

Service        not running
VM             not known yet
Last document  34 s ago (2026-03-14T09:29:26.000Z, as stored), incarnation 2
Events         2 open; 1 affects this VM
Outbox         newest record 17, 36 KB of 256 MB, in /var/lib/scheduled-events-bridge

EVENT          PHASE      WHEN                              ABOUT             EVENT ID
Freeze         Scheduled  not before 09:41 UTC (in 12 min)  this VM           602D9444
Reboot (user)  Started    started 09:20 UTC (10 min ago)    others (witness)  C0FFEE00

DESTINATION      STATE           WAITING  OLDEST  NEXT ATTEMPT  DEAD  LAST SUCCESS
Event Hubs       stopped              12  4 min   -                0  09:26 UTC (3 min ago)
Log Analytics    refused               2  7 h     -                0  09:26 UTC (3 min ago)
Standard output  not-configured        0  -       -                0  never

Last errors:
  - Event Hubs 09:27 UTC, server-busy: It is busy.
`);
});

test('a destination that is retried later shows when, and its last error', () => {
  const lastError = { at: '2026-03-14T09:27:00.000Z', code: 'server-busy', reason: 'It is busy.' };
  const failing = { state: 'retrying' as const, waiting: 1, retryAt: '2026-03-14T09:31:00.000Z', lastError };
  const other = { ...lastError, reason: 'The line broke.' };
  const text = page({
    sinks: [sink('event-hubs', failing), sink('log-analytics', { ...failing, lastError: other })],
  });
  expect(text).toMatch(/^Running; Event Hubs failed, next attempt in 60 s; no action needed yet: It is busy\.\n/);
  expect(text).toMatch(/^Log Analytics +retrying +1 +- +09:31 UTC \(in 60 s\)/m);
  expect(text).toContain('Last errors:\n  - Log Analytics 09:27 UTC, server-busy: The line broke.\n');
});

test('an attempt that is due is shown as now', () => {
  const lastError = { at: '2026-03-14T09:27:00.000Z', code: 'server-busy', reason: 'It is busy.' };
  const due = { state: 'retrying' as const, waiting: 1, retryAt: '2026-03-14T09:29:58.000Z', lastError };
  expect(page({ sinks: [sink('log-analytics', due)] })).toMatch(/^Log Analytics +retrying +1 +- +now +0 /m);
});

test('nothing that came from elsewhere moves the cursor', () => {
  const lastError = { at: null, code: 'http-403', reason: 'gone\u001b[2J\nand \u202eback' };
  const text = page({ sinks: [sink('event-hubs', { state: 'refused', lastError })] });
  expect(text).toContain('gone [2J and back');
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

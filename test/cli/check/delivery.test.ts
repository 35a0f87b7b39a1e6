import { expect, test } from 'vitest';
import { deliveryFinding } from '../../../src/cli/check/delivery.ts';
import type { Facts, StatusSink } from '../../../src/cli/status/facts.ts';
import { linux } from '../../../src/operating-system.ts';
import { facts, sink, unanswered } from '../status/sample-status.ts';

const broke = { at: '2026-03-14T09:29:00.000Z', code: 'connection-closed', reason: 'The connection broke.' };
const hub = (rest: Partial<StatusSink>) => ({ sinks: [sink('event-hubs', rest), sink('log-analytics')] });

const cases: readonly { name: string; given: Facts; verdict: string; message: RegExp; remedy?: RegExp }[] = [
  { name: 'nothing waits', given: facts(), verdict: 'ok', message: /^No records wait for a destination\.$/ },
  {
    name: 'a delivery is under way',
    given: facts(hub({ state: 'delivering', waiting: 2, oldestAgeSeconds: 1 })),
    verdict: 'ok',
    message: /^2 records wait for Event Hubs \(delivering\), the oldest for 1 s\.$/,
  },
  {
    name: 'a failure of a moment ago',
    given: facts(hub({ state: 'retrying', waiting: 1, oldestAgeSeconds: 20, lastError: broke })),
    verdict: 'warning',
    message: /^1 record waits for Event Hubs \(retrying\), the oldest for 20 s: The connection broke\.$/,
  },
  {
    name: 'a destination that has accepted nothing for more than two minutes, though it can be reached now',
    given: facts(hub({ state: 'retrying', waiting: 1, lateSeconds: 300, lastError: broke })),
    verdict: 'problem',
    message: /^Event Hubs has accepted nothing for 5 min, 1 record waits for it/,
    remedy: /outbox retry --now$/,
  },
  {
    name: 'a destination that refuses',
    given: facts(hub({ state: 'refused', waiting: 1, lastError: { ...broke, code: 'unauthorized' } })),
    verdict: 'problem',
    message: /^Event Hubs has accepted nothing since/,
    remedy: /outbox retry --now$/,
  },
  {
    name: 'dead letters',
    given: facts(hub({ deadLetters: 2 })),
    verdict: 'warning',
    message: /2 records, now dead letters/,
    remedy: /outbox list --state dead$/,
  },
  {
    name: 'records are pending while no service runs',
    given: facts({ ...unanswered('nobody', false), ...hub({ state: 'stopped', waiting: 2, oldestAgeSeconds: 7200 }) }),
    verdict: 'warning',
    message: /^2 records wait for Event Hubs \(stopped\), the oldest for 2 h\.$/,
  },
];

test.for(cases)('$name', ({ given, verdict, message, remedy = /^$/ }) => {
  const found = deliveryFinding(given, linux);
  expect(found).toMatchObject({ what: 'delivery.backlog', verdict, message: expect.stringMatching(message) });
  expect(found.remedy ?? '').toMatch(remedy);
});

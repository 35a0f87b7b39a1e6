import { expect, test } from 'vitest';
import { createPollCounts } from '../../src/health/poll-counts.ts';
import { createPing, reachIn } from '../../src/requests/ping.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const appeared = { seen: 0, ours: 0 };
const seen = { kind: 'unchanged', azureTime: null, clockOffsetSeconds: 0 } as const;
const failed = (code: string) => ({ kind: 'unavailable', code, reason: `It is ${code}.`, retryAfterMs: null }) as const;

/** What the service answers after these polls, in order, each this many seconds after the one before. */
async function answered(polls: readonly (typeof seen | ReturnType<typeof failed>)[], everySeconds = 1) {
  const clock = createFakeClock();
  const { record: onPoll, counts } = createPollCounts(clock);
  for (const poll of polls) {
    onPoll({ pollResult: poll, appeared });
    await clock.advance(1000 * everySeconds);
  }
  return JSON.parse(JSON.stringify(createPing({ counts }, clock)()));
}

const cases: readonly { name: string; polls: Parameters<typeof answered>[0]; every?: number; kind: string }[] = [
  { name: 'has not completed a poll yet', polls: [], kind: 'waiting' },
  { name: 'has received a document', polls: [seen], kind: 'connected' },
  ...['connection-refused', 'no-route', 'connect-timeout', 'unreachable'].map((code) => ({
    name: `gets no connection (${code})`,
    polls: [failed(code)],
    kind: 'no-connection',
  })),
  ...['http-410', 'http-429', 'timeout', 'connection-reset', 'name-not-found', 'not-json'].map((code) => ({
    name: `gets no document (${code})`,
    polls: [failed(code)],
    kind: 'connected',
  })),
  { name: 'saw a document a minute ago', polls: [seen, failed('connection-refused')], every: 30, kind: 'connected' },
  {
    name: 'saw its last document two minutes ago',
    polls: [seen, failed('no-route')],
    every: 60,
    kind: 'no-connection',
  },
];

test.each(cases)('the connectivity reported by a service that $name', async ({ polls, every, kind }) => {
  const last = polls.at(-1);
  const reason = last?.kind === 'unavailable' ? last.reason : '';
  expect(reachIn(await answered(polls, every))).toEqual(kind === 'no-connection' ? { kind, reason } : { kind });
});

test('an answer of another version has no result about the metadata service', () => {
  for (const answer of [
    { ok: false, message: 'does not know "greet"' },
    null,
    'x',
    { reach: null },
    { reach: { kind: 'odd' } },
  ]) {
    expect(reachIn(answer)).toEqual({ kind: 'unreported' });
  }
});

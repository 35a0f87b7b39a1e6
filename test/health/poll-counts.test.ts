import { expect, test } from 'vitest';
import { createPollCounts } from '../../src/health/poll-counts.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const none = { seen: 0, ours: 0 };
const document = { incarnation: 1, events: [], unreadable: 0 };
const brought = (clockOffsetSeconds: number | null, appeared = none) => ({
  pollResult: {
    kind: 'document',
    document,
    imdsApiVersion: '2020-07-01',
    azureTime: null,
    clockOffsetSeconds,
  } as const,
  appeared,
});
const failed = (code: string) => ({
  pollResult: { kind: 'unavailable', code, reason: 'It hangs.', retryAfterMs: null } as const,
  appeared: none,
});

test('polls are counted by what they brought, and those without a document by their reason', () => {
  const polls = createPollCounts(createFakeClock());
  polls.record(brought(0));
  polls.record({ pollResult: { kind: 'unchanged', azureTime: null, clockOffsetSeconds: null }, appeared: none });
  for (const code of ['timeout', 'http-503', 'timeout']) polls.record(failed(code));
  polls.failed();
  expect(polls.counts()).toMatchObject({
    polls: 6,
    results: { document: 1, unchanged: 1, timeout: 2, 'http-503': 1 },
    failedPolls: { timeout: 2, 'http-503': 1 },
    pollFailures: 1,
    failing: { code: 'timeout', reason: 'It hangs.' },
  });
});

test('a poll aborted because the bridge is stopping does not count', () => {
  const polls = createPollCounts(createFakeClock());
  polls.record(failed('aborted'));
  expect(polls.counts()).toMatchObject({ polls: 0, failedPolls: {}, failing: null });
});

test('the last document, the clock offset and the number of listed events are kept through failures', async () => {
  const clock = createFakeClock();
  const polls = createPollCounts(clock);
  polls.record(brought(-3, { seen: 3, ours: 1 }));
  const { lastDocument } = polls.counts();
  await clock.advance(5_000);
  polls.record(failed('timeout'));
  polls.record(brought(null, { seen: 1, ours: 1 }));
  expect(polls.counts()).toMatchObject({ clockOffsetSeconds: -3, eventsSeen: 4, eventsOurs: 2, failing: null });
  expect(polls.counts().lastDocument?.monotonicMs).toBe((lastDocument?.monotonicMs ?? 0) + 5_000);
});

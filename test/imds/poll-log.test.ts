import { describe, expect, test } from 'vitest';
import { createPollLog } from '../../src/imds/poll-log.ts';
import type { PollResult } from '../../src/lifecycle/scheduled-event.ts';
import type { Log } from '../../src/log.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { sampleRecord } from '../support/sample-record.ts';

const unavailable = (code: string): PollResult => ({
  kind: 'unavailable',
  code,
  reason: `${code} happened.`,
  retryAfterMs: null,
});
const unchanged: PollResult = { kind: 'unchanged', azureTime: null, clockOffsetSeconds: null };
const pace = { waitMs: 1000, cappedMs: null };

function listen() {
  const lines: string[] = [];
  const line = (level: string) => (_: object, message: string) => void lines.push(`${level} ${message}`);
  const log: Log = {
    debug: line('debug'),
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: () => log,
  };
  return { lines, pollLog: createPollLog(log, createFakeClock()) };
}

describe('the log of a poll cycle', () => {
  test('an endpoint that stays silent is one line, and one more when it is back', () => {
    const { lines, pollLog } = listen();
    for (let n = 0; n < 30; n += 1) pollLog.polled({ pollResult: unavailable('timeout'), records: [] }, pace);
    pollLog.polled({ pollResult: unchanged, records: [] }, pace);
    pollLog.polled({ pollResult: unchanged, records: [] }, pace);
    expect(lines).toEqual([
      'warn No document: timeout happened.',
      'info The metadata service answers again, after 30 polls without a document.',
    ]);
  });

  test('one poll without a document is one poll', () => {
    const { lines, pollLog } = listen();
    pollLog.polled({ pollResult: unavailable('timeout'), records: [] }, pace);
    pollLog.polled({ pollResult: unchanged, records: [] }, pace);
    expect(lines.at(-1)).toBe('info The metadata service answers again, after 1 poll without a document.');
  });

  test('every other reason has its own line', () => {
    const { lines, pollLog } = listen();
    for (const code of ['timeout', 'http-503', 'timeout'])
      pollLog.polled({ pollResult: unavailable(code), records: [] }, pace);
    expect(lines).toHaveLength(2);
  });

  test('a poll that is interrupted by a stop is no failure', () => {
    const { lines, pollLog } = listen();
    pollLog.polled({ pollResult: unavailable('aborted'), records: [] }, pace);
    expect(lines).toEqual([]);
  });

  test('a record is one line with phase, VM and evidence', () => {
    const { lines, pollLog } = listen();
    const record = sampleRecord({
      eventType: 'Freeze',
      phase: 'Started',
      evidence: ['said-by-azure'],
      observerAffected: true,
    });
    pollLog.polled({ pollResult: unchanged, records: [record] }, pace);
    expect(lines).toEqual(['info Freeze of this VM: Started (said-by-azure)']);
  });

  test('the list of open events in a new stream is of no VM', () => {
    const { lines, pollLog } = listen();
    const record = sampleRecord({
      eventType: null,
      phase: 'Snapshot',
      evidence: ['new-stream'],
      observerAffected: false,
      eventsInSight: ['event-1', 'event-2'],
    });
    pollLog.polled({ pollResult: unchanged, records: [record] }, pace);
    expect(lines).toEqual(['info Snapshot of the open events: 2 (new-stream)']);
  });

  test('a Retry-After that is not followed is logged', () => {
    const { lines, pollLog } = listen();
    pollLog.polled({ pollResult: unchanged, records: [] }, { waitMs: 5000, cappedMs: 600_000 });
    expect(lines[0]).toContain('asks to wait 600 s');
  });
});

import { describe, expect, test } from 'vitest';
import { Failure } from '../../../src/cli/exit-codes.ts';
import type { Facts, StatusEvent } from '../../../src/cli/status/facts.ts';
import type { Status } from '../../../src/cli/status/status.ts';
import { judge } from '../../../src/cli/status/verdict.ts';
import {
  drawStatus,
  printChanges,
  printJsonChanges,
  type WatchedStatus,
  watchStatus,
} from '../../../src/cli/status/watch.ts';
import { linux } from '../../../src/operating-system.ts';
import { createScreen } from '../../../src/terminal/screen.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { facts, sink } from './sample-status.ts';

const reboot: StatusEvent = {
  eventId: 'EVENT-1',
  eventType: 'Reboot',
  eventSource: 'Platform',
  phase: 'Scheduled',
  notBefore: '2026-03-14T09:45:00.000Z',
  firstSeenAt: '2026-03-14T09:30:00.000Z',
  startedAt: null,
  affectsThisVm: true,
  published: true,
};

/** The status at a second after 09:30. */
function statusAt(second: number, given: Partial<Omit<Facts, 'document' | 'outbox'>> = {}): Status {
  const at = `2026-03-14T09:30:${String(second).padStart(2, '0')}.000Z`;
  const found = facts({ at, ...given });
  return { verdict: judge(found, linux), ...found };
}

const failing = (retryAt: string) =>
  sink('event-hubs', {
    state: 'retrying',
    waiting: 1,
    retryAt,
    lastError: { at: '2026-03-14T09:30:02.000Z', code: 'connection-refused', reason: 'Nothing listens.' },
  });

/** Nine seconds: a reboot is announced, starts and ends, while the event hub fails and recovers. */
const statuses: readonly WatchedStatus[] = [
  statusAt(0),
  statusAt(1),
  statusAt(2, { events: [reboot] }),
  statusAt(3, { events: [reboot], sinks: [failing('2026-03-14T09:30:20.000Z')] }),
  statusAt(4, { events: [reboot], sinks: [failing('2026-03-14T09:30:20.000Z')] }),
  statusAt(5, {
    events: [{ ...reboot, phase: 'Started', startedAt: '2026-03-14T09:30:05.000Z' }],
    sinks: [sink('event-hubs')],
  }),
  statusAt(6),
  { at: '2026-03-14T09:30:07.000Z', failure: 'There is no outbox.' },
  statusAt(8),
];

describe('status --watch', () => {
  test('without a terminal prints a line for each change, and none while only durations change', () => {
    const printed: string[] = [];
    const show = printChanges((text) => printed.push(text));
    const countAfter = statuses.map((one) => {
      show(one);
      return printed.length;
    });
    expect(countAfter.map((count, index) => count - (countAfter[index - 1] ?? 0) > 0)).toEqual([
      ...[true, false, true, true, false],
      ...[true, true, true, true],
    ]);
    const lines = printed.map((text) => text.trimEnd());
    expect(lines).toContain('2026-03-14T09:30:02Z  Reboot of this VM: Scheduled, not before 09:45 UTC (EVENT-1)');
    expect(lines).toContain('2026-03-14T09:30:03Z  Event Hubs: retrying');
    expect(lines).toContain('2026-03-14T09:30:05Z  Event Hubs: idle');
    expect(lines).toContain('2026-03-14T09:30:05Z  Reboot of this VM: Started, not before 09:45 UTC (EVENT-1)');
    expect(lines).toContain(
      '2026-03-14T09:30:06Z  No longer listed: Reboot of this VM: Started, not before 09:45 UTC (EVENT-1)',
    );
    expect(lines).toContain('2026-03-14T09:30:07Z  There is no outbox.');
  });

  test('with --json prints each status that differs, as one line', () => {
    const printed: string[] = [];
    const show = printJsonChanges((text) => printed.push(text), 1);
    for (const one of statuses) show(one);
    const documents = printed.map((line) => JSON.parse(line));
    expect(printed.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
    expect(documents.map(({ statusVersion, at }) => [statusVersion, at.slice(17, 19)])).toEqual(
      ['00', '02', '03', '05', '06', '07', '08'].map((second) => [1, second]),
    );
  });

  test('on a terminal draws each status over the one before, and no more lines than fit', () => {
    const written: string[] = [];
    const screen = createScreen((text) => written.push(text), false);
    const show = drawStatus(screen, () => 8);
    for (const one of statuses.slice(0, 2)) show(one);
    const [first = '', second = ''] = written;
    expect(first.split('\n')[0]).toContain('Running; both destinations are up to date.');
    expect(first).toContain('2026-03-14T09:30:00Z, every second; Ctrl+C ends it.');
    expect(first.split('\n')).toHaveLength(9);
    expect(second).toMatch(/^.\[8A/);
  });

  test('reads once a second until it is stopped, also where a status cannot be read', async () => {
    const clock = createFakeClock('2026-03-14T09:30:00.000Z');
    const stop = new AbortController();
    const shown: WatchedStatus[] = [];
    let reads = 0;
    const read = async (): Promise<Status> => {
      reads += 1;
      if (reads === 2) throw new Failure('noOutbox', 'There is no outbox.');
      return statusAt(reads);
    };
    const watching = watchStatus({ read, show: (one) => shown.push(one), clock, stop: stop.signal });
    await clock.advance(2_500);
    stop.abort();
    await watching;
    expect(shown).toEqual([
      statusAt(1),
      { at: '2026-03-14T09:30:01.000Z', failure: 'There is no outbox.' },
      statusAt(3),
    ]);
  });

  test('ends where the first status cannot be read', async () => {
    const failure = new Failure('noOutbox', 'There is no outbox.');
    const options = { show: () => {}, clock: createFakeClock(), stop: new AbortController().signal };
    await expect(watchStatus({ ...options, read: () => Promise.reject(failure) })).rejects.toBe(failure);
  });
});

import { describe, expect, test } from 'vitest';
import { createOutboxLog, type OutboxLog } from '../../../src/outbox/store/outbox-log.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';

interface Logged {
  readonly at: number;
  readonly code: unknown;
  readonly part: unknown;
  readonly message: string;
}

function createLogged(): { readonly clock: FakeClock; readonly logged: Logged[]; readonly outboxLog: OutboxLog } {
  const clock = createFakeClock();
  const began = clock.monotonicMs();
  const logged: Logged[] = [];
  const write = (fields: object, message: string): void => {
    logged.push({
      at: (clock.monotonicMs() - began) / 1000,
      code: 'code' in fields ? fields.code : null,
      part: 'part' in fields ? fields.part : null,
      message,
    });
  };
  const log = { debug: write, info: write, warn: write, error: write, child: () => log };
  return { clock, logged, outboxLog: createOutboxLog({ log, clock, directory: '/var/lib/bridge' }) };
}

const since = '2026-01-01T00:00:00.000Z';
const full = { kind: 'full', code: 'sqlite-13', reason: 'database or disk is full', since } as const;
const readOnly = { kind: 'unavailable', code: 'EROFS', reason: 'the disk is read-only', since } as const;

const brief = (logged: readonly Logged[]): unknown[] => logged.map(({ at, code }) => [at, code]);

describe('a disk that takes no writes', () => {
  test('is logged at once, every ten minutes while it lasts, and when it recovers', async () => {
    const { clock, logged, outboxLog } = createLogged();
    for (let second = 0; second < 1300; second += 1) {
      outboxLog.storage(full, second);
      await clock.advance(1_000);
    }
    outboxLog.storage(null, 0);
    outboxLog.storage(null, 0);
    expect(brief(logged)).toEqual([
      [0, 'sqlite-13'],
      [600, 'sqlite-13'],
      [1200, 'sqlite-13'],
      [1300, 'writable'],
    ]);
    expect(new Set(logged.map(({ part }) => part))).toEqual(new Set(['outbox']));
    expect(logged.map(({ message }) => message)).toEqual([
      'The outbox in /var/lib/bridge cannot be written (database or disk is full): records are kept in memory and sent from there until it can. Free some space on that disk.',
      `The outbox in /var/lib/bridge has not been written since ${since} (database or disk is full): 600 records are only in memory and are lost when this process ends. Free some space on that disk.`,
      expect.stringContaining('1200 records are only in memory'),
      `The outbox in /var/lib/bridge is being written again; it was not since ${since}.`,
    ]);
  });

  test('that recovers every second is logged once a minute', async () => {
    const { clock, logged, outboxLog } = createLogged();
    for (let second = 0; second < 121; second += 1) {
      outboxLog.storage(full, 0);
      outboxLog.storage(null, 0);
      await clock.advance(1_000);
    }
    expect(brief(logged)).toEqual(
      [0, 60, 120].flatMap((at) => [
        [at, 'sqlite-13'],
        [at, 'writable'],
      ]),
    );
  });

  test('soon after a recovery is logged a minute later, if it still lasts', async () => {
    const { clock, logged, outboxLog } = createLogged();
    outboxLog.storage(full, 0);
    outboxLog.storage(null, 0);
    for (let second = 0; second < 90; second += 1) {
      await clock.advance(1_000);
      outboxLog.storage(full, 0);
    }
    expect(brief(logged)).toEqual([
      [0, 'sqlite-13'],
      [0, 'writable'],
      [60, 'sqlite-13'],
    ]);
  });

  test('for a new reason is logged with that reason and its remedy', () => {
    const { logged, outboxLog } = createLogged();
    outboxLog.storage(full, 0);
    outboxLog.storage(readOnly, 0);
    expect(logged.at(-1)?.message).toContain('Mount that disk writable');
  });

  test.each([
    { code: 'in-use', remedy: 'It continues by itself when that one has ended.' },
    { code: 'earlier-outbox', remedy: 'No action is needed.' },
  ])('for $code says that it ends by itself', ({ code, remedy }) => {
    const { logged, outboxLog } = createLogged();
    outboxLog.storage({ kind: 'unavailable', code, reason: 'the reason', since }, 0);
    expect(logged[0]?.message.endsWith(` until it can. ${remedy}`)).toBe(true);
  });
});

test('pruning that fails for an hour is not logged every minute', async () => {
  const { clock, logged, outboxLog } = createLogged();
  for (let minute = 0; minute < 60; minute += 1) {
    outboxLog.maintenance(readOnly);
    await clock.advance(60_000);
  }
  outboxLog.maintenance(null);
  expect(brief(logged)).toEqual([...[0, 600, 1200, 1800, 2400, 3000].map((at) => [at, 'EROFS']), [3600, 'maintained']]);
  expect(logged[1]?.message).toBe('Pruning the outbox has been failing for 600 s (the disk is read-only).');
});

test('every discarded record is logged, those within the rate limit after it', async () => {
  const { clock, logged, outboxLog } = createLogged();
  for (let second = 0; second < 4; second += 1) {
    outboxLog.expired(3);
    await clock.advance(1_000);
  }
  for (let second = 4; second < 30; second += 1) {
    outboxLog.storage(null, 0);
    await clock.advance(1_000);
  }
  expect(logged.map(({ at, message }) => [at, message.match(/\d+ records/)?.[0]])).toEqual([
    [0, '3 records'],
    [10, '9 records'],
  ]);
});

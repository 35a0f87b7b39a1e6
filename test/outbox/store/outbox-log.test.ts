import { describe, expect, test } from 'vitest';
import { createOutboxLog, type OutboxLog } from '../../../src/outbox/store/outbox-log.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';

interface Said {
  readonly at: number;
  readonly code: unknown;
  readonly message: string;
}

function createTold(): { readonly clock: FakeClock; readonly said: Said[]; readonly outboxLog: OutboxLog } {
  const clock = createFakeClock();
  const began = clock.monotonicMs();
  const said: Said[] = [];
  const write = (fields: object, message: string): void => {
    said.push({
      at: (clock.monotonicMs() - began) / 1000,
      code: 'code' in fields ? fields.code : null,
      message,
    });
  };
  const log = { debug: write, info: write, warn: write, error: write, child: () => log };
  return { clock, said, outboxLog: createOutboxLog({ log, clock, directory: '/var/lib/bridge' }) };
}

const since = '2026-01-01T00:00:00.000Z';
const full = { kind: 'full', code: 'sqlite-13', reason: 'database or disk is full', since } as const;
const readOnly = { kind: 'unavailable', code: 'EROFS', reason: 'the disk is read-only', since } as const;

const brief = (said: readonly Said[]): unknown[] => said.map(({ at, code }) => [at, code]);

describe('a disk that takes no writes', () => {
  test('is said at once, every ten minutes while it lasts, and when it is over', async () => {
    const { clock, said, outboxLog } = createTold();
    for (let second = 0; second < 1300; second += 1) {
      outboxLog.storage(full, second);
      await clock.advance(1_000);
    }
    outboxLog.storage(null, 0);
    outboxLog.storage(null, 0);
    expect(brief(said)).toEqual([
      [0, 'sqlite-13'],
      [600, 'sqlite-13'],
      [1200, 'sqlite-13'],
      [1300, 'writable'],
    ]);
    expect(said.map(({ message }) => message)).toEqual([
      'The outbox in /var/lib/bridge cannot be written (database or disk is full): records are kept in memory and sent from there until it can. Free some space on that disk.',
      `The outbox in /var/lib/bridge has not been written since ${since} (database or disk is full): 600 records are only in memory and are lost when this process ends. Free some space on that disk.`,
      expect.stringContaining('1200 records are only in memory'),
      `The outbox in /var/lib/bridge is being written again; it was not since ${since}.`,
    ]);
  });

  test('and does again all the time does not fill itself with what is said about it', async () => {
    const { clock, said, outboxLog } = createTold();
    for (let second = 0; second < 121; second += 1) {
      outboxLog.storage(full, 0);
      outboxLog.storage(null, 0);
      await clock.advance(1_000);
    }
    expect(brief(said)).toEqual(
      [0, 60, 120].flatMap((at) => [
        [at, 'sqlite-13'],
        [at, 'writable'],
      ]),
    );
  });

  test('again, soon after it was well, is said when a minute is over, if it lasts so long', async () => {
    const { clock, said, outboxLog } = createTold();
    outboxLog.storage(full, 0);
    outboxLog.storage(null, 0);
    for (let second = 0; second < 90; second += 1) {
      await clock.advance(1_000);
      outboxLog.storage(full, 0);
    }
    expect(brief(said)).toEqual([
      [0, 'sqlite-13'],
      [0, 'writable'],
      [60, 'sqlite-13'],
    ]);
  });

  test('for another reason than before says the other one, with what to do about it', () => {
    const { said, outboxLog } = createTold();
    outboxLog.storage(full, 0);
    outboxLog.storage(readOnly, 0);
    expect(said.at(-1)?.message).toContain('Mount that disk writable');
  });
});

test('tidying that fails for an hour is not said every minute', async () => {
  const { clock, said, outboxLog } = createTold();
  for (let minute = 0; minute < 60; minute += 1) {
    outboxLog.maintenance(readOnly);
    await clock.advance(60_000);
  }
  outboxLog.maintenance(null);
  expect(brief(said)).toEqual([...[0, 600, 1200, 1800, 2400, 3000].map((at) => [at, 'EROFS']), [3600, 'maintained']]);
});

test('every record that is given up is said, those of a quiet window after it', async () => {
  const { clock, said, outboxLog } = createTold();
  for (let second = 0; second < 4; second += 1) {
    outboxLog.expired(3);
    await clock.advance(1_000);
  }
  for (let second = 4; second < 30; second += 1) {
    outboxLog.storage(null, 0);
    await clock.advance(1_000);
  }
  expect(said.map(({ at, message }) => [at, message.match(/\d+ records/)?.[0]])).toEqual([
    [0, '3 records'],
    [10, '9 records'],
  ]);
});

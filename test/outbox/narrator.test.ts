import { expect, test } from 'vitest';
import { createNarrator } from '../../src/outbox/narrator.ts';
import { createFakeClock } from '../support/fake-clock.ts';

test('a disk that fails and recovers all the time does not fill itself with what is said about it', async () => {
  const clock = createFakeClock();
  const lines: { readonly leftOut: number; readonly message: string }[] = [];
  const write = (fields: object, message: string): void => {
    lines.push({ leftOut: 'leftOut' in fields ? Number(fields.leftOut) : 0, message });
  };
  const log = { debug: write, info: write, warn: write, error: write, child: () => log };
  const narrator = createNarrator({ log, clock, directory: '/var/lib/bridge' });
  for (let second = 0; second < 21; second += 1) {
    narrator.troubled({ kind: 'full', code: 'sqlite-13', reason: 'database or disk is full' });
    narrator.mended(clock.now().toISOString());
    narrator.expired(3);
    await clock.advance(1_000);
  }
  expect(lines.map(({ leftOut }) => leftOut)).toEqual([0, 0, 0, 9, 9, 9, 9, 9, 9]);
  expect(lines[0]?.message).toBe(
    'The outbox in /var/lib/bridge cannot be written (database or disk is full): records are kept in memory and sent from there until it can. Free some space on that disk.',
  );
});

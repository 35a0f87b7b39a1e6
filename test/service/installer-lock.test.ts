import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { alone } from '../../src/service/installer-lock.ts';
import { until } from '../support/until.ts';
import { createHarness, refusalOf } from './harness.ts';

test('installers take turns', async () => {
  using harness = createHarness();
  let atWork = 0;
  const seen: number[] = [];
  const work = async (): Promise<void> => {
    atWork += 1;
    seen.push(atWork);
    await setImmediate();
    atWork -= 1;
  };
  const { lock } = harness.places;
  await Promise.all([1, 2, 3].map(() => alone(lock, { clock: systemClock, timeoutMs: 20_000 }, work)));
  expect(seen).toEqual([1, 1, 1]);
  expect(existsSync(lock)).toBe(false);
});

test('an installer that hangs is waited for with a time-out', async () => {
  using harness = createHarness();
  const { lock } = harness.places;
  const { clock } = harness;
  const refusal = await alone(lock, { clock, timeoutMs: 0 }, () =>
    refusalOf(harness.install({ from: harness.package('1.0.0') })),
  );
  expect(refusal).toMatchObject({ reason: 'busy', message: expect.stringContaining('Another installation') });
  expect(existsSync(harness.places.home)).toBe(false);
});

test('the lock of an installer that was killed is free', async () => {
  using harness = createHarness();
  const { lock } = harness.places;
  const holder = `const db = new (require('node:sqlite').DatabaseSync)(process.argv[1]); db.exec('BEGIN EXCLUSIVE'); console.log('held'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--no-warnings', '-e', holder, lock], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const held = await refusalOf(alone(lock, { clock: harness.clock, timeoutMs: 0 }, async () => 'done'));
  expect(held.reason).toBe('busy');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await alone(lock, { clock: harness.clock, timeoutMs: 0 }, async () => 'done')).toBe('done');
});

test('a lock whose file was removed while it was held still keeps the next installer out', async () => {
  using harness = createHarness();
  const { lock } = harness.places;
  const order: string[] = [];
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const first = alone(lock, { clock: harness.clock, timeoutMs: 0 }, async () => {
    order.push('first');
    await released;
  });
  await until(() => order.length === 1);
  const second = alone(lock, { clock: harness.clock, timeoutMs: 1e9 }, async () => void order.push('second'));
  release();
  await Promise.all([first, second]);
  expect(order).toEqual(['first', 'second']);
  expect(existsSync(lock)).toBe(false);
});

test('a lock file that is no database is no lock', async () => {
  using harness = createHarness();
  writeFileSync(harness.places.lock, 'nonsense that is long enough to be taken for a header');
  await expect(alone(harness.places.lock, { clock: harness.clock, timeoutMs: 0 }, async () => 'done')).rejects.toThrow(
    /not a database/,
  );
  rmSync(harness.places.lock);
});

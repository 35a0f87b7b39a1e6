import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { createFreezer } from '../../../src/azure-simulator/cli/freezer.ts';
import { until } from '../../support/until.ts';

/** A process that does nothing. */
function sleeper() {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  onTestFinished(() => void child.kill('SIGKILL'));
  const pid = child.pid ?? 0;
  /** `T`: stopped. */
  const state = () => /\) (.)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
  return { child, pid, isStopped: () => state() === 'T', goesOn: () => state() !== 'T' };
}

const noProc = process.platform === 'linux' ? '' : 'no /proc here to see in whether a process stands still';
if (noProc) console.log(`  skipped: freezing a process: ${noProc}`);

test.skipIf(noProc)(
  'a process is stopped while it is frozen, and overlapping freezes end with the later one',
  async () => {
    const { pid, isStopped, goesOn } = sleeper();
    const freezer = createFreezer(pid);
    expect([freezer.freeze(0.2), freezer.freeze(0.01)]).toEqual([true, true]);
    await until(isStopped);
    await until(goesOn);
    freezer.close();
  },
);

test.skipIf(noProc)('a frozen process continues when the process that froze it ends', async () => {
  const { pid, isStopped, goesOn } = sleeper();
  const freezer = createFreezer(pid);
  freezer.freeze(3600);
  await until(isStopped);
  freezer.close();
  await until(goesOn);
});

test('a process that has ended is not frozen', async () => {
  const { child, pid } = sleeper();
  const freezer = createFreezer(pid);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
  expect(freezer.freeze(1)).toBe(false);
  freezer.close();
});

test('a pid that is not another process is refused', () => {
  expect(() => createFreezer(process.pid)).toThrow(/is this process itself/);
  expect(() => createFreezer(2 ** 30)).toThrow(/there is no process 1073741824/);
});

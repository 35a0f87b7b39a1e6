import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { until } from '../support/until.ts';
import { runInOwnProcess } from './own-process.ts';

/** Tests of their own, in JavaScript: the process in which a test runs imports them. */
const tests = `
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
const startProgram = ({ directory }) => {
  const { pid } = spawn('sleep', ['1000'], { stdio: 'ignore' });
  writeFileSync(join(directory, 'pid'), String(pid));
};
const aborted = (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
export const faultTests = [
  { id: 'completes', run: async ({ seed, say }) => { say('one'); say('two'); return { lost: seed }; } },
  { id: 'throws', run: async () => { throw new Error('no simulator'); } },
  { id: 'exits', run: async () => process.exit(3) },
  { id: 'leaves-a-program', run: async (context) => { startProgram(context); return { lost: 0 }; } },
  { id: 'ignores-the-signal', run: async (context) => { startProgram(context); await new Promise(() => setInterval(() => {}, 1000)); } },
  {
    id: 'cleans-up',
    async run({ directory, signal }) {
      writeFileSync(join(directory, 'began'), '');
      setInterval(() => {}, 1000);
      try { await aborted(signal); } finally { writeFileSync(join(directory, 'cleaned-up'), ''); }
    },
  },
  {
    id: 'judges-what-it-played',
    async run({ directory, signal }) {
      writeFileSync(join(directory, 'began'), '');
      setInterval(() => {}, 1000);
      await aborted(signal).catch(() => {});
      return { lost: 2, played: 3 };
    },
  },
];
`;

async function play(directory: string, id: string, options: { signal?: AbortSignal; grace?: number } = {}) {
  const module = join(directory, 'tests.mjs');
  writeFileSync(module, tests);
  const said: string[] = [];
  const { signal = new AbortController().signal, grace = 20_000 } = options;
  const assignment = { module, id, cases: 1, seed: 5, directory, program: 'main.cjs', sources: 'src' };
  const completed = await runInOwnProcess(assignment, { signal, say: (line) => said.push(line) }, grace);
  return { ...completed, said };
}

const hasEnded = (pid: number): boolean => {
  try {
    // A process that its parent has not waited for has ended, too.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[2] === 'Z';
  } catch {
    return true;
  }
};
const pidIn = (directory: string): number => Number(readFileSync(join(directory, 'pid'), 'utf8'));

test('a test in a process of its own has its outcome, what it says and its processor time', async () => {
  using directory = temporaryDirectory('own-process');
  const { outcome, said, processorSeconds } = await play(directory.path, 'completes');
  expect(outcome).toEqual({ lost: 5 });
  expect(said).toEqual(['one', 'two']);
  expect(processorSeconds).toBeGreaterThan(0);
});

test.for([
  ['throws', 'no simulator'],
  ['exits', 'the process of the test ended with exit code 3'],
  ['unknown', 'there is no test unknown'],
] as const)('a test that %s is rejected with its reason', async ([id, message]) => {
  using directory = temporaryDirectory('own-process');
  await expect(play(directory.path, id)).rejects.toThrow(message);
});

test('a program that a test leaves behind is ended', async () => {
  using directory = temporaryDirectory('own-process');
  await play(directory.path, 'leaves-a-program');
  await until(() => hasEnded(pidIn(directory.path)), { what: 'end of the program' });
});

test('an interrupted test may clean up', async () => {
  using directory = temporaryDirectory('own-process');
  const stop = new AbortController();
  const playing = play(directory.path, 'cleans-up', { signal: stop.signal });
  await until(() => existsSync(join(directory.path, 'began')), { what: 'start of the test' });
  stop.abort();
  await expect(playing).rejects.toThrow();
  expect(existsSync(join(directory.path, 'cleaned-up'))).toBe(true);
});

test('an interrupted test that can judge what it played has that outcome', async () => {
  using directory = temporaryDirectory('own-process');
  const stop = new AbortController();
  const playing = play(directory.path, 'judges-what-it-played', { signal: stop.signal });
  await until(() => existsSync(join(directory.path, 'began')), { what: 'start of the test' });
  stop.abort();
  expect((await playing).outcome).toEqual({ lost: 2, played: 3 });
});

test('an interrupted test that does not end is killed with what it started', async () => {
  using directory = temporaryDirectory('own-process');
  const stop = new AbortController();
  const playing = play(directory.path, 'ignores-the-signal', { signal: stop.signal, grace: 100 });
  await until(() => existsSync(join(directory.path, 'pid')) && pidIn(directory.path) > 0, { what: 'start' });
  stop.abort();
  await expect(playing).rejects.toThrow();
  await until(() => hasEnded(pidIn(directory.path)), { what: 'end of the program' });
});

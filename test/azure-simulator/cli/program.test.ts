import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { createProgram } from '../../../src/azure-simulator/cli/program.ts';
import { type ExitReason, exitCodes } from '../../../src/cli/exit-codes.ts';
import { cleanEnvironment, simulatorFile } from '../../support/program.ts';
import { until } from '../../support/until.ts';

/** Starts the real command line. */
function start(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [simulatorFile, ...args], { env: { ...cleanEnvironment(), ...env } });
  const result = { out: '', err: '', child, ended: () => child.exitCode !== null || child.signalCode !== null };
  child.stdout.on('data', (data) => (result.out += data));
  child.stderr.on('data', (data) => (result.err += data));
  return result;
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const result = start(args, env);
  await new Promise((resolve) => result.child.once('close', resolve));
  return { out: result.out, err: result.err, code: result.child.exitCode };
}

const mistakes: readonly { args: readonly string[]; message: RegExp; ends: ExitReason }[] = [
  { args: [], message: /^Usage: scheduled-events-simulator /, ends: 'usage' },
  {
    args: ['simulate', '--speed', '0'],
    message: /^error: .*Expected a number from 0\.1 to 100000\..*\n$/,
    ends: 'usage',
  },
  {
    args: ['simulate', 'frezee'],
    message: /^There is no scenario "frezee"; did you mean freeze\? simulate --list shows all\.\n$/,
    ends: 'usage',
  },
];

test('version prints the name and version of the simulator', async () => {
  const { out, code } = await run(['version']);
  expect(out).toMatch(/^scheduled-events-simulator \d+\.\d+\.\d+ \(Node \d/);
  expect(code).toBe(0);
});

test.for(mistakes)('the simulator with $args ends as $ends and prints the reason', async ({ args, message, ends }) => {
  expect(await run(args)).toEqual({ out: '', err: expect.stringMatching(message), code: exitCodes[ends].code });
});

test('every command of the simulator has help with its exit codes, no wider than 80 columns', () => {
  let help = '';
  const print = (text: string): void => {
    help += text;
  };
  const program = createProgram({ env: {}, stop: new AbortController().signal, print });
  expect(program.commands.map((command) => command.name())).toEqual(['simulate', 'demo', 'version']);
  for (const command of [program, ...program.commands]) {
    help = '';
    command.outputHelp();
    expect(command.description()).not.toBe('');
    expect(help).toMatch(/Exit codes:\n {2}0 .*\n {2}1 .*\n {2}2 /);
    const codes = [...help.matchAll(/^ {2}(\d+) {2}/gm)].map(([, code]) => Number(code));
    expect(codes).toEqual(codes.toSorted((a, b) => a - b));
    expect(help.split('\n').filter((line) => line.length > 80)).toEqual([]);
  }
});

test('an uncaught exception ends the process with a stack and code unexpected', async () => {
  const mistake = 'data:text/javascript,setTimeout(() => { throw new Error("boom"); }, 100)';
  const { err, code } = await run(['simulate', '--json', '--port', '0'], {
    NODE_OPTIONS: `--import=${encodeURI(mistake)}`,
  });
  expect(err).toMatch(/^Unexpected error: Error: boom\n {4}at /);
  expect(code).toBe(exitCodes.unexpected.code);
});

test('continues when the reader of stdout has closed', async () => {
  const simulate = start(['simulate', 'preempt', '--port', '0']);
  simulate.child.stdout.destroy();
  await until(() => simulate.child.stdout.closed);
  simulate.child.kill('SIGTERM');
  await until(simulate.ended);
  expect(simulate.err).toBe('');
});

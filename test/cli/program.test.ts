import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { type ExitReason, exitCodes } from '../../src/cli/exit-codes.ts';
import { createProgram } from '../../src/cli/program.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { cleanEnvironment, mainFile } from '../support/program.ts';
import { until } from '../support/until.ts';

/** Starts the real command line. */
function start(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [mainFile, ...args], { env: { ...cleanEnvironment(), ...env } });
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

test('version prints the version of package.json', async () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
  expect(await run(['version'])).toEqual({
    out: `scheduled-events-bridge ${version} (Node ${process.versions.node}, ${process.platform}-${process.arch})\n`,
    err: '',
    code: 0,
  });
  expect((await run(['--version'])).out).toBe(`${version}\n`);
});

const mistakes: readonly { args: readonly string[]; env?: NodeJS.ProcessEnv; message: RegExp; ends: ExitReason }[] = [
  { args: [], message: /^Usage: scheduled-events-bridge /, ends: 'usage' },
  {
    args: ['runn'],
    message: /^error: unknown command 'runn' \(Did you mean run\? --help shows all options\)\n$/,
    ends: 'usage',
  },
  { args: ['bogus', '--help'], message: /^error: unknown command 'bogus' /, ends: 'usage' },
  {
    args: ['config', 'validate'],
    message: /^error: unknown command 'validate': use check --offline \(--help shows all options\)\n$/,
    ends: 'usage',
  },
  { args: ['config', 'validate', '--help'], message: /^error: unknown command 'validate': use check /, ends: 'usage' },
  { args: ['run', '--config', ''], message: /--config needs a file name\./, ends: 'usage' },
  { args: ['status', '--config', ''], message: /--config needs a file name\./, ends: 'usage' },
  {
    args: ['config', 'init', '--sink', 'stdout', '--auth', 'managed-identity'],
    message: /^--auth managed-identity applies to event-hubs, http, log-analytics: stdout needs no --auth\.\n$/,
    ends: 'usage',
  },
  {
    args: ['outbox', 'list', '--limit', '0'],
    message: /is invalid\. Expected a whole number from 1 on\. \(--help shows all options\)\n$/,
    ends: 'usage',
  },
  { args: ['version', '--fast'], message: /^error: unknown option '--fast'.*\n$/, ends: 'usage' },
  {
    args: ['run', '--config', '/no/such.json'],
    message: /^The configuration is wrong: There is no configuration file .*\n$/,
    ends: 'configuration',
  },
  {
    args: ['run'],
    env: { SCHEDULED_EVENTS_BRIDGE_LOG_LEVEL: 'loud', SCHEDULED_EVENTS_BRIDGE_CONFIG: '/dev/null' },
    message: /^The configuration is wrong: \/dev\/null is not JSON: it is empty; expected at least \{\}\.\n$/,
    ends: 'configuration',
  },
  {
    args: ['run'],
    env: {
      SCHEDULED_EVENTS_BRIDGE_LOG_LEVEL: 'loud',
      SCHEDULED_EVENTS_BRIDGE_HTTP_PORT: '-1',
      SCHEDULED_EVENTS_BRIDGE_SINKS_STDOUT: '{}',
    },
    message: /^The configuration has \d problems: http\.port is -1 in .*\n {2}- log\.level is "loud" in /,
    ends: 'configuration',
  },
  {
    args: ['run'],
    env: { SCHEDULED_EVENTS_BRIDGE_SINKS_STDOUT: '{}', SCHEDULED_EVENTS_BRIDGE_TLS_CA_FILE: '/no/such.pem' },
    message:
      /^tls\.caFile is "\/no\/such\.pem" in the environment variable SCHEDULED_EVENTS_BRIDGE_TLS_CA_FILE: there is no such file; expected a PEM file of certificates\.\n$/,
    ends: 'configuration',
  },
];

test.for(mistakes)('$args is answered with what is wrong and code $ends', async ({ args, env = {}, message, ends }) => {
  const { out, err, code } = await run(args, env);
  expect(err).toMatch(message);
  expect(out).toBe('');
  expect(code).toBe(exitCodes[ends].code);
});

test('every command has help with its purpose and its exit codes', () => {
  const program = createProgram({ env: {}, stop: new AbortController().signal, print: () => {} });
  const verbs = program.commands.map((command) => command.name());
  expect(verbs).toEqual([
    'run',
    'check',
    'status',
    'config',
    'service',
    'outbox',
    'approve',
    'emit-test',
    'record',
    'tail',
    'extension',
    'version',
  ]);
  for (const command of [program, ...program.commands]) {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) });
    expect(command.description()).not.toBe('');
    command.outputHelp();
    expect(help).toMatch(/Exit codes:\n {2}0 .*\n {2}1 .*\n {2}2 /);
  }
});

test('no two reasons to end share an exit code', () => {
  const codes = Object.values(exitCodes).map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
});

test('no help is wider than 80 columns', () => {
  let out = '';
  const print = (text: string): void => {
    out += text;
  };
  const showHelp = (command: Command): void => {
    command.outputHelp();
    for (const inner of command.commands) showHelp(inner);
  };
  showHelp(createProgram({ env: {}, stop: new AbortController().signal, print }));
  const lines = out.split('\n');
  expect(lines.length).toBeGreaterThan(200);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});

const toClosedPort = ['--endpoint', 'http://127.0.0.1:9'];

test('an uncaught exception ends the bridge with a stack and code unexpected', async () => {
  using directory = temporaryDirectory('program');
  const mistake = 'data:text/javascript,setTimeout(() => { throw new Error("boom"); }, 500)';
  const env = { NODE_OPTIONS: `--import=${encodeURI(mistake)}` };
  const { err, code } = await run(['record', join(directory.path, 'recording'), ...toClosedPort], env);
  expect(err).toMatch(/^Unexpected error: Error: boom\n {4}at /);
  expect(code).toBe(exitCodes.unexpected.code);
});

test('the bridge continues when the reader of its stdout has closed, and exits with 0 when it is stopped', async () => {
  using directory = temporaryDirectory('program');
  const file = join(directory.path, 'recording');
  const record = start(['record', file, ...toClosedPort]);
  record.child.stdout.destroy();
  await until(() => existsSync(file) && readFileSync(file, 'utf8').split('\n').length > 2);
  record.child.kill('SIGTERM');
  await until(record.ended);
  expect([record.err, record.child.exitCode]).toEqual(['', exitCodes.ok.code]);
});

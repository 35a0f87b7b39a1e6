import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import type { Clock } from '../src/clock.ts';
import { createLog, createRateLimit, type LogDestination } from '../src/log.ts';
import { openDestination } from '../src/process/log-destination.ts';
import { until } from './support/until.ts';

function collect(): LogDestination & { readonly lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  return { lines, write: (line) => void lines.push(JSON.parse(line)) };
}

test('a line of the log is one JSON object with time, level, fields and message', () => {
  const destination = collect();
  createLog({ level: 'info', destination }).child({ part: 'relay' }).warn({ sink: 'stdout' }, 'it rains');
  expect(destination.lines).toEqual([
    { level: 'warn', time: expect.stringMatching(/^\d{4}-.*Z$/), part: 'relay', sink: 'stdout', msg: 'it rains' },
  ]);
});

test('the log leaves out what is below its level', () => {
  const destination = collect();
  const log = createLog({ level: 'warn', destination });
  log.info({}, 'no');
  log.debug({}, 'no');
  log.error({}, 'yes');
  expect(destination.lines.map((line) => line.msg)).toEqual(['yes']);
});

test('an error is logged without what hangs on it, which may be megabytes of records', () => {
  const destination = collect();
  const error = Object.assign(new Error('upload failed', { cause: new TypeError('socket hang up') }), {
    code: 'ECONNRESET',
    failedLogs: [{ secret: 'record' }],
  });
  createLog({ level: 'info', destination }).error({ error }, 'it failed');
  expect(destination.lines[0]).toMatchObject({
    error: { name: 'Error', message: 'upload failed', code: 'ECONNRESET', cause: 'TypeError: socket hang up' },
  });
  expect(JSON.stringify(destination.lines)).not.toContain('failedLogs');
});

test('on a terminal the log is formatted for reading', () => {
  const written: string[] = [];
  const destination = { write: (line: string) => void written.push(line) };
  const pretty = (line: string) => `- ${JSON.parse(line).msg}\n`;
  createLog({ level: 'info', destination, pretty }).info({}, 'hello');
  expect(written).toEqual(['- hello\n']);
});

test('a reason is logged once a window, with the number of times that it was left out', () => {
  let ms = 0;
  const clock: Clock = { now: () => new Date(ms), monotonicMs: () => ms, sleep: async () => {} };
  const limit = createRateLimit({ clock, everyMs: 60_000 });
  const lines: string[] = [];
  for (const [at, reason] of [
    [0, 'timeout'],
    [1_000, 'timeout'],
    [2_000, 'http-503'],
    [59_999, 'timeout'],
    [60_000, 'timeout'],
    [61_000, 'timeout'],
  ] as const) {
    ms = at;
    limit(reason, (leftOut) => lines.push(`${at} ${reason} ${leftOut}`));
  }
  expect(lines).toEqual(['0 timeout 0', '2000 http-503 0', '60000 timeout 2']);
});

test('a rate limit remembers at most 500 reasons', () => {
  const clock: Clock = { now: () => new Date(0), monotonicMs: () => 0, sleep: async () => {} };
  const limit = createRateLimit({ clock, everyMs: 60_000 });
  let lines = 0;
  for (let i = 0; i <= 500; i += 1) limit(`reason ${i}`, () => (lines += 1));
  limit('reason 500', () => (lines += 1));
  expect(lines).toBe(501);
  limit('reason 0', () => (lines += 1));
  expect(lines).toBe(502);
});

test('lines written to a file are all in it', () => {
  const directory = mkdtempSync(join(tmpdir(), 'log-'));
  const file = join(directory, 'log');
  const fd = openSync(file, 'a');
  const destination = openDestination({ fd, maxBytes: 1024 * 1024 });
  for (let i = 0; i < 100; i += 1) destination.write(`line ${i}\n`);
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(101);
  destination.close();
  closeSync(fd);
  rmSync(directory, { recursive: true });
});

/**
 * Runs a child that logs 3 MB and says on stdout when it has finished and its event loop still runs, while its stderr is not read; then it is asked
 * on stdin to log one more line and to end. `through` connects its stderr.
 */
function startLogger(through: 'socket' | 'pipe') {
  const source = `
    import { openLog } from ${JSON.stringify(join(import.meta.dirname, '../src/process/open-log.ts'))};
    const log = await openLog('info');
    for (let i = 0; i < 3000; i += 1) log.info({ i, filler: 'x'.repeat(1000) }, 'noise');
    setTimeout(() => process.stdout.write('turning\\n'), 20);
    process.stdin.on('data', (data) => {
      log.info({}, String(data).trim());
      setTimeout(() => process.exit(0), 200);
    });
  `;
  const node = [process.execPath, '--input-type=module', '-e', source];
  // A child of Node gets a socket as stderr. The shell's pipe is read only once fd 3 says so.
  const shell = ['sh', '-c', '{ { "$@" 2>&1 >&4; echo ended >&4; } | { read go <&3; cat >&2; }; } 4>&1', 'sh', ...node];
  const [command = '', ...rest] = through === 'socket' ? node : shell;
  const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
  const gate = child.stdio[3] as Writable;
  gate.on('error', () => {});
  return Object.assign(child, { gate });
}

test.for(['socket', 'pipe'] as const)(
  'a reader of stderr that sleeps stops nothing: %s',
  { skip: process.platform === 'win32' },
  async (through) => {
    const child = startLogger(through);
    let out = '';
    let logged = '';
    child.stdout?.on('data', (data) => (out += data));
    await until(() => out.includes('turning'), { what: 'the process to continue while stderr is not read' });

    child.stderr?.on('data', (data) => (logged += data));
    child.gate.write('go\n');
    await until(() => logged.includes('were dropped'), { what: 'the number of dropped lines' });
    child.stdin?.end('last words\n');
    await until(() => child.exitCode !== null, { what: 'the process to end' });
    await until(() => logged.includes('last words'), { what: 'the line logged just before the end' });

    const lines = logged
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const kept = lines.filter((line) => line.msg === 'noise').length;
    const dropped = lines.find((line) => line.lines !== undefined)?.lines;
    expect(kept + dropped).toBe(3000);
    expect(lines.map((line) => line.i).filter((i) => i !== undefined)).toEqual(
      Array.from({ length: kept }, (_, i) => i),
    );
  },
);

test.for(['socket', 'pipe'] as const)(
  'a process ends although its log is never read: %s',
  { skip: process.platform === 'win32' },
  async (through) => {
    const child = startLogger(through);
    let out = '';
    child.stdout?.on('data', (data) => (out += data));
    await until(() => out.includes('turning'), { what: 'the process to continue while stderr is not read' });
    child.stdin?.end('end\n');
    await until(() => out.includes('ended') || child.exitCode !== null, { what: 'the process to end' });
    child.kill();
    child.gate.end();
    child.stderr?.resume();
  },
);

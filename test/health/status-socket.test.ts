import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { askService } from '../../src/health/status-client.ts';
import { statusPaths } from '../../src/health/status-path.ts';
import { serveStatus } from '../../src/health/status-server.ts';
import { silentLog } from '../../src/log.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { sampleSnapshot } from '../support/sample-snapshot.ts';
import { until } from '../support/until.ts';

const snapshot = sampleSnapshot;

function place(name: string): string {
  const directory = temporaryDirectory(`status-${name}`);
  onTestFinished(() => directory[Symbol.dispose]());
  return directory.path;
}

function serve(directory: string, rest: Partial<Parameters<typeof serveStatus>[0]> = {}) {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_: object, line: string) => warnings.push(line) };
  const served = serveStatus({ directory, snapshot: () => snapshot, clock: systemClock, log, ...rest });
  onTestFinished(() => served.close());
  return { ...served, warnings };
}

const ask = (directory: string, paths?: readonly string[]) => askService(directory, systemClock, paths);
const answered = (directory: string, paths?: readonly string[]) =>
  until(async () => (await ask(directory, paths)).kind === 'answered', { what: 'an answer' });

describe.skipIf(process.platform === 'win32')('the status socket', () => {
  test('answers only its owner with the current status, and is removed with the service', async () => {
    const directory = place('answer');
    let version = '1';
    const { close } = serve(directory, { snapshot: () => ({ ...snapshot, version }) });
    await answered(directory);
    expect(await ask(directory)).toEqual({ kind: 'answered', snapshot: { ...snapshot, version: '1' } });
    version = '2';
    expect(await ask(directory)).toMatchObject({ snapshot: { version: '2' } });
    expect(statSync(join(directory, 'status.sock')).mode & 0o777).toBe(0o600);
    await close();
    expect(await ask(directory)).toEqual({ kind: 'nobody' });
    expect(existsSync(join(directory, 'status.sock'))).toBe(false);
  });

  test('works in a directory whose path is longer than a socket address', async () => {
    const directory = join(place('long'), 'x'.repeat(100), 'y'.repeat(100));
    mkdirSync(directory, { recursive: true });
    const paths = [join(directory, 'status.sock')];
    serve(directory, { paths });
    await answered(directory, paths);
    expect(existsSync(join(directory, 'status.sock'))).toBe(true);
  });

  test('takes the place of one that a killed process left behind', async () => {
    const directory = place('stale');
    const path = join(directory, 'status.sock');
    const child = spawn(process.execPath, [
      '-e',
      `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('listening'))`,
    ]);
    await once(child.stdout, 'data');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(existsSync(path)).toBe(true);
    expect(await ask(directory, [path])).toEqual({ kind: 'nobody' });
    serve(directory, { paths: [path] });
    await answered(directory, [path]);
  });

  test('takes no place from another service, and nothing that is no socket', async () => {
    const directory = place('taken');
    const paths = [join(directory, 'status.sock')];
    serve(directory, { paths, snapshot: () => ({ ...snapshot, version: 'first' }) });
    await answered(directory);
    const second = serve(directory, { paths, snapshot: () => ({ ...snapshot, version: 'second' }) });
    await until(() => second.warnings.length === 1);
    expect(await ask(directory)).toMatchObject({ snapshot: { version: 'first' } });
    const other = place('file');
    writeFileSync(join(other, 'status.sock'), 'a file');
    const third = serve(other, { paths: [join(other, 'status.sock')] });
    await until(() => third.warnings.length === 1);
    expect(third.warnings[0]).toMatch(/^The command status cannot query this service .*Everything else continues/);
    expect(statSync(join(other, 'status.sock')).size).toBe(6);
  });

  test('is made elsewhere where the state directory takes none, and again a minute after it was removed', async () => {
    const directory = place('elsewhere');
    writeFileSync(join(directory, 'no-directory'), '');
    const paths = [join(directory, 'no-directory', 'status.sock'), join(directory, 'run', 'abc.sock')];
    const clock = createFakeClock();
    serve(directory, { paths, clock });
    await answered(directory, paths);
    await until(() => clock.sleepers() === 1);
    rmSync(join(directory, 'run'), { recursive: true });
    expect(await ask(directory, paths)).toEqual({ kind: 'nobody' });
    await clock.advance(60_000);
    await answered(directory, paths);
  });

  test('a stopped process is silent, and answers when it continues', async () => {
    const directory = place('stopped');
    const path = join(directory, 'status.sock');
    const child = spawn(process.execPath, [
      '-e',
      `require('node:net').createServer((socket) => socket.on('error', () => {}).end(process.argv[1])).listen(${JSON.stringify(path)}, () => console.log('listening'))`,
      JSON.stringify(snapshot),
    ]);
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    child.kill('SIGSTOP');
    expect(await ask(directory)).toEqual({ kind: 'silent' });
    child.kill('SIGCONT');
    await answered(directory);
  });

  test('a service is not silent where the process that asks was not scheduled for longer than the limit', async () => {
    const directory = place('starved');
    serve(directory);
    await answered(directory);
    const answer = ask(directory);
    // The answer arrives while nothing runs here: when this ends, the limit has passed and nothing was read yet.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
    expect(await answer).toMatchObject({ kind: 'answered' });
  });

  test('a service of another version, or an invalid answer, counts as no service', async () => {
    const directory = place('other');
    let answer: () => unknown = () => ({ ...snapshot, form: 2 });
    serve(directory, { snapshot: () => answer() });
    await until(() => existsSync(join(directory, 'status.sock')));
    expect(await ask(directory)).toEqual({ kind: 'nobody' });
    answer = () => ({ ...snapshot, outbox: { ...snapshot.outbox, events: null } });
    expect(await ask(directory)).toEqual({ kind: 'nobody' });
    answer = () => {
      throw new Error('a mistake');
    };
    expect(await ask(directory)).toEqual({ kind: 'nobody' });
  });

  test('a client that connects and stays does not block others', async () => {
    const directory = place('idle');
    serve(directory);
    await answered(directory);
    const idle = Array.from({ length: 10 }, () =>
      connect({ path: join(directory, 'status.sock'), allowHalfOpen: true }),
    );
    onTestFinished(() => {
      for (const socket of idle) socket.destroy();
    });
    await Promise.all(idle.map((socket) => once(socket, 'connect')));
    expect((await ask(directory)).kind).toBe('answered');
  });

  test.skipIf(process.getuid?.() !== 0)('another user is denied', async () => {
    const directory = place('denied');
    chmodSync(directory, 0o755);
    serve(directory);
    await answered(directory);
    process.seteuid?.(65_534);
    const asked = await ask(directory).finally(() => process.seteuid?.(0));
    expect(asked).toEqual({ kind: 'denied' });
  });
});

test('on Windows it is a pipe named after the directory, regardless of letter case', () => {
  const [pipe, ...others] = statusPaths('/State', 'win32');
  expect(pipe).toMatch(/^\\\\\.\\pipe\\scheduled-events-bridge-[0-9a-f]{16}$/);
  expect(others).toEqual([]);
  expect(statusPaths('/state', 'win32')).toEqual([pipe]);
  expect(statusPaths('/other', 'win32')).not.toEqual([pipe]);
});

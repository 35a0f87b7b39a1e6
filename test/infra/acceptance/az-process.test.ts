import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AzError } from '../../../infra/acceptance/az.ts';
import { createAz, findAz } from '../../../infra/acceptance/az-process.ts';
import type { RunEvent } from '../../../infra/acceptance/journal.ts';
import { testDirectory } from '../../support/test-directory.ts';
import { until } from '../../support/until.ts';

/** An `az` that is this shell script. `$N` is the number of the call. */
function scripted(script: string, { stop = new AbortController().signal } = {}) {
  const folder = testDirectory('az');
  const file = join(folder, 'az');
  writeFileSync(file, `#!/bin/sh\ncd '${folder}'\necho x >> calls\nN=$(($(wc -l < calls)))\n${script}\n`);
  chmodSync(file, 0o700);
  const events: RunEvent[] = [];
  const processes = createAz({
    program: [file],
    env: process.env,
    signal: () => stop,
    write: (event) => void events.push(event),
    retrySeconds: [0.01, 0.01],
  });
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  return { ...processes, folder, events, read, calls: () => read('calls').trim().split('\n').length };
}

test('returns JSON parsed, text as it is, and undefined for nothing', async () => {
  const { az } = scripted(`case "$1" in json) echo '{"a": [1]}';; text) echo 'Bicep CLI version 1.2.3';; esac`);
  expect(await az.call(['json'])).toEqual({ a: [1] });
  expect(await az.call(['text'])).toBe('Bicep CLI version 1.2.3');
  expect(await az.call(['nothing'])).toBeUndefined();
});

test('asks for JSON without warnings, and passes arguments as they are', async () => {
  const { az, read } = scripted('for word; do echo "[$word]"; done > words');
  await az.call(['vm', 'list', '--query', `[?name == 'a b' && x > \`1\`]`]);
  expect(read('words').trim().split('\n')).toEqual([
    '[vm]',
    '[list]',
    '[--query]',
    `[[?name == 'a b' && x > \`1\`]]`,
    '[--output]',
    '[json]',
    '[--only-show-errors]',
  ]);
});

test('rejects with the code and the message of Azure, without arguments in the message', async () => {
  const { az, calls } = scripted(`echo "ERROR: (AuthorizationFailed) No right to do it." >&2; exit 1`);
  const error = await az.call(['vm', 'create', '--name', 'x']).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(AzError);
  expect(error).toMatchObject({
    message: 'az vm create: AuthorizationFailed: No right to do it.',
    code: 'AuthorizationFailed',
    exitCode: 1,
    args: ['vm', 'create', '--name', 'x'],
  });
  expect(calls()).toBe(1);
});

test('says its exit code when it prints nothing', async () => {
  const { az } = scripted('exit 3');
  await expect(az.call(['version'])).rejects.toThrow('az version: exit code 3');
});

test('retries a refusal that passes by itself, and writes every attempt', async () => {
  const { az, calls, events } = scripted(
    'if [ $N -lt 3 ]; then echo "ERROR: (TooManyRequests) later" >&2; exit 1; fi; echo 7',
  );
  expect(await az.call(['vm', 'restart'], { isRepeatable: false })).toBe(7);
  expect(calls()).toBe(3);
  expect(events.map((event) => ('isRetried' in event ? `${event.event} ${event.isRetried}` : event.event))).toEqual([
    'call-begun',
    'call-ended true',
    'call-begun',
    'call-ended true',
    'call-begun',
    'call-ended false',
  ]);
});

test('ends with the last error when retries are used up', async () => {
  const { az, calls } = scripted('echo "ERROR: (TooManyRequests) attempt $N" >&2; exit 1');
  await expect(az.call(['vm', 'list'])).rejects.toThrow('TooManyRequests: attempt 3');
  expect(calls()).toBe(3);
});

const broken = `echo "ERROR: ('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))" >&2; exit 1`;

test('repeats a call after a broken connection, unless it must not be made twice', async () => {
  const repeatable = scripted(broken);
  await expect(repeatable.az.call(['vm', 'show'])).rejects.toThrow('Connection aborted');
  expect(repeatable.calls()).toBe(3);
  const once = scripted(broken);
  await expect(once.az.call(['vm', 'restart'], { isRepeatable: false })).rejects.toThrow('Connection aborted');
  expect(once.calls()).toBe(1);
});

/** Whether a process exists. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const slow = 'sleep 600 & echo $! > child.new; mv child.new child; wait';

test('an abort ends the call with all its processes', async () => {
  const stop = new AbortController();
  const { az, folder, read, events } = scripted(slow, { stop: stop.signal });
  const call = az.call(['group', 'delete']);
  const rejected = expect(call).rejects.toThrow();
  await until(() => existsSync(join(folder, 'child')));
  stop.abort();
  await rejected;
  await until(() => !isRunning(Number(read('child'))));
  expect(events.at(-1)).toMatchObject({ event: 'call-ended', isRetried: false });
});

test('a signal of its own takes precedence, and one that is aborted begins nothing', async () => {
  const stop = new AbortController();
  stop.abort();
  const { az, folder } = scripted('echo 1', { stop: stop.signal });
  await expect(az.call(['version'])).rejects.toThrow();
  expect(existsSync(join(folder, 'calls'))).toBe(false);
  expect(await az.call(['version'], { signal: new AbortController().signal })).toBe(1);
});

test('ends a call that exceeds its limit, and does not repeat it', async () => {
  const { az, calls, read } = scripted(slow);
  await expect(az.call(['vm', 'list'], { timeoutMinutes: 0.02 })).rejects.toThrow('no result within 0.02 minutes');
  expect(calls()).toBe(1);
  await until(() => !isRunning(Number(read('child'))));
});

test('kill ends every call at once', async () => {
  const { az, kill, folder, read } = scripted(`trap '' TERM\n${slow}`);
  const rejected = expect(az.call(['vm', 'list'])).rejects.toThrow();
  await until(() => existsSync(join(folder, 'child')));
  kill();
  await rejected;
  await until(() => !isRunning(Number(read('child'))));
});

test('reports that az cannot be started', async () => {
  const { az } = createAz({
    program: ['/nowhere/az'],
    env: {},
    signal: () => new AbortController().signal,
    write: () => {},
  });
  await expect(az.call(['version'])).rejects.toThrow(/\/nowhere\/az cannot be started: .*ENOENT/);
});

test.for([
  { platform: 'linux', path: '/bin:/opt/az/bin', files: ['/opt/az/bin/az'], expected: ['/opt/az/bin/az'] },
  { platform: 'linux', path: '/bin:/usr/bin', files: [], expected: undefined },
] as const)('finds az in $path of $platform', ({ platform, path, files, expected }) => {
  const exists = (file: string): boolean => (files as readonly string[]).includes(file);
  expect(findAz({ PATH: path }, platform, exists)).toEqual(expected);
});

test('starts the Python of the Azure CLI on Windows, as its batch file does', () => {
  const folder = 'C:\\Program Files\\Microsoft SDKs\\Azure\\CLI2';
  const exists = (file: string): boolean => file === `${folder}\\wbin\\az.cmd`;
  expect(findAz({ Path: `C:\\Windows;${folder}\\wbin` }, 'win32', exists)).toEqual([
    `${folder}\\python.exe`,
    '-IBm',
    'azure.cli',
  ]);
});

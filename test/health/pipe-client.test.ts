import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { askPipe } from '../../src/health/pipe-client.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';

const pipe = '\\\\.\\pipe\\scheduled-events-bridge-0123456789abcdef';
/** As `sc.exe showsid scheduled-events-bridge` prints it. */
const sid = 'S-1-5-80-4027410533-1092970159-1799280583-2625524982-4048887831';

/** What `--ask` means by its exit codes is in the README of the service host; test/wine has the real one. */
const cases = [
  { name: 'answers', script: 'printf "%s " "$@"', is: { kind: 'answered', text: `--ask ${pipe} ${sid} ` } },
  { name: 'finds nobody', script: 'exit 1', is: { kind: 'nobody' } },
  { name: 'gets no answer', script: 'exit 3', is: { kind: 'silent' } },
  { name: 'finds the pipe of another user', script: 'echo \'{"form":1}\'; exit 4', is: { kind: 'nobody' } },
  { name: 'may not ask', script: 'exit 5', is: { kind: 'denied' } },
  { name: 'does not end', script: 'exec sleep 60', timeoutMs: 300, is: { kind: 'silent' } },
  { name: 'prints without end', script: 'exec yes', is: { kind: 'nobody' } },
] as const;

test.for(cases)('the pipe of a service is asked by the service host, which $name', async ({ script, is, ...more }) => {
  using directory = temporaryDirectory('pipe');
  const host = join(directory.path, 'host');
  writeFileSync(host, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  expect(await askPipe(pipe, 4_096, { host, ...('timeoutMs' in more && { timeoutMs: more.timeoutMs }) })).toEqual(is);
});

test('a pipe is not asked without the service host', async () => {
  expect(await askPipe(pipe, 4_096, { host: '/no/such/host' })).toEqual({ kind: 'nobody' });
});

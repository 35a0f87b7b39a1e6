import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startNotify } from '../../src/health/notify.ts';
import { silentLog } from '../../src/log.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';

/** A `systemd-notify` that writes its arguments to a file, one line for each call. */
function fakeSystemd() {
  const directory = temporaryDirectory('notify');
  onTestFinished(() => directory[Symbol.dispose]());
  const program = join(directory.path, 'systemd-notify');
  const file = join(directory.path, 'notified');
  writeFileSync(program, `#!/bin/sh\nline=$1\nshift\nfor news; do line="$line|$news"; done\necho "$line" >> ${file}\n`);
  chmodSync(program, 0o755);
  const env = { PATH: `${directory.path}:${process.env.PATH}`, NOTIFY_SOCKET: '/run/none', WATCHDOG_USEC: '60000000' };
  const notifications = (): string[] => (existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []);
  return { env, notifications };
}

function start(env: NodeJS.ProcessEnv, well = { progressing: true, status: 'Polling.' }) {
  const clock = createFakeClock();
  const lines: string[] = [];
  const log = { ...silentLog, warn: (_: object, line: string) => lines.push(line) };
  const notify = startNotify({ env, isProgressing: () => well.progressing, status: () => well.status, clock, log });
  onTestFinished(() => notify.close());
  return { clock, lines, notify, well };
}

/** Its first turn brought nothing new for so long. */
const firstTurnMs = 10_000;

test('it notifies READY once, feeds the watchdog at a third of its interval with a status and its time, and notifies STOPPING', async () => {
  const { env, notifications } = fakeSystemd();
  const { clock, notify, well } = start(env);
  await until(() => notifications().length === 1 && clock.sleepers() === 1);
  await clock.advance(firstTurnMs + 19_999);
  expect(notifications()).toEqual(['READY=1|STATUS=00:00:00 UTC: Polling.']);
  await clock.advance(1);
  await until(() => notifications().length === 2 && clock.sleepers() === 1);
  well.status = 'Polling;\n1 event.';
  await clock.advance(20_000);
  await until(() => notifications().length === 3 && clock.sleepers() === 1);
  notify.stopping();
  well.status = 'Polling; 2 events.';
  await until(() => notifications().length === 4);
  await clock.advance(20_000);
  await until(() => notifications().length === 5);
  await notify.close();
  expect(notifications().slice(1)).toEqual([
    'READY=1|WATCHDOG=1|STATUS=00:00:30 UTC: Polling.',
    'READY=1|WATCHDOG=1|STATUS=00:00:50 UTC: Polling; 1 event.',
    'STOPPING=1|STATUS=Stopping: sending what is pending.',
    'WATCHDOG=1',
  ]);
});

test('the result of the first poll is notified a second later, not with the next watchdog message', async () => {
  const { env, notifications } = fakeSystemd();
  const { clock, well } = start(env, { progressing: true, status: 'No document has been seen yet.' });
  await until(() => notifications().length === 1 && clock.sleepers() === 1);
  await clock.advance(2_000);
  well.status = 'Polling.';
  await clock.advance(1_000);
  await until(() => notifications().length === 2 && clock.sleepers() === 1);
  expect(notifications()[1]).toBe('READY=1|STATUS=00:00:03 UTC: Polling.');
  well.status = 'Polling; 1 event.';
  await clock.advance(5_000);
  await until(() => clock.sleepers() === 1);
  expect(notifications()).toHaveLength(2);
});

test('a watchdog with less patience than a first turn is fed all the same', async () => {
  const { env, notifications } = fakeSystemd();
  const { clock } = start({ ...env, WATCHDOG_USEC: '9000000' });
  await until(() => notifications().length === 1 && clock.sleepers() === 1);
  await clock.advance(6_000);
  await until(() => notifications().length === 2);
  expect(notifications()[1]).toBe('READY=1|WATCHDOG=1|STATUS=00:00:06 UTC: Polling.');
});

test('a stuck loop stops the watchdog messages, and a late one resumes them a second after it continues', async () => {
  const { env, notifications } = fakeSystemd();
  const { clock, well } = start(env, { progressing: false, status: 'Stuck.' });
  await until(() => notifications().length === 1 && clock.sleepers() === 1);
  await clock.advance(90_000);
  expect(notifications()).toHaveLength(1);
  well.progressing = true;
  await clock.advance(1_000);
  await until(() => notifications().length === 2);
  expect(notifications()[1]).toBe('READY=1|WATCHDOG=1|STATUS=00:01:31 UTC: Stuck.');
});

const withoutWatchdog = [
  { name: 'without a watchdog only changes are notified', more: { WATCHDOG_USEC: '' } },
  { name: 'a watchdog over another process is not ours to feed', more: { WATCHDOG_PID: '1' } },
];
test.for(withoutWatchdog)('$name', async ({ more }) => {
  const { env, notifications } = fakeSystemd();
  const { clock, well } = start({ ...env, ...more });
  await until(() => notifications().length === 1 && clock.sleepers() === 1);
  await clock.advance(firstTurnMs + 60_000);
  expect(notifications()).toHaveLength(1);
  well.status = 'Polling; 1 event.';
  await clock.advance(60_000);
  await until(() => notifications().length === 2);
  expect(notifications()[1]).toBe('READY=1|STATUS=00:02:10 UTC: Polling; 1 event.');
});

test('without a service manager nothing is sent and no timer runs', async () => {
  const { env, notifications } = fakeSystemd();
  const { NOTIFY_SOCKET: _, ...rest } = env;
  const { clock, notify } = start(rest);
  notify.stopping();
  await notify.close();
  expect([notifications(), clock.sleepers()]).toEqual([[], 0]);
});

test('without systemd-notify the missing program is logged once, and nothing else happens', async () => {
  const { clock, lines, notify } = start({ NOTIFY_SOCKET: '/run/none', PATH: '/nowhere', WATCHDOG_USEC: '60000000' });
  await until(() => lines.length === 1 && clock.sleepers() === 1);
  await clock.advance(60_000);
  await notify.close();
  expect(lines).toEqual([expect.stringMatching(/systemd-notify is not installed.*NotifyAccess=all/)]);
});

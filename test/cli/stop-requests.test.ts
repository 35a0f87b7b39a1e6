import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { stopAtEndOf, stopSignals } from '../../src/cli/stop-requests.ts';

const names = (platform: NodeJS.Platform): readonly string[] => stopSignals(platform).map(([name]) => name);

test('Windows also asks to stop by Ctrl+Break and by closing the console; a hang-up elsewhere still ends the process', () => {
  expect(names('linux')).toEqual(['SIGINT', 'SIGTERM']);
  expect(names('win32')).toEqual(['SIGINT', 'SIGTERM', 'SIGBREAK', 'SIGHUP']);
});

test('the variable of the service host is removed, and the end of standard input is the request', async () => {
  const env: NodeJS.ProcessEnv = { PATH: '/bin', SCHEDULED_EVENTS_BRIDGE_STOP_ON_STDIN_END: '1' };
  await new Promise<void>((resolve) => stopAtEndOf(() => Readable.from(['ignored']), env, resolve));
  expect(env).toEqual({ PATH: '/bin' });
});

test('without the service host standard input is not opened', () => {
  let opened = 0;
  const stdin = (): Readable => {
    opened += 1;
    return new Readable();
  };
  for (const env of [{}, { SCHEDULED_EVENTS_BRIDGE_STOP_ON_STDIN_END: '' }]) stopAtEndOf(stdin, env, () => {});
  expect(opened).toBe(0);
});

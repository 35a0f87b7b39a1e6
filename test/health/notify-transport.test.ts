import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { sendLines, transportFor } from '../../src/health/notify-transport.ts';
import { testDirectory } from '../support/test-directory.ts';

test('a pipe of Windows is one of the service host, and every other socket one of systemd', () => {
  const [pipe, ...sockets] = [
    String.raw`\\.\pipe\scheduled-events-bridge-notify-1`,
    '/run/systemd/notify',
    '@abstract',
  ];
  expect(transportFor(String(pipe)).remedy).toContain('service host');
  for (const socket of sockets) expect(transportFor(socket).remedy).toContain('systemd-notify');
});

test('each word arrives as a line, in a connection that ends after the last one', async () => {
  const path = join(testDirectory('notify'), 'socket');
  const received: Promise<string>[] = [];
  const server = createServer((socket) => received.push(text(socket))).listen(path);
  onTestFinished(() => void server.close());
  expect(await sendLines(path, ['READY=1', 'STATUS=10:00:00 UTC: Größe'])).toBeNull();
  expect(await sendLines(path, ['WATCHDOG=1'])).toBeNull();
  expect(await Promise.all(received)).toEqual(['READY=1\nSTATUS=10:00:00 UTC: Größe\n', 'WATCHDOG=1\n']);
});

test('without a service host the reason is returned', async () => {
  const path = join(testDirectory('notify'), 'nobody');
  expect(existsSync(path)).toBe(false);
  expect(await sendLines(path, ['READY=1'])).toEqual({ code: 'ENOENT', reason: expect.stringContaining(path) });
});

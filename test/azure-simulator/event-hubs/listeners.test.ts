import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Namespace, startNamespace } from './bare-client.ts';

let namespace: Namespace;
beforeAll(async () => {
  namespace = await startNamespace();
});
afterAll(async () => {
  await namespace.close();
  expect(namespace.errors).toEqual([]);
});

/** The first line of what a WebSocket handshake for this target is answered with. */
async function handshake(target: string): Promise<string> {
  const port = Number(new URL(namespace.eventHubs.websocketEndpoint).port);
  const socket = connect({ host: 'localhost', port, ca: namespace.ca });
  socket.write(
    [
      `GET ${target} HTTP/1.1`,
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Protocol: AMQPWSB10',
      '\r\n',
    ].join('\r\n'),
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return answer.toString().split('\r\n')[0] ?? '';
}

test.each([
  ['the path', '/$servicebus/websocket', 'HTTP/1.1 101 Switching Protocols'],
  ['a slash at the end', '/$servicebus/websocket/', 'HTTP/1.1 101 Switching Protocols'],
  ['a query', '/$servicebus/websocket?x=1', 'HTTP/1.1 101 Switching Protocols'],
  ['the whole URL', 'https://localhost:443/$servicebus/websocket', 'HTTP/1.1 101 Switching Protocols'],
  ['the whole URL of its own scheme', 'wss://localhost:443/$servicebus/websocket', 'HTTP/1.1 101 Switching Protocols'],
  ['another path', '/$servicebus/other', 'HTTP/1.1 400 Bad Request'],
  ['no path', 'https://', 'HTTP/1.1 400 Bad Request'],
])('a WebSocket client that requests %s is answered: %s', async (_, target, answer) => {
  expect(await handshake(target)).toBe(answer);
});

import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/**
 * The same endpoint, with answers that take some milliseconds as those of Azure do. Microsoft's client for Rust needs that: its AMQP library
 * (fe2o3-amqp 0.16) notes a delivery only after it has sent it, and waits indefinitely for an answer that came before.
 */
export async function farAway(endpoint: string): Promise<{ endpoint: string; close(): void }> {
  const port = Number(new URL(endpoint.replace(/^\w+:/, 'https:')).port);
  const server = createServer((client) => {
    client.setNoDelay(true);
    const service = connect({ port, host: '127.0.0.1', noDelay: true });
    client.pipe(service);
    service.on('data', (data) => setTimeout(() => client.writable && client.write(data), 10));
    service.on('close', () => setTimeout(() => client.destroy(), 20));
    client.on('close', () => service.destroy());
    for (const socket of [client, service]) socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: here } = server.address() as AddressInfo;
  return { endpoint: endpoint.replace(String(port), String(here)), close: () => server.close() };
}

import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/**
 * Listens on loopback; port 0 takes a free one. @returns the port.
 * @throws with a sentence that names `what` when the port is taken or not allowed.
 */
export async function listen(server: Server, port: number, what: string): Promise<number> {
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new Error(`${what} cannot listen on 127.0.0.1:${port} (${reason}): choose another port or free this one`);
  }
  return (server.address() as AddressInfo).port;
}

import { once } from 'node:events';
import { type AddressInfo, isIPv6, type Server } from 'node:net';

/** Listens on loopback by default. */
export const loopback = '127.0.0.1';

/**
 * @param port 0 takes a free one. @param host a name or an address of this machine.
 * @returns the port. @throws a sentence that names `what`, where the port or the host cannot be had.
 */
export async function listen(server: Server, port: number, what: string, host: string = loopback): Promise<number> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new Error(`${what} cannot listen on ${inUrl(host)}:${port} (${reason})`);
  }
  return (server.address() as AddressInfo).port;
}

/** A host as a URL names it. */
export const inUrl = (host: string): string => (isIPv6(host) ? `[${host}]` : host);

import { connect as connectSocket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { type LeasedAddress, readLeasedAddresses } from './dhcp-leases.ts';

/** Where the metadata service is; or why that is not known yet, as a sentence for an operator. */
export type Located =
  | { readonly kind: 'found'; readonly endpoint: string }
  | { readonly kind: 'not-found'; readonly reason: string };

/** Never rejects. */
export type Locate = (signal: AbortSignal) => Promise<Located>;

/** Where the metadata service is on every VM in a virtual network. */
export const linkLocal = '169.254.169.254';

/** Without a TCP connection by then an address counts as unreachable. A slow answer does not: the first takes two minutes. */
const probeMs = 5000;
const httpPort = 80;

/** Opens a TCP connection and closes it again. True if it was established. */
export type Probe = (address: string, signal: AbortSignal) => Promise<boolean>;

/**
 * Finds the metadata service for `imds.endpoint: "auto"`: at the link-local address; if no connection to it can be
 * established, at the address of DHCP option 245 (outside a virtual network). The result is kept; until there is a result, each
 * call searches again, since the network may not be up yet. Logs the chosen address.
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#endpoint-discovery
 */
export function createDiscovery(options: {
  readonly clock: Clock;
  readonly log: Log;
  /** Replaces `/` in the paths of lease files. */
  readonly root?: string;
  readonly probe?: Probe;
}): Locate {
  const { clock, log, root = '/' } = options;
  const probe: Probe = options.probe ?? ((address, signal) => probeTcp(address, httpPort, { clock, signal }));
  let locating: Promise<Located> | null = null;

  const locate = async (signal: AbortSignal): Promise<Located> => {
    if (await probe(linkLocal, signal)) {
      const endpoint = `http://${linkLocal}`;
      log.info({ endpoint }, `The metadata service answers at ${endpoint}, the link-local address.`);
      return { kind: 'found', endpoint };
    }
    const leased = withoutRepeats(readLeasedAddresses(root));
    for (const { address, file } of leased) {
      if (!(await probe(address, signal))) continue;
      const endpoint = `http://${address}`;
      log.info(
        { endpoint, file },
        `The metadata service is assumed to be at ${endpoint}, the address of DHCP option 245 in ${file}: ${linkLocal} cannot be reached.`,
      );
      return { kind: 'found', endpoint };
    }
    return { kind: 'not-found', reason: describeNotFound(leased.map(({ address }) => address)) };
  };

  return async (signal) => {
    locating ??= locate(signal);
    const located = await locating;
    if (located.kind === 'not-found') locating = null;
    return located;
  };
}

const withoutRepeats = (leased: readonly LeasedAddress[]): LeasedAddress[] =>
  leased.filter(({ address }, index) => leased.findIndex((one) => one.address === address) === index);

function describeNotFound(leased: readonly string[]): string {
  const others =
    leased.length === 0
      ? 'and no lease file names another in DHCP option 245'
      : `nor to ${leased.join(', ')} of DHCP option 245`;
  return `Cannot connect to the metadata service at ${linkLocal}, ${others}: it needs the primary network interface with DHCP; in a container, the network of the host. Or set imds.endpoint.`;
}

/** True if a TCP connection was established within five seconds; it is closed again. Never rejects. */
export function probeTcp(
  address: string,
  port: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false);
    const over = new AbortController();
    const socket = connectSocket({ host: address, port });
    const settle = (isOpen: boolean): void => {
      over.abort();
      signal.removeEventListener('abort', fail);
      socket.destroy();
      resolve(isOpen);
    };
    const fail = (): void => settle(false);
    socket.once('connect', () => settle(true));
    socket.once('error', fail);
    signal.addEventListener('abort', fail, { once: true });
    void clock.sleep(probeMs, over.signal).then(fail);
  });
}

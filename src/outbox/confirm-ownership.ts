import type { Host } from '../host/index.ts';
import type { ObserverWatch } from '../imds/observer-watch.ts';
import type { Observer } from '../lifecycle/scheduled-event.ts';
import type { Outbox } from './outbox.ts';

/**
 * Whether the outbox is this VM's own. A disk that was copied, or an image made of a VM in use, brings the records and
 * the identity of another one: nothing of it may be sent in that VM's name a second time.
 *
 * Resolves true once that is certain: at once where the boot that stored the identity still lasts (a copy boots anew),
 * else when the metadata service has told a vmId. An outbox of another VM is archived first. Resolves false when `stop`
 * comes before.
 */
export function confirmIdentity(
  parts: {
    readonly outbox: Outbox;
    readonly observer: ObserverWatch;
    readonly host: Host;
    /** The vmId comes from the configuration, not from the metadata service. */
    readonly isVmIdSet: boolean;
  },
  stop: AbortSignal,
): Promise<boolean> {
  const { outbox, observer, host, isVmIdSet } = parts;
  return new Promise((resolve) => {
    const settle = (fresh: Observer): void => {
      const stored = outbox.observer;
      if (stored && stored.vmId.toLowerCase() !== fresh.vmId.toLowerCase()) {
        const before = `${stored.vmName} (vmId ${stored.vmId})`;
        const now = `${fresh.vmName} (vmId ${fresh.vmId}${isVmIdSet ? ', as observer.vmId says' : ''})`;
        outbox.archive(`it is that of the VM ${before}, and this is ${now}, as on a copied disk`);
      }
      outbox.rememberObserver(fresh, host.bootId());
      resolve(true);
    };
    observer.onRead(settle);
    stop.addEventListener('abort', () => resolve(false), { once: true });
    const known = observer.known();
    if (known && observer.fresh()) settle(known);
    else if (outbox.observer && isSameBoot(outbox.observerBootId, host.bootId())) resolve(true);
  });
}

const isSameBoot = (stored: string | null, present: string | null): boolean => stored !== null && stored === present;

import type { Observer } from '../lifecycle/scheduled-event.ts';
import type { Outbox } from './outbox.ts';

// assumption: imds-vm-id
/**
 * Confirms that the outbox belongs to this VM. A copied disk, or an image made of a VM in use, contains the records and
 * the identity of another VM: none of them may be sent a second time in that VM's name.
 *
 * Resolves true at once if the boot that stored the identity still lasts (a copy has booted since), else when the metadata
 * service has returned a vmId; an outbox of another VM is archived first. Resolves false if `stop` is aborted before that.
 */
export function confirmOwnership(
  parts: {
    readonly outbox: Pick<Outbox, 'storedObserver' | 'archive' | 'rememberObserver'>;
    readonly observer: {
      known(): Observer | null;
      /** The vmId was read, or configured, in this process. */
      fresh(): boolean;
      onRead(listener: (observer: Observer) => void): unknown;
    };
    readonly host: { bootId(): string | null };
    /** The vmId comes from the configuration, not from the metadata service. */
    readonly isVmIdSet: boolean;
  },
  stop: AbortSignal,
): Promise<boolean> {
  const { outbox, observer, host, isVmIdSet } = parts;
  return new Promise((resolve) => {
    const settle = (fresh: Observer): void => {
      const stored = outbox.storedObserver?.observer;
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
    const bootId = outbox.storedObserver?.bootId ?? null;
    if (known && observer.fresh()) settle(known);
    else if (bootId !== null && bootId === host.bootId()) resolve(true);
  });
}

import type { Outbox } from '../outbox/outbox.ts';
import type { Relay } from '../relay/relay.ts';
import { labelOf } from '../sinks/registry.ts';

/** The verb of the request. */
export const tryNowRequest = 'try-now';

/** Attempts delivery at once, regardless of backoff and Retry-After. */
export const createTryNow =
  (outbox: Pick<Outbox, 'backlog'>, relays: ReadonlyMap<string, Pick<Relay, 'resume' | 'wake'>>) =>
  (argument: unknown): { readonly ok: boolean; readonly message: string } => {
    const { sink } = (argument ?? {}) as { readonly sink?: unknown };
    const waiting = outbox.backlog().filter((one) => sink === undefined || one.sink === sink);
    if (waiting.length === 0) return { ok: false, message: `There is no destination "${String(sink)}".` };
    for (const { sink: name } of waiting) {
      relays.get(name)?.resume(() => true);
      relays.get(name)?.wake();
    }
    const held = waiting.filter(({ pending }) => pending > 0);
    if (held.length === 0) return { ok: true, message: 'Nothing is waiting for delivery.' };
    const names = held.map(({ sink: name, pending }) => `${pending} for ${labelOf(name)}`).join(', ');
    return { ok: true, message: `Trying now: ${names}. Run status to see the result.` };
  };

import type { Outbox } from '../../outbox/outbox.ts';
import type { Relay } from '../../relay/relay.ts';
import { Failure } from '../exit-codes.ts';
import { changeByService } from './change.ts';
import { sinkName } from './plain.ts';

/** The verb by which a command asks the service for it. */
export const tryNowRequest = 'try-now';

/** In the service: attempts delivery at once, whatever the backoff and a Retry-After say. */
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
    const names = held.map(({ sink: name, pending }) => `${pending} for ${sinkName(name)}`).join(', ');
    return { ok: true, message: `Trying now: ${names}. status shows what comes of it.` };
  };

/**
 * Has the service try now. @returns a sentence that says what is tried.
 * @throws Failure where no service runs: the next start tries by itself.
 */
export async function tryNow(directory: string, sink: string | undefined, stop: AbortSignal): Promise<string> {
  const answer = await changeByService(directory, { verb: tryNowRequest, argument: { sink } }, stop);
  if (answer !== null) return answer;
  throw new Failure('notDone', 'No service runs, so nothing can be sent: start it, and it tries at once.');
}

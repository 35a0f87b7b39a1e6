import { aborted, KnownFailure } from '../azure/failure.ts';
import { messageOf } from '../log.ts';
import type { Port } from './channel.ts';

/** The functions that one end offers to the other, each of one value. */
export type Methods = Readonly<Record<string, (value: never) => unknown>>;

export type Handlers<M extends Methods> = {
  readonly [K in keyof M]: (value: Parameters<M[K]>[0], signal: AbortSignal) => Promise<ReturnType<M[K]>>;
};

/** Calls over a channel, in both directions and many at a time. */
export interface Calls<M extends Methods> {
  /**
   * Rejects with a {@link KnownFailure}: `aborted` at once when `signal` is (the other end is notified and not awaited), or
   * with what {@link end} was given.
   */
  call<K extends keyof M & string>(
    name: K,
    value: Parameters<M[K]>[0],
    signal?: AbortSignal,
  ): Promise<ReturnType<M[K]>>;
  /** Rejects all calls, pending and later ones. */
  end(reason: Error): void;
}

type Message =
  | { readonly kind: 'call'; readonly id: number; readonly name: string; readonly value: unknown }
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'threw'; readonly id: number; readonly message: string };

/** Posts what is given to it within one turn as one message: each costs both ends a system call and a wake-up. */
function createOutgoing(port: Port): (message: Message) => void {
  let messages: Message[] = [];
  const post = (): void => {
    port.post(messages);
    messages = [];
  };
  return (message) => {
    if (messages.length === 0) queueMicrotask(post);
    messages.push(message);
  };
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** @param handlers what this end offers. A call whose handler throws rejects with its message. */
export function createCalls<Theirs extends Methods, Ours extends Methods>(
  port: Port,
  handlers: Handlers<Ours>,
): Calls<Theirs> {
  const pending = new Map<number, Pending>();
  const running = new Map<number, AbortController>();
  const post = createOutgoing(port);
  let lastId = 0;
  let ended: Error | null = null;

  async function answer(id: number, name: string, value: unknown): Promise<Message> {
    const handler = (
      handlers as Record<string, ((value: unknown, signal: AbortSignal) => Promise<unknown>) | undefined>
    )[name];
    const aborting = new AbortController();
    running.set(id, aborting);
    try {
      if (!handler) throw new Error(`no such method: ${name}`);
      return { kind: 'answer', id, value: await handler(value, aborting.signal) };
    } catch (error) {
      return { kind: 'threw', id, message: messageOf(error) };
    } finally {
      running.delete(id);
    }
  }

  port.onMessage((received) => {
    for (const message of received as readonly Message[]) handle(message);
  });

  function handle(message: Message): void {
    if (message.kind === 'call') void answer(message.id, message.name, message.value).then(post);
    else if (message.kind === 'cancel') running.get(message.id)?.abort();
    else if (message.kind === 'answer') pending.get(message.id)?.resolve(message.value);
    else pending.get(message.id)?.reject(new Error(message.message));
  }

  return {
    call(name, value, signal) {
      return new Promise((resolve, reject) => {
        if (ended) return reject(ended);
        if (signal?.aborted) return reject(new KnownFailure(aborted));
        lastId += 1;
        const id = lastId;
        const settled = (): void => {
          pending.delete(id);
          signal?.removeEventListener('abort', abort);
        };
        const abort = (): void => {
          settled();
          post({ kind: 'cancel', id });
          reject(new KnownFailure(aborted));
        };
        signal?.addEventListener('abort', abort, { once: true });
        pending.set(id, {
          resolve(value) {
            settled();
            resolve(value as Awaited<ReturnType<typeof resolve>> as never);
          },
          reject(error) {
            settled();
            reject(error);
          },
        });
        post({ kind: 'call', id, name, value });
      });
    },
    end(reason) {
      ended = reason;
      for (const { reject } of [...pending.values()]) reject(reason);
      for (const abort of running.values()) abort.abort();
    },
  };
}

import type { Clock } from '../../clock.ts';
import type { AmqpClient } from './amqp-client.ts';
import { nextMove } from './connection-policy.ts';

/** What a connection needs of its client. */
export type Client = Pick<AmqpClient, 'broken' | 'opened' | 'close'>;

/** Keeps at most one connection in use, discards one that failed, closes one that idles. */
export interface Connection<Amqp extends Client> {
  /** A send on it would not have to connect first. */
  readonly isOpen: boolean;
  /** Runs `work` on the current client, creating one if necessary. Rejects with what `work` rejects with. */
  use<T>(work: (amqp: Amqp) => Promise<T>): Promise<T>;
  /** To be called when `work` has the connection open. */
  opened(amqp: Amqp): void;
  /** No new send gets this client; it is closed when its last send has ended. */
  discard(amqp: Amqp): void;
  /** Never rejects; at most 3 s. Sends still under way fail. */
  close(): Promise<void>;
}

export interface ConnectionOptions<Amqp extends Client> {
  /** Throws where the address is unusable. */
  readonly makeLine: () => Amqp;
  readonly idleCloseSeconds: number;
  readonly clock: Clock;
  /** An event of this VM is about to start: the connection is opened and kept. */
  readonly startDue: () => boolean;
  /** Opens the connection ahead of need. Rejects where that fails. */
  readonly open: (signal: AbortSignal) => Promise<void>;
}

/** How often the connection is checked between sends. */
const watchEveryMs = 1000;

export function createConnection<Amqp extends Client>({
  makeLine,
  idleCloseSeconds,
  clock,
  startDue,
  open,
}: ConnectionOptions<Amqp>): Connection<Amqp> {
  let current: { readonly amqp: Amqp; isOpen: boolean } | null = null;
  const users = new Map<Amqp, number>();
  const gone = new WeakSet<Amqp>();
  const closings = new Set<Promise<void>>();
  const closed = new AbortController();
  let lastUse = clock.monotonicMs();
  let failedOpenAt: number | null = null;

  function closeLine(amqp: Amqp): void {
    if (gone.has(amqp)) return;
    gone.add(amqp);
    const closing = amqp.close().finally(() => closings.delete(closing));
    closings.add(closing);
  }

  function discard(amqp: Amqp): void {
    if (current?.amqp === amqp) current = null;
    if (!users.has(amqp)) closeLine(amqp);
  }

  function obtain(): Amqp {
    if (current?.amqp.broken.aborted) discard(current.amqp);
    current ??= { amqp: makeLine(), isOpen: false };
    return current.amqp;
  }

  async function use<T>(work: (amqp: Amqp) => Promise<T>): Promise<T> {
    const amqp = obtain();
    users.set(amqp, (users.get(amqp) ?? 0) + 1);
    try {
      return await work(amqp);
    } finally {
      lastUse = clock.monotonicMs();
      const left = (users.get(amqp) ?? 1) - 1;
      if (left > 0) users.set(amqp, left);
      else users.delete(amqp);
      if (left === 0 && current?.amqp !== amqp) closeLine(amqp);
    }
  }

  const isOpen = (): boolean => current?.isOpen === true && !current.amqp.broken.aborted;

  async function openAhead(): Promise<void> {
    try {
      await open(closed.signal);
      failedOpenAt = null;
    } catch {
      // The send that needs it will say why.
      failedOpenAt = clock.monotonicMs();
    }
  }

  async function watch(): Promise<void> {
    while (!closed.signal.aborted) {
      // Left alone, the SDK would connect a broken line again to renew its authorisation.
      if (current?.amqp.broken.aborted) discard(current.amqp);
      const now = clock.monotonicMs();
      const move = nextMove({
        connected: isOpen(),
        startDue: startDue(),
        idleMs: users.size > 0 ? 0 : now - lastUse,
        idleCloseMs: idleCloseSeconds * 1000,
        sinceFailedOpenMs: failedOpenAt === null ? null : now - failedOpenAt,
      });
      if (move === 'open') await openAhead();
      if (move === 'close' && current) discard(current.amqp);
      await clock.sleep(watchEveryMs, closed.signal);
    }
  }
  void watch();

  return {
    get isOpen() {
      return isOpen();
    },
    use,
    opened(amqp) {
      amqp.opened();
      if (current?.amqp === amqp) current.isOpen = true;
    },
    discard,
    async close() {
      closed.abort();
      if (current) {
        const { amqp } = current;
        current = null;
        closeLine(amqp);
      }
      await Promise.all(closings);
    },
  };
}

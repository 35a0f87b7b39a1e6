import type { Clock } from '../../clock.ts';
import { nextMove } from './connection-policy.ts';
import type { Line } from './line.ts';

/** Keeps at most one line in use, gives up the one that failed, closes the one that idles. */
export interface Connection {
  /** A send on it would not have to connect first. */
  readonly isOpen: boolean;
  /** Runs `work` on the present line, on a new one if there is none. Rejects with what `work` rejects with. */
  use<T>(work: (line: Line) => Promise<T>): Promise<T>;
  /** To be called when `work` has the connection open. */
  opened(line: Line): void;
  /** No new send gets this line; it is closed when the last send on it is over. */
  giveUp(line: Line): void;
  /** Never rejects; at most 3 s. Sends still under way fail. */
  close(): Promise<void>;
}

export interface ConnectionOptions {
  /** Throws where the address is of no use. */
  readonly makeLine: () => Line;
  readonly idleCloseSeconds: number;
  readonly clock: Clock;
  /** Something is about to happen to this VM, or happening: the connection is opened and kept. */
  readonly near: () => boolean;
  /** Opens the connection ahead of need. Rejects where that fails. */
  readonly open: (signal: AbortSignal) => Promise<void>;
}

/** How often the connection is looked at between sends. */
const watchEveryMs = 1000;

export function createConnection({ makeLine, idleCloseSeconds, clock, near, open }: ConnectionOptions): Connection {
  let current: { readonly line: Line; isOpen: boolean } | null = null;
  const users = new Map<Line, number>();
  const gone = new WeakSet<Line>();
  const closings = new Set<Promise<void>>();
  const closed = new AbortController();
  let lastUse = clock.monotonicMs();
  let failedOpenAt: number | null = null;

  function closeLine(line: Line): void {
    if (gone.has(line)) return;
    gone.add(line);
    const closing = line.close().finally(() => closings.delete(closing));
    closings.add(closing);
  }

  function giveUp(line: Line): void {
    if (current?.line === line) current = null;
    if (!users.has(line)) closeLine(line);
  }

  function obtain(): Line {
    if (current?.line.broken.aborted) giveUp(current.line);
    current ??= { line: makeLine(), isOpen: false };
    return current.line;
  }

  async function use<T>(work: (line: Line) => Promise<T>): Promise<T> {
    const line = obtain();
    users.set(line, (users.get(line) ?? 0) + 1);
    try {
      return await work(line);
    } finally {
      lastUse = clock.monotonicMs();
      const left = (users.get(line) ?? 1) - 1;
      if (left > 0) users.set(line, left);
      else users.delete(line);
      if (left === 0 && current?.line !== line) closeLine(line);
    }
  }

  const isOpen = (): boolean => current?.isOpen === true && !current.line.broken.aborted;

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
      if (current?.line.broken.aborted) giveUp(current.line);
      const now = clock.monotonicMs();
      const move = nextMove({
        connected: isOpen(),
        near: near(),
        idleMs: users.size > 0 ? 0 : now - lastUse,
        idleCloseMs: idleCloseSeconds * 1000,
        sinceFailedOpenMs: failedOpenAt === null ? null : now - failedOpenAt,
      });
      if (move === 'open') await openAhead();
      if (move === 'close' && current) giveUp(current.line);
      await clock.sleep(watchEveryMs, closed.signal);
    }
  }
  void watch();

  return {
    get isOpen() {
      return isOpen();
    },
    use,
    opened(line) {
      line.opened();
      if (current?.line === line) current.isOpen = true;
    },
    giveUp,
    async close() {
      closed.abort();
      if (current) {
        const { line } = current;
        current = null;
        closeLine(line);
      }
      await Promise.all(closings);
    },
  };
}

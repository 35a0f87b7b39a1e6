import { closeSync, constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { LogDestination } from '../log.ts';

/** A destination that never blocks the thread and keeps a bounded backlog while the reader is behind. */
export interface BoundedDestination extends LogDestination {
  /** Lines dropped since the last report. */
  readonly dropped: number;
  /** For the moment of exit only: waits up to `deadlineMs` for the reader, then drops the rest. */
  flushSync(deadlineMs: number): void;
  close(): void;
}

/** Milliseconds between two attempts to write to a reader that is behind. */
const retryMs = 50;

/**
 * Writes lines to a file descriptor without ever waiting for its reader. A reader that slept for 9 s on a pipe written
 * to synchronously kept the bridge from polling for 7 s.
 *
 * Where the descriptor can be made non-blocking (pipes, terminals and sockets on Linux) lines are written at once and kept only
 * when the reader is behind. Elsewhere one asynchronous write is in flight at a time. Beyond `maxBytes` of backlog new
 * lines are dropped and counted; `onDropped` gets the number once the backlog is written.
 */
export function openDestination(options: {
  readonly fd: number;
  readonly maxBytes: number;
  readonly onDropped?: (lines: number) => void;
}): BoundedDestination {
  const { fd, wouldBlock, close } = withoutWaiting(options.fd);
  const backlog: Buffer[] = [];
  let bytes = 0;
  let dropped = 0;
  let inFlight = false;
  let timer: NodeJS.Timeout | undefined;

  const advance = (written: number): void => {
    bytes -= written;
    const first = backlog[0];
    if (!first) return;
    if (written < first.length) backlog[0] = first.subarray(written);
    else backlog.shift();
  };

  /** A write to a reader that is behind is retried; if the reader has gone, the backlog is dropped. */
  const settle = (error: NodeJS.ErrnoException): void => {
    if (error.code === 'EAGAIN' || error.code === 'EBUSY') timer ??= setTimeout(again, retryMs).unref();
    else dropBacklog();
  };

  const again = (): void => {
    timer = undefined;
    pump();
  };

  const dropBacklog = (): void => {
    dropped += backlog.length;
    backlog.length = 0;
    bytes = 0;
  };

  const reportDropped = (): void => {
    if (dropped === 0 || backlog.length > 0) return;
    const lines = dropped;
    dropped = 0;
    options.onDropped?.(lines);
  };

  const writeNow = (): void => {
    try {
      for (let first = backlog[0]; first; first = backlog[0]) advance(writeSync(fd, first));
      reportDropped();
    } catch (error) {
      settle(error as NodeJS.ErrnoException);
    }
  };

  const writeLater = (first: Buffer): void => {
    inFlight = true;
    write(fd, first, (error, written) => {
      inFlight = false;
      if (error) return settle(error);
      advance(written);
      reportDropped();
      pump();
    });
  };

  const pump = (): void => {
    const first = backlog[0];
    if (!first || inFlight || timer) return;
    if (wouldBlock) writeLater(first);
    else writeNow();
  };

  return {
    get dropped() {
      return dropped;
    },
    write(line) {
      const data = Buffer.from(line);
      if (bytes + data.length > options.maxBytes) {
        dropped += 1;
        return;
      }
      backlog.push(data);
      bytes += data.length;
      pump();
    },
    flushSync(deadlineMs) {
      if (wouldBlock) {
        // The process ends only after the writes that were handed to the pool of threads, in their order.
        const left = Buffer.concat(inFlight ? backlog.slice(1) : backlog);
        if (left.length > 0) write(fd, left, () => {});
        return;
      }
      const deadline = performance.now() + deadlineMs;
      while (backlog[0] && performance.now() < deadline) {
        try {
          advance(writeSync(fd, backlog[0]));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
        }
      }
    },
    close() {
      clearTimeout(timer);
      close();
    },
  };
}

interface Descriptor {
  readonly fd: number;
  /** A write to it may wait for the reader. */
  readonly wouldBlock: boolean;
  close(): void;
}

/**
 * The same destination, not waiting. `O_NONBLOCK` belongs to the open file, which we share with the parent process:
 * set on the descriptor itself, it would make their writes fail. So on Linux a pipe or terminal is opened a second time.
 */
function withoutWaiting(fd: number): Descriptor {
  const asGiven = { fd, close: () => {} };
  try {
    // Fails for a handle of Windows that is neither file, pipe nor console.
    const stat = fstatSync(fd);
    if (stat.isFile()) return { ...asGiven, wouldBlock: false };
    if (process.platform !== 'linux') return { ...asGiven, wouldBlock: true };
    if (stat.isSocket()) return nonBlockingSocket(fd);
    const own = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    return { fd: own, wouldBlock: false, close: () => closeSync(own) };
  } catch {
    return { ...asGiven, wouldBlock: true };
  }
}

/** The journal's end under systemd. A socket cannot be opened again, but it is ours alone; libuv makes it non-blocking when it adopts it. */
function nonBlockingSocket(fd: number): Descriptor {
  const adopted = new Socket({ fd, readable: false, writable: true });
  adopted.unref();
  adopted.on('error', () => {});
  return { fd, wouldBlock: false, close: () => adopted.unref() };
}

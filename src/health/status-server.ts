import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import type { Clock } from '../clock.ts';
import { type Log, messageOf } from '../log.ts';
import { isPipe, type ShortPath, shortPath, statusPaths } from './status-path.ts';

export interface StatusServerOptions {
  /** The state directory. */
  readonly directory: string;
  /** The answer, as of now; takes well under a millisecond. */
  readonly snapshot: () => unknown;
  readonly clock: Clock;
  readonly log: Log;
  /** Where to listen, best first. Only tests choose. */
  readonly paths?: readonly string[];
}

/** A socket that was removed, or could not be created, is created after this long. */
const pollEveryMs = 60_000;
/** Commands are few and short: more than this is an error of the client. */
const mostConnections = 16;
const slowReaderMs = 5_000;

// assumption: windows-status-pipe
/**
 * Answers each connection with one line of JSON, for commands on this machine: read-only, for the owner and root, without
 * a write to the disk. The thread that polls answers, so a process that is stopped does not. Never rejects: a service that cannot be
 * queried continues, and `status` says so.
 */
export function serveStatus({ directory, snapshot, clock, log, paths = statusPaths(directory) }: StatusServerOptions): {
  close(): Promise<void>;
} {
  const closing = new AbortController();
  let listener: Listener | null = null;

  const answer = (socket: Socket): void => {
    socket.on('error', () => {}); // the client is gone
    socket.setTimeout(slowReaderMs, () => socket.destroy());
    socket.resume();
    socket.end(textOf(snapshot));
  };
  /** See {@link isPipe}. */
  const answerWhenAsked = (socket: Socket): void => {
    socket.on('error', () => {});
    socket.setTimeout(slowReaderMs, () => socket.destroy());
    socket.once('data', () => answer(socket));
  };

  async function listenSomewhere(): Promise<string | null> {
    let why = '';
    for (const path of paths) {
      const found = await listen(path, isPipe(path) ? answerWhenAsked : answer);
      if (typeof found !== 'string') {
        listener = found;
        return null;
      }
      why ||= found;
    }
    return why;
  }

  async function run(): Promise<void> {
    let isLogged = false;
    while (!closing.signal.aborted) {
      if (listener === null || !listener.isHere()) {
        await listener?.close();
        listener = null;
        const why = await listenSomewhere();
        if (why !== null && !isLogged) {
          log.warn(
            { part: 'status' },
            `The command status cannot query this service (${why}); retrying every minute. Everything else continues.`,
          );
        }
        isLogged = why !== null;
      }
      await clock.sleep(pollEveryMs, closing.signal);
    }
  }
  const running = run();

  return {
    async close() {
      closing.abort();
      await running;
      await listener?.close();
    },
  };
}

/** An internal error in one answer does not affect the bridge. */
function textOf(snapshot: () => unknown): string {
  try {
    return `${JSON.stringify(snapshot())}\n`;
  } catch (error) {
    return `${JSON.stringify({ error: String(error) })}\n`;
  }
}

interface Listener {
  /** The name still leads to the socket that is open. */
  isHere(): boolean;
  close(): Promise<void>;
}

/** @returns why it cannot listen there. */
async function listen(path: string, answer: (socket: Socket) => void): Promise<Listener | string> {
  const isSocket = !isPipe(path);
  let address: ShortPath | null = null;
  try {
    if (isSocket) mkdirSync(dirname(path), { mode: 0o700 });
  } catch {
    // It exists, or cannot be created: opening the socket shows which.
  }
  try {
    address = shortPath(path);
    const server = await open(address.path, answer);
    if (isSocket) chmodSync(address.path, 0o600);
    const inode = isSocket ? lstatSync(path).ino : null;
    const opened = address;
    return {
      isHere: () => inode === null || lstatSync(path, { throwIfNoEntry: false })?.ino === inode,
      async close() {
        await new Promise<void>((resolve) => server.close(() => resolve()));
        opened[Symbol.dispose]();
      },
    };
  } catch (error) {
    address?.[Symbol.dispose]();
    return messageOf(error);
  }
}

/** A socket that a killed process left behind is replaced; one that has a listener is not. */
async function open(path: string, answer: (socket: Socket) => void): Promise<Server> {
  try {
    return await openOnce(path, answer);
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    if (!isTaken || isPipe(path) || !lstatSync(path).isSocket() || (await isServed(path))) throw error;
    rmSync(path);
    return await openOnce(path, answer);
  }
}

function openOnce(path: string, answer: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer(answer);
    server.maxConnections = mostConnections;
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      server.on('error', () => {}); // of a connection that could not be accepted: the next one may be
      server.unref();
      resolve(server);
    });
  });
}

function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const done = (served: boolean): void => {
      socket.destroy();
      resolve(served);
    };
    socket.once('connect', () => done(true));
    socket.once('error', (error: NodeJS.ErrnoException) => done(error.code !== 'ECONNREFUSED'));
  });
}

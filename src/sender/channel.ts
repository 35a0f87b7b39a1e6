import { fork } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { extname } from 'node:path';

/** One end of a two-way channel. Messages arrive in order; those to a closed end are dropped. */
export interface Port {
  post(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of its stderr: the stack of an exception, or the error of V8. */
  readonly stderr: string;
  /** Why it could not be started; null where it was. */
  readonly notStarted: Error | null;
}

/** A process and the channel to it. */
export interface Child extends Port {
  readonly pid: number | undefined;
  /** Never rejects. */
  readonly exited: Promise<Exit>;
  /** Closes the channel: a working child then ends. */
  disconnect(): void;
  /** Ends it at once, in any state. */
  kill(): void;
}

/** A program that Node runs. */
export interface Program {
  readonly path: string;
  /** An open handle on the file, which is run even if the path leads elsewhere later; null: the path is run. */
  readonly fd: number | null;
}

/**
 * Opens the program for the life of this process, so that an update or a removal of its file changes nothing before the service is
 * restarted. Linux only, and only for the bundle: a program of several files finds the others by its path.
 */
export function openProgram(path: string): Program {
  const canHold = process.platform === 'linux' && extname(path) === '.cjs' && existsSync(nodeItself);
  return { path, fd: canHold ? openSync(path, 'r') : null };
}

/** The running Node.js binary, also after its file was replaced or removed. */
const nodeItself = '/proc/self/exe';
/** The number of the handle in the child: the first after stdin, stdout, stderr and the channel. */
const programFd = 4;

export interface ForkOptions {
  readonly program: Program;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Limit of its heap. */
  readonly heapMegabytes: number;
  /** Called with each piece of what it writes to stderr. */
  readonly onStderr: (text: string) => void;
}

const longestStderr = 4096;

/**
 * For glibc's allocator; the unit gives the same to the process that polls. One arena instead of one for each thread, and a mapping of its
 * own for each piece from 32 KB on, so that what V8's compiler frees goes back to the system: a sender that finds no compiled
 * code has 22 MB of anonymous memory instead of 35, one that finds it 22 instead of 23, and starts in the same CPU time (infra/performance.md).
 */
const frugalAllocator = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '32768' };

/** The argument that makes the program a sender; the role follows it. */
export const senderVerb = 'sender';

/** Starts another Node.js process. Never throws: one that cannot be started has ended. */
export function forkChild({ program, args, env, heapMegabytes, onStderr }: ForkOptions): Child {
  let stderr = '';
  let child: ReturnType<typeof fork>;
  try {
    const { path, fd } = program;
    child = fork(fd === null ? path : `/proc/self/fd/${programFd}`, [...args], {
      env: { ...frugalAllocator, ...env },
      // Not the arguments of this process: --inspect would use the same port twice.
      execArgv: [
        // With 1 MB, collecting young objects took a third of the CPU time while a backlog is sent; 4 MB save no more.
        '--min-semi-space-size=2',
        '--max-semi-space-size=2',
        `--max-old-space-size=${heapMegabytes}`,
        // Else Node resolves the handle to the path, and finds a newer file there or none.
        ...(fd === null ? [] : ['--preserve-symlinks-main']),
      ],
      ...(fd !== null && { execPath: nodeItself, argv0: process.execPath }),
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc', ...(fd === null ? [] : [fd])],
      windowsHide: true,
      // Its own process group: Ctrl+C, or an init that signals the whole group, would end a sender that is starting, and with
      // it the delivery of what is pending at the end. On Windows a hidden process has no console to be signalled by.
      detached: process.platform !== 'win32',
    });
  } catch (error) {
    return unstarted(error instanceof Error ? error : new Error(String(error)));
  }
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-longestStderr);
    onStderr(text);
  });
  const exited = new Promise<Exit>((resolve) => {
    // `close` also waits for the channel, and is never emitted once that was closed from this side.
    child.once('exit', (code, signal) => {
      const done = (): void => resolve({ code, signal, stderr, notStarted: null });
      if (child.stderr?.closed ?? true) done();
      else child.stderr?.once('close', done);
    });
    child.on('error', (error) => {
      // Also emitted for a message that could not be posted; the end of the process follows then.
      if (child.pid === undefined) resolve({ code: null, signal: null, stderr, notStarted: error });
    });
  });
  return {
    pid: child.pid,
    exited,
    post(message) {
      if (child.connected) child.send(message as object, () => {});
    },
    onMessage: (listener) => void child.on('message', listener),
    disconnect() {
      if (child.connected) child.disconnect();
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

const unstarted = (notStarted: Error): Child => ({
  pid: undefined,
  exited: Promise.resolve({ code: null, signal: null, stderr: '', notStarted }),
  post: () => {},
  onMessage: () => {},
  disconnect: () => {},
  kill: () => {},
});

/** The end of a process that {@link forkChild} started; null where this process was not forked. */
export function parentPort(): Port | null {
  if (!process.connected) return null;
  return {
    post: (message) => void process.send?.(message, undefined, undefined, () => {}),
    onMessage: (listener) => void process.on('message', listener),
  };
}

import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { environmentPrefix } from '../../config/options.ts';
import { freezeProcess } from '../cli/freeze-process.ts';

/** A real bridge in a process of its own, as an operator runs it. */
export interface BridgeProcess {
  /** The last lines of its log, of all its starts. */
  readonly log: readonly string[];
  start(): void;
  /** SIGSTOP, and SIGCONT after that time, when it resolves. Only where `canFreeze`. */
  freeze(seconds: number): Promise<void>;
  /** `kill -9`; resolves when it has ended. */
  kill(): Promise<void>;
  /** Stops it with SIGTERM, and kills it when that takes longer than `ms`. */
  stop(ms: number): Promise<void>;
  /** For the exit of this process only: waits for nothing. */
  killNow(): void;
}

export interface BridgeProcessOptions {
  /** The file of the program: `src/main.ts`, or what it was bundled to. */
  readonly program: string;
  /** What follows it on the command line. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Called when it ends without having been stopped. */
  readonly onUnexpectedExit: (how: string) => void;
}

const logLines = 20;

/**
 * A bridge must not outlive the demo, even after `kill -9`: it is started with an IPC channel, and this preloaded module ends it when
 * the channel closes.
 */
const endsWithUs = `data:text/javascript,${encodeURIComponent(
  'process.once("disconnect", () => process.kill(process.pid, "SIGKILL"))',
)}`;

export function createBridgeProcess({ program, args, env, onUnexpectedExit }: BridgeProcessOptions): BridgeProcess {
  const log: string[] = [];
  let child: ChildProcess | null = null;
  let isWanted = false;

  const exited = (one: ChildProcess): Promise<void> =>
    one.exitCode !== null || one.signalCode !== null
      ? Promise.resolve()
      : new Promise((resolve) => one.once('exit', () => resolve()));

  const end = async (signal: NodeJS.Signals, graceMs: number): Promise<void> => {
    isWanted = false;
    if (child === null) return;
    child.kill(signal);
    const timer = setTimeout(() => child?.kill('SIGKILL'), graceMs);
    await exited(child).finally(() => clearTimeout(timer));
  };

  return {
    log,
    start() {
      isWanted = true;
      child = spawn(process.execPath, ['--import', endsWithUs, program, ...args], {
        env: withoutBridgeVariables(env),
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      });
      keepLast(child.stderr, log);
      child.once('error', (error) => onUnexpectedExit(error.message));
      child.once('exit', (code, signal) => isWanted && onUnexpectedExit(signal ?? `exit code ${code}`));
    },
    async freeze(seconds) {
      if (child?.pid === undefined) return;
      await exited(freezeProcess(child.pid, seconds));
    },
    kill: () => end('SIGKILL', 0),
    stop: (ms) => end('SIGTERM', ms),
    killNow() {
      isWanted = false;
      child?.kill('SIGKILL');
    },
  };
}

/** No proxy and no configuration of a real bridge: the demo configures everything, and all of it is on this machine. */
const withoutBridgeVariables = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => !/_proxy$/i.test(name) && !name.startsWith(environmentPrefix)),
  );

function keepLast(stream: Readable | null, log: string[]): void {
  let rest = '';
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    log.push(...lines);
    log.splice(0, log.length - logLines);
  });
}

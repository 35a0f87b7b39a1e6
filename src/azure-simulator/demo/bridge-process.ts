import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { environmentPrefix } from '../../config/options.ts';
import { freezeProcess } from '../cli/freeze-process.ts';

/** A real bridge in a process of its own, as an operator runs it. */
export interface BridgeProcess {
  /** The last lines of its log, of all its starts. */
  readonly log: readonly string[];
  start(): void;
  /** SIGSTOP, and SIGCONT after so many seconds; resolves then. Only where `canFreeze`. */
  freeze(seconds: number): Promise<void>;
  /** `kill -9`; resolves when it is gone. */
  kill(): Promise<void>;
  /** Asks it to come to its end, and kills it when that takes longer than `ms`. */
  stop(ms: number): Promise<void>;
  /** For the moment of exit only: nothing is waited for. */
  killNow(): void;
}

export interface BridgeProcessOptions {
  /** The file of the program: `src/main.ts`, or what it was bundled to. */
  readonly program: string;
  /** What follows it on the command line. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** It ended, and nobody here asked for it. */
  readonly died: (how: string) => void;
}

const logLines = 20;

/**
 * The bridge must not outlive us, even if we die by `kill -9`: it is started with a channel to us, and this ends it when
 * the channel does. `run` itself knows nothing of that.
 */
const endsWithUs = `data:text/javascript,${encodeURIComponent(
  'process.once("disconnect", () => process.kill(process.pid, "SIGKILL"))',
)}`;

export function createBridgeProcess({ program, args, env, died }: BridgeProcessOptions): BridgeProcess {
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
    const impatience = setTimeout(() => child?.kill('SIGKILL'), graceMs);
    await exited(child).finally(() => clearTimeout(impatience));
  };

  return {
    log,
    start() {
      isWanted = true;
      child = spawn(process.execPath, ['--import', endsWithUs, program, ...args], {
        env: undisturbed(env),
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      });
      keepLast(child.stderr, log);
      child.once('error', (error) => died(error.message));
      child.once('exit', (code, signal) => isWanted && died(signal ?? `exit code ${code}`));
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

/** Everything is on this machine, and as the demo configures it, whatever the environment says of a real bridge. */
const undisturbed = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
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

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Az, AzError, type CallOptions } from './az.ts';
import { refusalIn, transience } from './az-errors.ts';
import type { RunEvent } from './journal.ts';

export interface AzProcesses {
  readonly az: Az;
  /** Ends every call that is under way, at once. */
  kill(): void;
}

interface AzProcessOptions {
  /** The program and its first arguments. */
  readonly program: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Of a call that names none. */
  readonly signal: () => AbortSignal;
  readonly write: (event: RunEvent) => void;
  /** Waiting times before a call is made again; as many retries as there are numbers. */
  readonly retrySeconds?: readonly number[];
}

const defaultRetrySeconds = [5, 15, 30, 60, 120];
const defaultTimeoutMinutes = 30;
/** Between the request to end and `kill -9`. */
const killAfterMs = 5_000;

/** The Azure CLI as processes, each of a group of its own: Ctrl-C in the terminal does not reach them. */
export function createAz({
  program,
  env,
  signal,
  write,
  retrySeconds = defaultRetrySeconds,
}: AzProcessOptions): AzProcesses {
  const running = new Set<ChildProcess>();

  async function call(args: readonly string[], options: CallOptions = {}): Promise<unknown> {
    const stop = options.signal ?? signal();
    for (let attempt = 0; ; attempt += 1) {
      stop.throwIfAborted();
      write({ event: 'call-begun', args });
      const began = performance.now();
      const ended = await once(args, options.timeoutMinutes ?? defaultTimeoutMinutes, stop);
      const seconds = Math.round((performance.now() - began) / 100) / 10;
      const wait = retrySeconds[attempt];
      const isRetried =
        wait !== undefined && !stop.aborted && ended.exitCode !== 0 && mayRetry(ended, options.isRepeatable ?? true);
      const error = ended.exitCode === 0 ? null : errorOf(args, ended);
      write({ event: 'call-ended', args, seconds, error: error?.message ?? null, isRetried });
      stop.throwIfAborted();
      if (error === null) return resultOf(ended.stdout);
      if (!isRetried) throw error;
      await sleep(wait * 1000, undefined, { signal: stop });
    }
  }

  function once(args: readonly string[], timeoutMinutes: number, stop: AbortSignal): Promise<Ended> {
    return new Promise((resolve) => {
      const [name = 'az', ...first] = program;
      const child = spawn(name, [...first, ...args, '--output', 'json', '--only-show-errors'], {
        env: {
          ...env,
          AZURE_CORE_NO_COLOR: 'true',
          AZURE_EXTENSION_USE_DYNAMIC_INSTALL: 'no',
          PYTHONIOENCODING: 'utf-8',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: process.platform !== 'win32',
        windowsHide: true,
      });
      running.add(child);
      const output = { stdout: '', stderr: '' };
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].setEncoding('utf8').on('data', (text: string) => {
          output[name] += text;
        });
      }
      let isTimeout = false;
      let killTimer: NodeJS.Timeout | undefined;
      const end = (): void => {
        killGroup(child, 'SIGTERM');
        killTimer ??= setTimeout(() => killGroup(child, 'SIGKILL'), killAfterMs);
      };
      const limit = setTimeout(() => {
        isTimeout = true;
        end();
      }, timeoutMinutes * 60_000);
      stop.addEventListener('abort', end, { once: true });
      const settle = (exitCode: number | null, failure?: string): void => {
        clearTimeout(limit);
        clearTimeout(killTimer);
        stop.removeEventListener('abort', end);
        running.delete(child);
        const stderr = failure ?? (isTimeout ? `ERROR: no result within ${timeoutMinutes} minutes` : output.stderr);
        resolve({ exitCode: isTimeout ? null : exitCode, stdout: output.stdout, stderr, isTimeout });
      };
      child.once('error', (error) => settle(null, `ERROR: ${name} cannot be started: ${error.message}`));
      child.once('close', (exitCode) => settle(exitCode));
    });
  }

  return {
    az: { call },
    kill() {
      for (const child of running) killGroup(child, 'SIGKILL');
    },
  };
}

interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly isTimeout: boolean;
}

function mayRetry({ stderr, isTimeout }: Ended, isRepeatable: boolean): boolean {
  const kind = isTimeout ? null : transience(stderr);
  return kind === 'refused' || (kind === 'unknown' && isRepeatable);
}

function errorOf(args: readonly string[], { stderr, exitCode }: Ended): AzError {
  const { code, message } = refusalIn(stderr);
  const command = args.slice(0, args.findIndex((arg) => arg.startsWith('-')) >>> 0).join(' ');
  const what = message === '' ? `exit code ${exitCode ?? 'none'}` : message;
  return new AzError(`az ${command}: ${code === null ? '' : `${code}: `}${what}`, { args, code, exitCode });
}

/** JSON; text where it is something else. */
function resultOf(stdout: string): unknown {
  const text = stdout.trim();
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

// assumption: windows-acceptance-stop
function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  if (process.platform === 'win32') {
    spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true });
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended.
  }
}

// assumption: windows-acceptance-az
/**
 * How `az` is started; undefined where it is not in PATH. On Windows it is a batch file, which Node.js does not start without a shell;
 * it starts the Python beside it, and so does this.
 * https://github.com/Azure/azure-cli/blob/dev/build_scripts/windows/scripts/az_msi.cmd
 */
export function findAz(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
  exists: (path: string) => boolean = existsSync,
): readonly string[] | undefined {
  const isWindows = platform === 'win32';
  const { join, dirname, delimiter } = isWindows ? win32 : posix;
  const found = (env.PATH ?? env.Path ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, isWindows ? 'az.cmd' : 'az'))
    .find(exists);
  if (found === undefined) return undefined;
  return isWindows ? [join(dirname(dirname(found)), 'python.exe'), '-IBm', 'azure.cli'] : [found];
}

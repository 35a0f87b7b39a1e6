import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** How a program ended. */
export interface Ended {
  /** Null: it was not started, or had to be ended. */
  readonly code: number | null;
  /** Why it could not be started (`ENOENT`, `EACCES`, `ENOEXEC`), or `ETIMEDOUT`. */
  readonly failed: string | null;
  readonly out: string;
  readonly err: string;
}

/** No output of a program that the installer asks is longer. */
const most = 64 * 1024;

interface RunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
}

/** Runs a program of the path, without a shell, and waits for it. Never rejects. */
export function runProgram(name: string, args: readonly string[], { env, timeoutMs }: RunOptions): Promise<Ended> {
  return new Promise((resolve) => {
    let [out, err] = ['', ''];
    let failed: string | null = null;
    const child = started(name, args, { env, timeoutMs });
    if (typeof child === 'string') return resolve({ code: null, failed: child, out, err });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out = (out + text).slice(0, most);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err = (err + text).slice(0, most);
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      failed ??= error.code ?? 'failed';
      // Nothing was started, so nothing will be closed.
      if (child.pid === undefined) resolve({ code: null, failed, out, err });
    });
    child.on('close', (code, signal) => {
      if (signal !== null) failed ??= signal === 'SIGKILL' ? 'ETIMEDOUT' : signal;
      resolve({ code: signal === null ? code : null, failed, out, err: err.trim() });
    });
  });
}

/** Node reports only some errors as an event: it throws for a file that is damaged, or that Windows blocks. @returns its code then. */
function started(name: string, args: readonly string[], { env, timeoutMs }: RunOptions) {
  try {
    return spawn(name, args, {
      env,
      // In its own session: Ctrl-C at a terminal must not end `useradd` half-way.
      detached: true,
      windowsHide: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
    });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'failed';
  }
}

/** What it said last, else how it ended: for a sentence. */
export function lastWord({ code, failed, err }: Ended): string {
  if (failed === 'ENOENT') return 'there is no such program';
  if (failed !== null)
    return failed in constants.errno ? `it could not be run (${failed})` : `it was ended by ${failed}`;
  return err.split('\n').findLast((line) => line.trim() !== '') ?? `exit code ${code}`;
}

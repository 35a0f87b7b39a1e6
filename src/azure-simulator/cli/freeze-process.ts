import { type ChildProcess, spawn } from 'node:child_process';

/** Windows has no signals that stop a process. */
export const canFreeze = process.platform !== 'win32';

/**
 * SIGCONT comes from a process of its own, which nothing that ends us ends: whoever froze a process and died, by `kill -9` or by a
 * closed terminal, must not leave it standing for ever.
 */
const script = 'trap "" INT TERM HUP; kill -STOP "$0" && sleep "$1"; kill -CONT "$0"';

/** SIGSTOP now, SIGCONT after so many seconds; what is answered ends then. Only where {@link canFreeze}. */
export function freezeProcess(pid: number, seconds: number): ChildProcess {
  return spawn('sh', ['-c', script, String(pid), String(seconds)], { stdio: 'ignore', detached: true });
}

import { type ChildProcess, spawn } from 'node:child_process';

/** Windows has no signals that stop a process. */
export const canFreeze = process.platform !== 'win32';

/**
 * SIGCONT is sent by a detached process, so that the frozen process resumes even when this one is ended by `kill -9` or a closed
 * terminal.
 */
const script = 'trap "" INT TERM HUP; kill -STOP "$0" && sleep "$1"; kill -CONT "$0"';

/** SIGSTOP now, SIGCONT after that many seconds. The returned process exits then. Only where {@link canFreeze}. */
export function freezeProcess(pid: number, seconds: number): ChildProcess {
  return spawn('sh', ['-c', script, String(pid), String(seconds)], { stdio: 'ignore', detached: true });
}

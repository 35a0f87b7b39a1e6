import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { serviceName } from '../service/names.ts';
import { serviceSid } from '../service/windows/acl.ts';
import { hostName } from '../service/windows/places.ts';

/** What a status pipe of Windows answered, or why it did not. */
export type PipeAnswer =
  | { readonly kind: 'answered'; readonly text: string }
  | { readonly kind: 'silent' | 'nobody' | 'denied' };

interface PipeOptions {
  /** The program that asks. */
  readonly host?: string;
  /** Far longer than it waits for an answer: a virus scanner may delay its start. */
  readonly timeoutMs?: number;
}

/** Exit codes of `--ask`; by all others it says that it did not get an answer of the service. */
const kinds = { 3: 'silent', 5: 'denied' } as const;

/** Beside the runtime: a package has both. */
const installedHost = (): string => join(dirname(process.execPath), hostName);

/**
 * Asks by means of the service host: while the service does not run, any user can make a pipe of its name, and Node would let that user
 * act as the one who asks. Never rejects. Without the service host, as when run from the sources, the answer is `nobody`.
 * https://learn.microsoft.com/windows/win32/secauthz/impersonation-levels
 */
export function askPipe(
  path: string,
  longestAnswer: number,
  { host = installedHost(), timeoutMs = 15_000 }: PipeOptions = {},
): Promise<PipeAnswer> {
  const args = ['--ask', path, serviceSid(serviceName)];
  const options = { encoding: 'utf8', timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: longestAnswer } as const;
  return new Promise((resolve) => {
    execFile(host, args, { ...options, windowsHide: true }, (error, text) => {
      if (error === null) return resolve({ kind: 'answered', text });
      const { code, killed } = error;
      resolve({ kind: killed && code == null ? 'silent' : (kinds[code as keyof typeof kinds] ?? 'nobody') });
    });
  });
}

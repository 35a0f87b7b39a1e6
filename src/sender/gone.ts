import { retry } from '../azure/failure.ts';
import type { Failure } from '../sinks/sink.ts';
import type { Exit } from './channel.ts';

/** Why the bridge ended a process; null: it did not. */
export type Killed = 'hung' | 'memory' | null;

/** The error of a sender whose version is not that of the bridge that started it. */
export const otherVersion = (own: string, bridge: string): string =>
  `This program has version ${own}, the bridge that started it has version ${bridge}.`;
const otherVersionPattern = /^This program has version (.+), the bridge that started it has version (.+)\.$/m;

/** The failure of the calls that a process had not answered when it ended. */
export function goneFailure(
  exit: Exit,
  killed: Killed,
  {
    does,
    hungSeconds,
    memoryMegabytes,
  }: {
    /** `sends to the event hub x`: completes "The process that …". */
    readonly does: string;
    readonly hungSeconds: number;
    readonly memoryMegabytes: number;
  },
): Failure {
  const process = `The process that ${does}`;
  const again = 'it is started again when needed, and no record is lost';
  if (exit.notStarted) {
    const reason = `${process} could not be started (${exit.notStarted.message}); retrying. If this continues, check the limits on processes and memory.`;
    return retry('transient', 'sender-not-started', reason);
  }
  const [, found, running] = otherVersionPattern.exec(exit.stderr) ?? [];
  if (found !== undefined) {
    const reason = `${process} was not started: the program file was replaced by version ${found} while version ${running} is running. Restart the service.`;
    return retry('transient', 'sender-other-version', reason);
  }
  if (killed === 'hung') {
    return retry(
      'transient',
      'sender-hung',
      `${process} did not respond for ${hungSeconds} s and was ended; ${again}.`,
    );
  }
  if (killed === 'memory' || /heap out of memory|Array buffer allocation failed/i.test(exit.stderr)) {
    const reason = `${process} exceeded its limit of ${memoryMegabytes} MB and was ended; ${again}. If this continues, check for something else that answers in place of Azure, for instance a proxy.`;
    return retry('transient', 'sender-out-of-memory', reason);
  }
  const how = exit.signal === null ? `exit code ${exit.code}` : exit.signal;
  const byWhom =
    exit.signal === 'SIGKILL' ? ', for instance by the kernel for lack of memory' : firstError(exit.stderr);
  return retry('transient', 'sender-exited', `${process} ended (${how}${byWhom}); ${again}.`);
}

/** The error that a stack begins with; the lines of a stack and of source code are indented. */
function firstError(stderr: string): string {
  const [, error] = /^(?!\s).*?(\w*(?:Error|Exception)\b.*)/m.exec(stderr) ?? [];
  return error === undefined ? '' : `, ${error.trim().slice(0, 200)}`;
}

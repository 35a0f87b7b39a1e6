import { retry } from '../azure/failure.ts';
import type { Failure } from '../sinks/sink.ts';
import type { Exit } from './channel.ts';

/** Why we ended a process ourselves; null: we did not. */
export type Killed = 'hung' | 'memory' | null;

/** The last words of a sender that is of another version than the bridge that started it. */
export const otherVersion = (own: string, bridge: string): string =>
  `This program has version ${own}, the bridge that started it has version ${bridge}.`;
const otherVersionPattern = /^This program has version (.+), the bridge that started it has version (.+)\.$/m;

/** What the end of a process means for what it was doing. */
export function goneFailure(
  exit: Exit,
  killed: Killed,
  {
    does,
    hungSeconds,
    memoryMegabytes,
  }: {
    /** `sends to the event hub x`: goes on after "The process that". */
    readonly does: string;
    readonly hungSeconds: number;
    readonly memoryMegabytes: number;
  },
): Failure {
  const process = `The process that ${does}`;
  const again = 'it is started again when there is something to do, and nothing is lost';
  if (exit.notStarted) {
    const reason = `${process} could not be started (${exit.notStarted.message}); retrying. If this continues, check the limits on processes and memory.`;
    return retry('transient', 'sender-not-started', reason);
  }
  const [, found, running] = otherVersionPattern.exec(exit.said) ?? [];
  if (found !== undefined) {
    const reason = `${process} was not started: the program file was replaced by version ${found} while version ${running} is running. Restart the service.`;
    return retry('transient', 'sender-other-version', reason);
  }
  if (killed === 'hung') {
    return retry('transient', 'sender-hung', `${process} did nothing for ${hungSeconds} s and was ended; ${again}.`);
  }
  if (killed === 'memory' || /heap out of memory|Array buffer allocation failed/i.test(exit.said)) {
    const reason = `${process} needed more than its ${memoryMegabytes} MB and was ended; ${again}. If this continues, check for what answers in place of Azure, for instance a proxy.`;
    return retry('transient', 'sender-out-of-memory', reason);
  }
  const how = exit.signal === null ? `exit code ${exit.code}` : exit.signal;
  const byWhom = exit.signal === 'SIGKILL' ? ', for instance by the kernel for lack of memory' : lastError(exit.said);
  return retry('transient', 'sender-exited', `${process} ended (${how}${byWhom}); ${again}.`);
}

/** The error that a stack begins with; the lines of a stack and of source code are indented. */
function lastError(said: string): string {
  const [, error] = /^(?!\s).*?(\w*(?:Error|Exception)\b.*)/m.exec(said) ?? [];
  return error === undefined ? '' : `, ${error.trim().slice(0, 200)}`;
}

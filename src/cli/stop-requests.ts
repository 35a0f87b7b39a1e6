import type { Readable } from 'node:stream';

/** Set by the service host of Windows, which has no signals for a service: the end of standard input is its request to stop. */
const stopOnStdinEnd = 'SCHEDULED_EVENTS_BRIDGE_STOP_ON_STDIN_END';

/**
 * The signals that ask a program to stop, with their numbers. Windows has Ctrl+Break, which is the only one that another program can
 * send, and reports a closed console as SIGHUP; ten seconds later it ends the process. https://nodejs.org/api/process.html#signal-events
 */
export function stopSignals(platform: NodeJS.Platform): readonly (readonly [signal: NodeJS.Signals, number: number])[] {
  const everywhere = [
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const;
  return platform === 'win32' ? [...everywhere, ['SIGBREAK', 21], ['SIGHUP', 1]] : everywhere;
}

/** Calls `request` at the end of standard input, if the service host wants that; the stream is not opened otherwise. Removes its variable, which is no option and for no other process. */
export function stopAtEndOf(stdin: () => Readable, env: NodeJS.ProcessEnv, request: () => void): void {
  const isWanted = env[stopOnStdinEnd] === '1';
  delete env[stopOnStdinEnd];
  if (isWanted) stdin().once('end', request).once('error', request).resume();
}

// assumption: windows-acceptance-stop
/** The signals that ask a run to end: Ctrl-C, `kill`, a closed terminal, Ctrl-Break of Windows. */
export const stopSignals = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1, SIGBREAK: 21 } as const;
export type StopSignal = keyof typeof stopSignals;

/** Requests to end, as a run sees them. */
export interface StopRequests {
  /** Aborted by the first one. */
  readonly first: AbortSignal;
  /** The signal of the first one; undefined before it. */
  readonly name: () => StopSignal | undefined;
}

/** Exit code of a program that a signal has ended. */
export const exitCodeOf = (signal: StopSignal): number => 128 + stopSignals[signal];

/**
 * One request can send several signals: npm passes Ctrl-C on to a process that has it from the terminal already, and when a terminal is closed,
 * kernel and shell send one each. What follows the first one within this time belongs to it.
 */
const sameRequestMs = 2_000;

/**
 * Listens to the signals: the first one is a request to end, a later one ends the process at once.
 * @param now milliseconds of a clock that never goes back
 * @param onFirst called at the first one, before `first` is aborted
 * @param endAtOnce does what has to be done before the process ends with this exit code
 */
export function listenToSignals(
  listen: (signal: StopSignal, listener: () => void) => void,
  now: () => number,
  { onFirst, endAtOnce }: { onFirst: () => void; endAtOnce: (exitCode: number) => void },
): StopRequests {
  const first = new AbortController();
  let name: StopSignal | undefined;
  let firstAt = 0;
  for (const signal of Object.keys(stopSignals) as StopSignal[]) {
    listen(signal, () => {
      if (name !== undefined) {
        if (now() - firstAt >= sameRequestMs) endAtOnce(exitCodeOf(signal));
        return;
      }
      name = signal;
      firstAt = now();
      onFirst();
      first.abort();
    });
  }
  return { first: first.signal, name: () => name };
}

import { type Clock, formatDuration } from '../clock.ts';
import { createRateLimit, createStatusLogger, type Log } from '../log.ts';

/** Why a sink fails, for the log and for `health`. */
export interface Failing {
  readonly code: string;
  readonly reason: string;
  readonly step: number;
  /** When it is tried again; null where only single events wait. */
  readonly retryAt: string | null;
}

/** Logged with the status of a sink. */
export interface Facts {
  /** Counts what has not been delivered; called only where it is logged. */
  readonly waiting: () => number;
  /** Batches that got through so far. */
  readonly delivered: number;
}

export type StatusLog = ReturnType<typeof createStatusLog>;

/**
 * One line when a sink begins to fail or fails for another reason, one now and then while it does, one when it is over:
 * that it recovered only after it took something.
 */
export function createStatusLog(options: { readonly log: Log; readonly clock: Clock; readonly sink: string }) {
  const { log, clock, sink } = options;
  const limited = createRateLimit({ clock, everyMs: 60_000 });
  const logStatus = createStatusLogger({ clock });
  /** Batches that had got through when it began to fail. */
  let deliveredBefore: number | null = null;
  return {
    /** Null: nothing is wrong. */
    status(failing: Failing | null, { waiting, delivered }: Facts): void {
      if (failing) deliveredBefore ??= delivered;
      const { code = null, reason = '', step = 0, retryAt = null } = failing ?? {};
      logStatus(code, {
        begins: () => log.warn({ sink, code, step, retryAt }, `${sink} is failing: ${reason}`),
        lasts: (seconds) => {
          const records = waiting();
          log.warn(
            { sink, code, step, retryAt, seconds, waiting: records },
            `${sink} has been failing for ${formatDuration(seconds)}; ${records} records wait for it: ${reason}`,
          );
        },
        over: (seconds) =>
          delivered > (deliveredBefore ?? delivered)
            ? log.info({ sink, seconds }, `${sink} recovered after ${formatDuration(seconds)}.`)
            : log.info({ sink, seconds }, `No records wait for ${sink} any more; it took none since it began to fail.`),
      });
      if (!failing) deliveredBefore = null;
    },
    deadLetter: (position: number, code: string, reason: string): void =>
      limited(`dead ${code}`, (leftOut) =>
        log.warn(
          { sink, position, code, leftOut },
          `${sink} refuses a record, which becomes a dead letter; the other records go on: ${reason}`,
        ),
      ),
  };
}

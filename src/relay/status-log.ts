import { type Clock, formatDuration } from '../clock.ts';
import { createRateLimit, createStatusLogger, type Log } from '../log.ts';
import { noProgress, type SinkProgress } from '../outbox/outbox.ts';

export type StatusLog = ReturnType<typeof createStatusLog>;

/**
 * One line when a sink begins to fail or fails for another reason, one now and then while it does, one when it has ended:
 * that it recovered only after it took something.
 */
export function createStatusLog(log: Log, clock: Clock, sink: string) {
  const limited = createRateLimit({ clock, everyMs: 60_000 });
  const logStatus = createStatusLogger({ clock });
  /** Batches that had got through when it began to fail. */
  let deliveredBefore: number | null = null;
  return {
    /**
     * `failing`: null where nothing is wrong. `delivered`: batches that got through so far. `waiting` counts what has not been
     * delivered; called only where it is logged.
     */
    status(failing: SinkProgress | null, delivered: number, waiting: () => number): void {
      if (failing) deliveredBefore ??= delivered;
      const { step, retryAt, lastErrorCode, lastErrorReason } = failing ?? noProgress;
      const code = failing && (lastErrorCode ?? 'unknown');
      const reason = lastErrorReason ?? 'no reason is known';
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

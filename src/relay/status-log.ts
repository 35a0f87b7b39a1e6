import type { Clock } from '../clock.ts';
import { createRateLimit, createStatusLogger, type Log } from '../log.ts';

/** Why a sink fails, for the log and for `health`. */
export interface Failing {
  readonly code: string;
  readonly reason: string;
  readonly step: number;
  /** When it is asked again; null where only single events wait. */
  readonly retryAt: string | null;
}

/** What the log says with how a sink stands. */
export interface Facts {
  /** Counts what has not been delivered; asked only where it is said. */
  readonly waiting: () => number;
  /** Batches that got through so far. */
  readonly delivered: number;
}

/**
 * One line when a sink begins to fail or fails for another reason, one now and then while it does, one when it is over:
 * that it is back only after it took something.
 */
export interface StatusLog {
  /** Null: nothing is wrong. */
  tell(failing: Failing | null, facts: Facts): void;
  dead(position: number, code: string, reason: string): void;
}

export function createStatusLog({
  log,
  clock,
  sink,
}: {
  readonly log: Log;
  readonly clock: Clock;
  readonly sink: string;
}): StatusLog {
  const limited = createRateLimit({ clock, everyMs: 60_000 });
  const teller = createStatusLogger({ clock });
  /** When it began to fail. */
  let deliveredThen: number | null = null;
  return {
    tell(failing, { waiting, delivered }) {
      if (failing) deliveredThen ??= delivered;
      const { code = null, reason = '', step = 0, retryAt = null } = failing ?? {};
      teller(code, {
        begins: () => log.warn({ sink, code, step, retryAt }, `${sink} is failing: ${reason}`),
        lasts: (seconds) => {
          const records = waiting();
          log.warn(
            { sink, code, step, retryAt, seconds, waiting: records },
            `${sink} has been failing for ${inWords(seconds)}; ${records} records wait for it: ${reason}`,
          );
        },
        over: (seconds) =>
          delivered > (deliveredThen ?? delivered)
            ? log.info({ sink, seconds }, `${sink} is back after ${inWords(seconds)}.`)
            : log.info({ sink, seconds }, `No records wait for ${sink} any more; it took none since it began to fail.`),
      });
      if (!failing) deliveredThen = null;
    },
    dead(position, code, reason) {
      limited(`dead ${code}`, (leftOut) =>
        log.warn(
          { sink, position, code, leftOut },
          `${sink} refuses a record, which is put aside; the other records go on: ${reason}`,
        ),
      );
    },
  };
}

/** `42 s`, `12 min`, `5 h`: as exact as anybody wants to know. */
function inWords(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

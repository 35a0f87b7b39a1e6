import type { Clock } from '../clock.ts';
import { createRateLimit, createTroubleTeller, type Log } from '../log.ts';

/** Why a sink fails, for the log and for `health`. */
export interface Failing {
  readonly code: string;
  readonly reason: string;
  readonly step: number;
  /** When it is asked again; null where only single events wait. */
  readonly retryAt: string | null;
}

/** One line when a sink begins to fail or fails for another reason, one now and then while it does, one when it is back. */
export interface Narrator {
  /** Null: nothing is wrong. `waiting` counts what has not been delivered; asked only where it is said. */
  tell(failing: Failing | null, waiting: () => number): void;
  dead(position: number, code: string, reason: string): void;
}

export function createNarrator({
  log,
  clock,
  sink,
}: {
  readonly log: Log;
  readonly clock: Clock;
  readonly sink: string;
}): Narrator {
  const limited = createRateLimit({ clock, everyMs: 60_000 });
  const teller = createTroubleTeller({ clock });
  return {
    tell(failing, waiting) {
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
        over: (seconds) => log.info({ sink, seconds }, `${sink} is back after ${inWords(seconds)}.`),
      });
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

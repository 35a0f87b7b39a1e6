import type { Clock } from '../clock.ts';
import { createRateLimit, type Log } from '../log.ts';

/** Why a sink fails, for the log and for `health`. */
export interface Failing {
  readonly code: string;
  readonly reason: string;
  readonly step: number;
  /** When it is asked again; null where only single events wait. */
  readonly retryAt: string | null;
}

/** One line when a sink begins to fail or fails for another reason, one when it is back: not one per attempt. */
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
  let told: string | null = null;
  let since = 0;
  return {
    tell(failing, waiting) {
      if (told === (failing?.code ?? null)) return;
      if (told === null) since = clock.monotonicMs();
      told = failing?.code ?? null;
      if (failing) {
        limited(failing.code, (leftOut) =>
          log.warn({ sink, ...failing, leftOut }, `${sink} is failing: ${failing.reason}`),
        );
        return;
      }
      const seconds = Math.round((clock.monotonicMs() - since) / 1_000);
      limited('recovered', (leftOut) => {
        const waited = waiting();
        log.info(
          { sink, waiting: waited, seconds, leftOut },
          `${sink} is back after ${seconds} s; ${waited} records waited for it`,
        );
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

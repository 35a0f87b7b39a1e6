import type { Clock } from './clock.ts';
import type { Pace } from './imds/poll-pace.ts';
import type { Seen } from './lifecycle/scheduled-event.ts';
import type { Turn } from './lifecycle/transition.ts';
import { createRateLimit, type Log } from './log.ts';

/** Says what a turn saw and decided: one line per record, one when the endpoint falls silent, one when it is back. */
export interface TurnLog {
  told(turn: Pick<Turn, 'seen' | 'records'>, pace: Pace): void;
  /** A turn ended in an exception: a mistake of ours. */
  failed(error: unknown): void;
}

/** The same trouble is said again after this long. */
const repeatMs = 10 * 60_000;

export function createTurnLog(log: Log, clock: Clock): TurnLog {
  const limited = createRateLimit({ clock, everyMs: repeatMs });
  let silence: { readonly since: number; polls: number } | null = null;

  function tellSilence({ code, reason }: Extract<Seen, { kind: 'unavailable' }>): void {
    silence ??= { since: clock.monotonicMs(), polls: 0 };
    silence.polls += 1;
    limited(code, (leftOut) => log.warn({ code, leftOut }, `No document: ${reason}`));
  }

  function tellReturn(): void {
    if (!silence) return;
    const { since, polls } = silence;
    const seconds = Math.round((clock.monotonicMs() - since) / 1000);
    limited('back', (leftOut) =>
      log.info(
        { seconds, polls, leftOut },
        `The metadata service answers again, after ${polls} polls without a document.`,
      ),
    );
    silence = null;
  }

  return {
    failed(error) {
      limited('turn-failed', (leftOut) =>
        log.error(
          { error, leftOut },
          'A poll ended in a mistake of this program and changed nothing; polling goes on. Please report it.',
        ),
      );
    },
    told({ seen, records }, { cappedMs }) {
      if (seen.kind !== 'unavailable') tellReturn();
      else if (seen.code !== 'aborted') tellSilence(seen);
      if (cappedMs !== null) {
        limited('retry-after', (leftOut) =>
          log.warn(
            { cappedMs, leftOut },
            `The metadata service asks to wait ${Math.round(cappedMs / 1000)} s; the next poll comes in 5 s, since what is not polled is lost.`,
          ),
        );
      }
      for (const { eventId, eventType, phase, evidence, notBefore, observerAffected, position } of records) {
        const whose = observerAffected ? 'this VM' : 'other VMs';
        log.info(
          { eventId, eventType, phase, evidence, notBefore, observerAffected, position },
          `${eventType ?? 'An event'} of ${whose}: ${phase} (${evidence.join(', ')})`,
        );
      }
    },
  };
}

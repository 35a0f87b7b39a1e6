import type { Clock } from '../clock.ts';
import type { PollResult } from '../lifecycle/scheduled-event.ts';
import type { Transition } from '../lifecycle/transition.ts';
import { createRateLimit, createStatusLogger, type Log } from '../log.ts';
import type { Pace } from './poll-pace.ts';

/** Logs the result of each poll: one line per record, one when documents stop coming, one when they come again. */
export interface PollLog {
  polled(turn: Pick<Transition, 'pollResult' | 'records'>, pace: Pace): void;
  /** A poll ended with an exception, an internal error. */
  failed(error: unknown): void;
}

export function createPollLog(log: Log, clock: Clock): PollLog {
  const limited = createRateLimit({ clock, everyMs: 10 * 60_000 });
  const statusLogger = createStatusLogger({ clock });
  let polls = 0;

  function logDocument(seen: PollResult): void {
    const { code = null, reason = '' } = seen.kind === 'unavailable' ? seen : {};
    polls = code === null ? polls : polls + 1;
    statusLogger(code, {
      begins: () => log.warn({ code }, `No document: ${reason}`),
      lasts: (seconds) => log.warn({ code, seconds, polls }, `Still no document after ${counted(polls)}: ${reason}`),
      over: (seconds) =>
        log.info({ seconds, polls }, `The metadata service answers again, after ${counted(polls)} without a document.`),
    });
    if (code === null) polls = 0;
  }

  return {
    failed(error) {
      limited('turn-failed', (leftOut) =>
        log.error(
          { error, leftOut },
          'A poll failed with an internal error and changed nothing; polling continues. Please report it.',
        ),
      );
    },
    polled({ pollResult: seen, records }, { cappedMs }) {
      if (seen.kind !== 'unavailable' || seen.code !== 'aborted') logDocument(seen);
      if (cappedMs !== null) {
        limited('retry-after', (leftOut) =>
          log.warn(
            { cappedMs, leftOut },
            `The metadata service asks to wait ${Math.round(cappedMs / 1000)} s; polling again in 5 s, since events between polls are lost.`,
          ),
        );
      }
      for (const {
        eventId,
        eventType,
        phase,
        evidence,
        notBefore,
        observerAffected,
        position,
        eventsInSight,
      } of records) {
        const whose = observerAffected ? 'this VM' : 'other VMs';
        const what =
          phase === 'Snapshot'
            ? `Snapshot of the open events: ${eventsInSight?.length ?? 0}`
            : `${eventType ?? 'An event'} of ${whose}: ${phase}`;
        log.info(
          { eventId, eventType, phase, evidence, notBefore, observerAffected, position },
          `${what} (${evidence.join(', ')})`,
        );
      }
    },
  };
}

const counted = (polls: number): string => `${polls} ${polls === 1 ? 'poll' : 'polls'}`;

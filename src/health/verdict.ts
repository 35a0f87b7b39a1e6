import type { Backlog, Outbox, SinkCounters } from '../outbox/outbox.ts';
import type { RelayHealth } from '../relay/relay.ts';
import type { PollCounts } from './poll-counts.ts';
import type { LoopProgress } from './progress.ts';

/** A judgement, with a sentence for each thing that is wrong. */
export interface Verdict {
  readonly ok: boolean;
  readonly says: readonly string[];
}

/** Everything that is judged, at one moment. */
export interface Condition {
  readonly loops: readonly LoopProgress[];
  readonly polls: Pick<PollCounts, 'lastDocument' | 'failing'>;
  readonly storage: Outbox['storage'];
  readonly relays: readonly RelayHealth[];
  readonly backlog: readonly Backlog[];
  readonly counters: Readonly<Record<string, Pick<SinkCounters, 'dead'>>>;
  /** In scope, not ended. */
  readonly openEvents: number;
  readonly monotonicMs: number;
  readonly version: string;
}

/** While the metadata service is updated it may be gone for 70 s: that is no lack of readiness yet. */
export const documentLimitMs = 90_000;

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

const judged = (says: readonly string[]): Verdict => ({ ok: says.length === 0, says });

/** Whether the process should go on living: all its loops progress. */
export const liveness = ({ loops }: Pick<Condition, 'loops'>): Verdict =>
  judged(
    loops
      .filter(({ isProgressing }) => !isProgressing)
      .map(
        ({ loop, ageMs, limitMs, because }) =>
          `The loop ${loop} has made no turn for ${seconds(ageMs)}; it may take ${seconds(limitMs)}, since ${because}. Restart the service, and please report it.`,
      ),
  );

/** Whether it does what it is for: it polls, sees documents, and can write down what they tell. A sink that is down is no matter of this. */
export function readiness(condition: Pick<Condition, 'loops' | 'polls' | 'storage' | 'monotonicMs'>): Verdict {
  const { polls, storage, monotonicMs } = condition;
  const says = [...liveness(condition).says];
  const why = polls.failing === null ? '' : ` ${polls.failing.reason}`;
  if (polls.lastDocument === null) says.push(`No document has been seen yet.${why}`);
  else {
    const ageMs = monotonicMs - polls.lastDocument.monotonicMs;
    if (ageMs > documentLimitMs) says.push(`No document has been seen for ${seconds(ageMs)}.${why}`);
  }
  if (storage.trouble !== null) {
    says.push(
      `The outbox cannot be written since ${storage.trouble.since} (${storage.trouble.reason}): ${storage.undurable} records are only in memory and end with this process. Free some space, or look at the rights of the state directory.`,
    );
  }
  return judged(says);
}

/**
 * The body that the Application Health extension reads as a rich health state; `customMetrics` is JSON in a string. A sink that is
 * down stands in there only: an instance must not be repaired because a role is missing.
 * https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-health-extension
 */
export function richHealth(condition: Condition): {
  readonly ApplicationHealthState: 'Healthy' | 'Unhealthy';
  readonly customMetrics: string;
} {
  const { ok, says } = readiness(condition);
  const { backlog, relays, counters, openEvents, version } = condition;
  const sinks = backlog.map(({ sink, pending }) => {
    const { state = 'idle', lastErrorCode = null } = relays.find((relay) => relay.sink === sink) ?? {};
    const figures = { state, pending, deadLetters: counters[sink]?.dead ?? 0 };
    return [sink, state === 'failing' ? { ...figures, code: lastErrorCode } : figures];
  });
  return {
    ApplicationHealthState: ok ? 'Healthy' : 'Unhealthy',
    customMetrics: JSON.stringify({ says, version, openEvents, sinks: Object.fromEntries(sinks) }),
  };
}

/** One sentence for `systemctl status`. */
export function statusLine(condition: Condition): string {
  const { says } = readiness(condition);
  const [first] = says;
  if (first !== undefined) return first;
  const { openEvents, relays, backlog } = condition;
  const events =
    openEvents === 0 ? 'no event under way' : `${openEvents} ${openEvents === 1 ? 'event' : 'events'} under way`;
  const failing = relays
    .filter(({ state }) => state === 'failing')
    .map(({ sink, lastErrorCode }) => {
      const waiting = backlog.find((one) => one.sink === sink)?.pending ?? 0;
      return `${sink} is failing (${lastErrorCode ?? 'unknown'}), ${waiting} waiting`;
    });
  return `Polling; ${[events, ...(failing.length > 0 ? failing : ['every sink takes records'])].join('; ')}.`;
}

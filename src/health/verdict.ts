import { sentence } from '../azure/failure.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { OutboxReport } from '../outbox/reader.ts';
import { type PollFigures, pollRemark } from './poll-condition.ts';
import type { LoopProgress } from './progress.ts';
import { type SenderFigures, senderClause } from './sender-condition.ts';
import { sinkClause, sinkState } from './sink-condition.ts';

/** A verdict with one sentence per problem. */
export interface HealthVerdict {
  readonly ok: boolean;
  readonly messages: readonly string[];
}

/** The facts that are judged, at one moment. */
export interface Condition {
  readonly at: Date;
  readonly loops: readonly LoopProgress[];
  readonly poll: PollFigures;
  readonly storage: Outbox['storage'];
  readonly sinks: OutboxReport['sinks'];
  /** By name of a sink: how long a record that is not urgent may wait on purpose. */
  readonly holdSeconds: Readonly<Record<string, number>>;
  readonly senders: readonly SenderFigures[];
  /** In scope, not ended. */
  readonly openEvents: number;
  readonly version: string;
}

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

const judged = (messages: readonly string[]): HealthVerdict => ({ ok: messages.length === 0, messages });

/** Liveness: whether all loops of the process make progress. */
export const liveness = ({ loops }: Pick<Condition, 'loops'>): HealthVerdict =>
  judged(
    loops
      .filter(({ isProgressing }) => !isProgressing)
      .map(
        ({ loop, ageMs, limitMs, because }) =>
          `The loop ${loop} has been stuck for ${seconds(ageMs)}; its limit is ${seconds(limitMs)}, since ${because}. Restart the service, and please report it.`,
      ),
  );

/** Whether the bridge does its work: it polls, receives documents, and can store records. Sinks do not affect readiness. */
export function readiness(condition: Pick<Condition, 'loops' | 'poll' | 'storage'>): HealthVerdict {
  const { poll, storage } = condition;
  const remark = pollRemark(poll);
  const messages = [...liveness(condition).messages];
  if (remark?.isProblem) messages.push(remark.message);
  else if (poll.documentAgeSeconds === null) messages.push(`${sentence(remark?.message ?? 'no document yet')}.`);
  if (storage.fault !== null || storage.undurable > 0) messages.push(storageProblem(storage));
  return judged(messages);
}

/** Problems of a bridge that is ready: a late poll, destinations without deliveries, senders that keep failing. */
export function remarks({ poll, sinks, senders, holdSeconds, at }: Condition): readonly string[] {
  const remark = pollRemark(poll);
  const clauses = sinks.map((sink) => {
    const { name, counters, configured, progress, oldestPendingAt } = sink;
    const figures = { configured, waiting: counters.pending, oldestWaitingAt: oldestPendingAt, progress };
    return sinkClause(name, figures, at, holdSeconds[name]);
  });
  const late = remark === null || remark.isProblem ? null : remark.message;
  return [late, ...clauses, ...senders.map(senderClause)].filter((clause) => clause !== null);
}

function storageProblem({ fault, undurable }: Outbox['storage']): string {
  const records = undurable === 1 ? '1 record is' : `${undurable} records are`;
  const held = undurable === 0 ? '' : ` ${records} in memory only: do not restart the service.`;
  if (fault === null) return `The outbox is being written again.${held}`;
  return `The outbox cannot be written since ${fault.since} (${fault.reason}).${held} Free some space, or check the permissions of the state directory.`;
}

/**
 * The body that the Application Health extension reads as a rich health state; `customMetrics` is JSON in a string. A sink that is
 * down changes `status` only: an instance must not be repaired because a role is missing.
 * https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-health-extension
 */
export function richHealth(condition: Condition): {
  readonly ApplicationHealthState: 'Healthy' | 'Unhealthy';
  readonly status: 'ok' | 'warning' | 'unready';
  readonly messages: readonly string[];
  readonly customMetrics: string;
} {
  const { ok, messages: problems } = readiness(condition);
  const { openEvents, version } = condition;
  const messages = [...problems, ...remarks(condition)];
  const sinks = condition.sinks.map(({ name, configured, counters, progress, oldestPendingAt }) => {
    const { pending, dead } = counters;
    const state = sinkState({ configured, waiting: pending, oldestWaitingAt: oldestPendingAt, progress }, true);
    const figures = { state, pending, deadLetters: dead };
    const isFailing = state === 'refused' || state === 'retrying';
    return [name, isFailing ? { ...figures, code: progress.lastErrorCode } : figures];
  });
  return {
    ApplicationHealthState: ok ? 'Healthy' : 'Unhealthy',
    status: !ok ? 'unready' : messages.length > 0 ? 'warning' : 'ok',
    messages,
    customMetrics: JSON.stringify({ messages, version, openEvents, sinks: Object.fromEntries(sinks) }),
  };
}

/** One sentence for `systemctl status`. */
export function statusLine(condition: Condition): string {
  const [first] = readiness(condition).messages;
  if (first !== undefined) return first;
  const { openEvents, sinks } = condition;
  const waiting = sinks.reduce((sum, { counters }) => sum + counters.pending, 0);
  const events = `${openEvents === 0 ? 'no' : openEvents} open ${openEvents === 1 ? 'event' : 'events'}`;
  const late = remarks(condition);
  const rest = waiting === 0 ? 'nothing is waiting for delivery' : `${waiting} waiting for delivery`;
  return `Polling; ${[events, ...(late.length > 0 ? late : [rest])].join('; ')}.`;
}

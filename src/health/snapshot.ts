import type { Clock } from '../clock.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { type OutboxReport, reportedState } from '../outbox/reader.ts';
import type { Relay, RelayHealth } from '../relay/relay.ts';
import type { SenderFacts } from '../sender/sender-process.ts';
import type { PollFigures } from './poll-condition.ts';
import type { RuntimeStats } from './runtime-stats.ts';
import { hasSnapshotShape } from './snapshot-shape.ts';
import { liveness } from './verdict.ts';

/** Increased when a field is removed or changes its meaning. */
const form = 1;

/**
 * The answer of the running process to the command `status`: only the process knows the age of its last poll, which records are in
 * memory only, and when it retries a destination. Times are ISO 8601, ages of the clock that never goes backwards.
 */
export interface Snapshot {
  readonly form: typeof form;
  readonly version: string;
  readonly pid: number;
  /** SIGTERM was received: pending records are being sent. */
  readonly isStopping: boolean;
  readonly poll: PollFigures;
  /** A sentence for each loop that is stuck. */
  readonly stuck: readonly string[];
  /** `undurable`: records in memory only. */
  readonly storage: Outbox['storage'];
  /** The longest of `holdSeconds`: for commands of earlier versions. */
  readonly connectJitterSeconds: number;
  /** By name of a sink: how long a record that is not urgent may wait on purpose. Absent in earlier versions. */
  readonly holdSeconds?: Readonly<Record<string, number>>;
  /** By name of a sink: of its pending records, those that were sent and have no response yet. Absent in earlier versions. */
  readonly recordsInFlight?: Readonly<Record<string, number>>;
  readonly senders: readonly SenderFacts[];
  readonly outbox: OutboxReport;
}

export interface SnapshotSources {
  readonly runtimeStats: RuntimeStats;
  readonly outbox: Outbox;
  readonly imds: Pick<PollFigures, 'intervalSeconds'> & {
    readonly timeoutSeconds: number;
    readonly firstTimeoutSeconds: number;
    /** Whether the feature is known to be on. */
    readonly isWarm: () => boolean;
  };
  readonly holdSeconds: Readonly<Record<string, number>>;
  readonly relays: readonly Pick<Relay, 'health'>[];
  readonly senderFacts: () => readonly SenderFacts[];
  readonly version: string;
  readonly clock: Clock;
  readonly stop: AbortSignal;
}

/** As of now. Asks the disk for the oldest waiting record of each sink and for approvals under way, as each poll does. */
export function takeSnapshot(sources: SnapshotSources): Snapshot {
  const { runtimeStats, outbox, holdSeconds, relays, senderFacts, version, stop } = sources;
  return {
    form,
    version,
    pid: process.pid,
    isStopping: stop.aborted,
    poll: pollFigures(sources),
    stuck: liveness({ loops: runtimeStats.progress.loops() }).messages,
    storage: outbox.storage,
    connectJitterSeconds: Math.max(0, ...Object.values(holdSeconds)),
    holdSeconds,
    recordsInFlight: Object.fromEntries(relays.map((relay) => inFlightOf(relay.health()))),
    senders: senderFacts(),
    outbox: outboxReport(outbox),
  };
}

export function pollFigures({
  runtimeStats,
  imds,
  clock,
}: Pick<SnapshotSources, 'runtimeStats' | 'imds' | 'clock'>): PollFigures {
  const { lastDocument, failing } = runtimeStats.counts();
  const isFirstAnswer = !imds.isWarm();
  return {
    intervalSeconds: imds.intervalSeconds,
    answerSeconds: isFirstAnswer ? imds.firstTimeoutSeconds : imds.timeoutSeconds,
    isFirstAnswer,
    upSeconds: runtimeStats.upMs() / 1000,
    ageSeconds: runtimeStats.pollAgeMs() / 1000,
    documentAgeSeconds: lastDocument && (clock.monotonicMs() - lastDocument.monotonicMs) / 1000,
    failing: failing && { code: failing.code, reason: failing.reason },
  };
}

const inFlightOf = ({ sink, recordsInFlight }: RelayHealth): [string, number] => [sink, recordsInFlight];

/** As the reader reports of the file, but as of now. */
const outboxReport = (outbox: Outbox): OutboxReport => ({
  ...reportedState(outbox.state),
  observer: outbox.storedObserver?.observer ?? null,
  openApprovals: outbox.state.approved.size === 0 ? [] : outbox.openApprovals(),
  sinks: sinkRows(outbox),
  bytes: outbox.fill.bytes,
  recovery: outbox.recovery,
});

/** Of the configured sinks. */
export function sinkRows(outbox: Pick<Outbox, 'backlog' | 'counters' | 'progress' | 'pending'>): OutboxReport['sinks'] {
  const counters = outbox.counters();
  return outbox.backlog().flatMap(({ sink: name, pending }) => {
    const counted = counters[name];
    if (!counted) return [];
    const [oldest] = pending === 0 ? [] : outbox.pending(name, { limit: 1 });
    const oldestPendingAt = oldest?.appendedAt ?? null;
    return [{ name, configured: true, counters: counted, progress: outbox.progress(name), oldestPendingAt }];
  });
}

/** Whether this is an answer that this version understands. */
export const isSnapshot = (value: unknown): value is Snapshot =>
  typeof value === 'object' && value !== null && 'form' in value && value.form === form && hasSnapshotShape(value);

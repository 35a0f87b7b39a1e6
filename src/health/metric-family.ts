import type { Outbox } from '../outbox/outbox.ts';
import type { RelayHealth } from '../relay/relay.ts';
import type { SenderFacts } from '../sender/sender-process.ts';
import type { PollCounts } from './poll-counts.ts';
import type { LoopProgress } from './progress.ts';
import type { MissedDeadlines, SendCounts } from './send-counts.ts';
import type { StoreCounts } from './store-counts.ts';

/** Everything that metrics are read from, at one moment. */
export interface Readings {
  readonly version: string;
  readonly polls: PollCounts;
  readonly loops: readonly LoopProgress[];
  readonly records: number;
  /** In scope and not ended, by the phase that is held. */
  readonly openEvents: Readonly<Record<'Scheduled' | 'Started', number>>;
  readonly sinks: readonly SinkReadings[];
  readonly senders: readonly SenderFacts[];
  readonly store: StoreCounts & Pick<Outbox, 'fill' | 'storage'>;
  /** Deadlines of our own that were missed, by what was waited for. */
  readonly deadlines: readonly MissedDeadlines[];
  readonly process: {
    readonly residentBytes: number;
    readonly cpuSeconds: number;
    readonly startedAt: Date;
  };
}

export interface SinkReadings extends SendCounts {
  readonly sink: string;
  readonly counters: ReturnType<Outbox['counters']>[string];
  readonly imbalance: number;
  readonly pending: number;
  readonly oldestPendingSeconds: number | null;
  readonly lastSuccessAt: string | null;
  readonly relay: RelayHealth | null;
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric, its meaning and where its value is found. Labels are few and of few values: never an event, a record or a VM. */
export interface MetricFamily {
  readonly name: string;
  readonly kind: 'counter' | 'gauge';
  readonly labels: readonly string[];
  readonly help: string;
  /** What an operator does about it; empty where it only informs. */
  readonly toDo: string;
  read(readings: Readings): readonly Sample[];
}

/** One value without labels; none where it is not known. */
export const one = (value: number | null): readonly Sample[] => (value === null ? [] : [{ labels: {}, value }]);
/** A condition as Prometheus has it. */
export const flag = (condition: boolean): number => (condition ? 1 : 0);

/** A moment as Prometheus has it. */
export const unixSeconds = (at: Date): number => at.getTime() / 1000;

/** One sample for each key, which becomes the value of `label`. */
export const spread = (
  label: string,
  values: Readonly<Record<string, number>>,
  others: Readonly<Record<string, string>> = {},
): readonly Sample[] =>
  Object.entries(values).map(([name, value]) => ({ labels: { ...others, [label]: name }, value }));

/** One sample for each sink of which it is known. */
export const perSink =
  (value: (sink: SinkReadings) => number | null) =>
  ({ sinks }: Readings): readonly Sample[] =>
    sinks.flatMap((sink) => {
      const found = value(sink);
      return found === null ? [] : [{ labels: { sink: sink.sink }, value: found }];
    });

import type { Outbox } from '../outbox/outbox.ts';
import type { RelayHealth } from '../relay/relay.ts';
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

const one = (value: number | null): readonly Sample[] => (value === null ? [] : [{ labels: {}, value }]);
const flag = (condition: boolean): number => (condition ? 1 : 0);
const unixSeconds = (at: Date): number => at.getTime() / 1000;

const spread = (
  label: string,
  values: Readonly<Record<string, number>>,
  others: Readonly<Record<string, string>> = {},
): readonly Sample[] =>
  Object.entries(values).map(([name, value]) => ({ labels: { ...others, [label]: name }, value }));

const perSink =
  (value: (sink: SinkReadings) => number | null) =>
  ({ sinks }: Readings): readonly Sample[] =>
    sinks.flatMap((sink) => {
      const found = value(sink);
      return found === null ? [] : [{ labels: { sink: sink.sink }, value: found }];
    });

const mendSink = '`check` says what is wrong with the sink and what mends it.';
const mendDisk = 'Free some space on the disk of the state directory; `check` says what else.';
const report = 'A mistake of the program: please report it.';

/** All but the one histogram, which is in `deliveryLatency`. */
export const metricFamilies: readonly MetricFamily[] = [
  {
    name: 'bridge_info',
    kind: 'gauge',
    labels: ['version'],
    help: 'Always 1; the label tells the version of the bridge.',
    toDo: '',
    read: ({ version }) => [{ labels: { version }, value: 1 }],
  },
  {
    name: 'bridge_poll_total',
    kind: 'counter',
    labels: ['result'],
    help: 'Looks at the endpoint by result: document, unchanged, or the code of what came instead.',
    toDo: 'Results other than document and unchanged are explained under IMDS below.',
    read: ({ polls }) => spread('result', polls.results),
  },
  {
    name: 'bridge_last_success_poll_seconds',
    kind: 'gauge',
    labels: [],
    help: 'When the last valid document was seen, in seconds since 1970.',
    toDo: 'Older than two minutes: the bridge is blind. `check` says why.',
    read: ({ polls }) => one(polls.lastDocument && unixSeconds(polls.lastDocument.at)),
  },
  {
    name: 'bridge_turn_failures_total',
    kind: 'counter',
    labels: [],
    help: 'Turns that ended in a mistake of the program; polling went on.',
    toDo: report,
    read: ({ polls }) => one(polls.turnFailures),
  },
  {
    name: 'bridge_loop_age_seconds',
    kind: 'gauge',
    labels: ['loop'],
    help: 'Time since the last turn of a loop: poll, or the relay of a sink.',
    toDo: 'Over bridge_loop_limit_seconds it is stuck: restart the service, and please report it.',
    read: ({ loops }) => loops.map(({ loop, ageMs }) => ({ labels: { loop }, value: ageMs / 1000 })),
  },
  {
    name: 'bridge_loop_limit_seconds',
    kind: 'gauge',
    labels: ['loop'],
    help: 'The longest that a turn of this loop may take.',
    toDo: '',
    read: ({ loops }) => loops.map(({ loop, limitMs }) => ({ labels: { loop }, value: limitMs / 1000 })),
  },
  {
    name: 'bridge_clock_offset_seconds',
    kind: 'gauge',
    labels: [],
    help: "Azure's clock minus the VM's, in whole seconds, as the last answer of the endpoint told.",
    toDo: 'More than a few seconds: set the clock of the VM. Tokens are refused when it is off by minutes.',
    read: ({ polls }) => one(polls.clockOffsetSeconds),
  },
  {
    name: 'bridge_events_seen_total',
    kind: 'counter',
    labels: [],
    help: 'Events that came in sight since the bridge started, in scope or not.',
    toDo: '',
    read: ({ polls }) => one(polls.eventsSeen),
  },
  {
    name: 'bridge_events_ours_total',
    kind: 'counter',
    labels: [],
    help: 'Of those, the events that affect this VM.',
    toDo: '',
    read: ({ polls }) => one(polls.eventsOurs),
  },
  {
    name: 'bridge_events_open',
    kind: 'gauge',
    labels: ['phase'],
    help: 'Events in scope that have not ended, by phase: Scheduled or Started.',
    toDo: '',
    read: ({ openEvents }) => spread('phase', openEvents),
  },
  {
    name: 'bridge_records_accepted_total',
    kind: 'counter',
    labels: [],
    help: 'Records in the stream of this bridge, restarts included; begins anew with a new stream.',
    toDo: 'A fall to nearly 0 tells that the state was lost: the log says why.',
    read: ({ records }) => one(records),
  },
  {
    name: 'bridge_sink_accepted_total',
    kind: 'counter',
    labels: ['sink'],
    help: 'Records that were to go to the sink.',
    toDo: '',
    read: perSink(({ counters }) => counters?.accepted ?? 0),
  },
  {
    name: 'bridge_sink_delivered_total',
    kind: 'counter',
    labels: ['sink'],
    help: 'Records that the sink has taken.',
    toDo: '',
    read: perSink(({ counters }) => counters?.delivered ?? 0),
  },
  {
    name: 'bridge_sink_pending',
    kind: 'gauge',
    labels: ['sink'],
    help: 'Records that wait for the sink.',
    toDo: mendSink,
    read: perSink(({ pending }) => pending),
  },
  {
    name: 'bridge_sink_oldest_pending_age_seconds',
    kind: 'gauge',
    labels: ['sink'],
    help: 'Since when the oldest of them waits; absent while none does.',
    toDo: mendSink,
    read: perSink(({ oldestPendingSeconds }) => oldestPendingSeconds),
  },
  {
    name: 'bridge_sink_in_flight',
    kind: 'gauge',
    labels: ['sink'],
    help: 'Batches on their way to the sink.',
    toDo: '',
    read: perSink(({ relay }) => relay?.inFlight ?? 0),
  },
  {
    name: 'bridge_sink_dead_letters',
    kind: 'gauge',
    labels: ['sink'],
    help: 'Records that the sink refused for ever, kept with their reason.',
    toDo: '`outbox list` shows them with the reason; `outbox retry` sends them once more.',
    read: perSink(({ counters }) => counters?.dead ?? 0),
  },
  {
    name: 'bridge_sink_expired_total',
    kind: 'counter',
    labels: ['sink'],
    help: 'Records given up for lack of room before the sink had them, or lost with a damaged file.',
    toDo: 'Mend the sink that held them up, or raise outbox.maxMegabytes.',
    read: perSink(({ counters }) => counters?.expired ?? 0),
  },
  {
    name: 'bridge_sink_abandoned_total',
    kind: 'counter',
    labels: ['sink'],
    help: 'Records not delivered when the sink left the configuration.',
    toDo: '',
    read: perSink(({ counters }) => counters?.abandoned ?? 0),
  },
  {
    name: 'bridge_sink_undurable_total',
    kind: 'counter',
    labels: ['sink'],
    help: 'Records delivered from memory while the disk took no writes.',
    toDo: mendDisk,
    read: perSink(({ counters }) => counters?.undurable ?? 0),
  },
  {
    name: 'bridge_sink_failures_in_a_row',
    kind: 'gauge',
    labels: ['sink'],
    help: 'Failed attempts since the last one that succeeded; 0 while the sink is well.',
    toDo: mendSink,
    read: perSink(({ relay }) => relay?.step ?? 0),
  },
  {
    name: 'bridge_sink_failing',
    kind: 'gauge',
    labels: ['sink', 'code'],
    help: '1 while the sink is failing; the label tells the code of the last failure.',
    toDo: 'The code is explained under Azure below.',
    read: ({ sinks }) =>
      sinks.flatMap(({ sink, relay }) =>
        relay?.state === 'failing' ? [{ labels: { sink, code: relay.lastErrorCode ?? 'unknown' }, value: 1 }] : [],
      ),
  },
  {
    name: 'bridge_sink_last_success_seconds',
    kind: 'gauge',
    labels: ['sink'],
    help: 'When the sink last took a record, in seconds since 1970; absent where it never did.',
    toDo: '',
    read: perSink(({ lastSuccessAt }) => (lastSuccessAt === null ? null : unixSeconds(new Date(lastSuccessAt)))),
  },
  {
    name: 'bridge_sink_retries_total',
    kind: 'counter',
    labels: ['sink', 'class'],
    help: 'Batches to be sent again, by class: transient, throttled or configuration.',
    toDo: 'Class configuration: someone has to act. `check` says how.',
    read: ({ sinks }) => sinks.flatMap(({ sink, retries }) => spread('class', retries, { sink })),
  },
  {
    name: 'bridge_sink_refusals_total',
    kind: 'counter',
    labels: ['sink', 'class'],
    help: 'Batches refused for what they hold, by class: too-large or poison.',
    toDo: 'What stays refused alone becomes a dead letter.',
    read: ({ sinks }) => sinks.flatMap(({ sink, refusals }) => spread('class', refusals, { sink })),
  },
  {
    name: 'bridge_sink_duplicates_possible_total',
    kind: 'counter',
    labels: ['sink'],
    help: 'Records of batches that went without an answer: the sink may have them twice.',
    toDo: 'Readers fold copies by recordId.',
    read: perSink(({ duplicatesPossible }) => duplicatesPossible),
  },
  {
    name: 'bridge_conservation_violation',
    kind: 'gauge',
    labels: ['sink'],
    help: '1 where accepted is not delivered + pending + dead + expired + abandoned.',
    toDo: report,
    read: perSink(({ imbalance }) => flag(imbalance !== 0)),
  },
  {
    name: 'bridge_store_bytes',
    kind: 'gauge',
    labels: [],
    help: 'What the outbox takes on disk, its log included.',
    toDo: '',
    read: ({ store }) => one(store.fill.bytes),
  },
  {
    name: 'bridge_store_limit_bytes',
    kind: 'gauge',
    labels: [],
    help: 'The most that it may take: outbox.maxMegabytes, at most 5 % of the free disk at start.',
    toDo: 'When it is full, ended events are given up, oldest first: mend the sink that holds it up.',
    read: ({ store }) => one(store.fill.limitBytes),
  },
  {
    name: 'bridge_store_writable',
    kind: 'gauge',
    labels: [],
    help: '0 while the disk takes no writes: records are then kept in memory and sent from there.',
    toDo: mendDisk,
    read: ({ store }) => one(flag(store.storage.trouble === null)),
  },
  {
    name: 'bridge_store_undurable_records',
    kind: 'gauge',
    labels: [],
    help: 'Records in memory only: they end with the process.',
    toDo: mendDisk,
    read: ({ store }) => one(store.storage.undurable),
  },
  {
    name: 'bridge_store_errors_total',
    kind: 'counter',
    labels: ['code'],
    help: 'How often the outbox could not be written any more, by code.',
    toDo: mendDisk,
    read: ({ store }) => spread('code', store.errors),
  },
  {
    name: 'bridge_store_corruptions_total',
    kind: 'counter',
    labels: [],
    help: 'How often a damaged file was replaced since the process began.',
    toDo: 'The file system may be damaged: look at the log of the kernel.',
    read: ({ store }) => one(store.corruptions),
  },
  {
    name: 'bridge_deadline_exceeded_total',
    kind: 'counter',
    labels: ['target', 'op'],
    help: 'Calls of the Azure libraries given up at our own deadline, by target (a sink, or credential) and operation.',
    toDo: 'Look at what stands between this VM and the target, for instance a firewall.',
    read: ({ deadlines }) => deadlines.flatMap(({ target, missed }) => spread('op', missed, { target })),
  },
  {
    name: 'bridge_late_settle_total',
    kind: 'counter',
    labels: ['target'],
    help: 'Of the calls given up, those that came to an end after all.',
    toDo: '',
    read: ({ deadlines }) => deadlines.map(({ target, lateSettles }) => ({ labels: { target }, value: lateSettles })),
  },
  {
    name: 'process_resident_memory_bytes',
    kind: 'gauge',
    labels: [],
    help: 'Resident memory of the process.',
    toDo: '',
    read: ({ process }) => one(process.residentBytes),
  },
  {
    name: 'process_cpu_seconds_total',
    kind: 'counter',
    labels: [],
    help: 'CPU time of the process, user and system.',
    toDo: '',
    read: ({ process }) => one(process.cpuSeconds),
  },
  {
    name: 'process_start_time_seconds',
    kind: 'gauge',
    labels: [],
    help: 'When the bridge started, in seconds since 1970.',
    toDo: '',
    read: ({ process }) => one(unixSeconds(process.startedAt)),
  },
];

/** From the observation of a step to its delivery. Buckets from one poll to the longest outage that a notice outlives. */
export const deliveryLatency = {
  name: 'bridge_sink_delivery_latency_seconds',
  kind: 'histogram',
  labels: ['sink'],
  help: 'Time from the observation of a step to its delivery; records of an outage are in it.',
  toDo: mendSink,
  buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30, 60, 300, 900, 3600, 21_600, 86_400],
} as const;

import type { DeadlineCounts } from '../azure/deadline.ts';
import type { Clock } from '../clock.ts';
import { type Entry, parsed, type SendResult, type Sink } from '../sinks/sink.ts';

/** The answers of a sink, since the process began. */
export interface SendCounts {
  /** Batches that are retried, by cause: `transient`, `throttled`, `configuration`. */
  readonly retries: Readonly<Record<string, number>>;
  /** Batches refused for their content, by cause: `too-large`, `poison`. */
  readonly refusals: Readonly<Record<string, number>>;
  /** Records of batches whose outcome is unknown: they may arrive twice. */
  readonly duplicatesPossible: number;
}

/** Waits of a sink that timed out, by what it waited for, and how many of them settled later. */
export interface MissedDeadlines {
  readonly target: string;
  readonly missed: Readonly<Record<string, number>>;
  readonly lateSettles: number;
}

/** Called for each delivered record: `seconds` from its observation to its delivery. */
export type OnDelivered = (sink: string, seconds: number) => void;

export interface SendWatch {
  /** The same sink with its answers counted. */
  watched(sink: Sink): Sink;
  counts(sink: string): SendCounts;
  /** Of the sinks that are watched and keep deadlines of their own. */
  deadlines(): readonly MissedDeadlines[];
  onDelivered(listener: OnDelivered): void;
}

/** With these codes nothing was sent, or the destination stored nothing. */
const surelyNotStored =
  /^(token-.*|connect-timeout|connection-refused|no-route|name-lookup-failed|server-busy|quota-exceeded|no-credit|http-429|bad-address|sender-not-started)$/;

export function createSendWatch(clock: Clock): SendWatch {
  const bySink = new Map<
    string,
    { retries: Record<string, number>; refusals: Record<string, number>; unsure: number }
  >();
  const listeners = new Set<OnDelivered>();
  const sinks: Sink[] = [];
  const of = (sink: string) => {
    const found = bySink.get(sink) ?? { retries: {}, refusals: {}, unsure: 0 };
    bySink.set(sink, found);
    return found;
  };

  function count(sink: string, result: SendResult, batch: readonly Entry[]): void {
    const counted = of(sink);
    if (result.kind === 'delivered') {
      // Parsing a record is deferred until a listener needs it.
      if (listeners.size === 0) return;
      for (const entry of batch) {
        const { observedAt } = parsed(entry).record;
        const seconds = Math.max(0, (clock.now().getTime() - Date.parse(observedAt)) / 1000);
        for (const listener of listeners) listener(sink, seconds);
      }
    } else if (result.kind === 'rejected') {
      counted.refusals[result.cause] = (counted.refusals[result.cause] ?? 0) + 1;
    } else {
      counted.retries[result.cause] = (counted.retries[result.cause] ?? 0) + 1;
      if (result.cause === 'transient' && !surelyNotStored.test(result.code)) counted.unsure += batch.length;
    }
  }

  return {
    watched(sink) {
      sinks.push(sink);
      return {
        name: sink.name,
        batchBy: sink.batchBy,
        inFlight: sink.inFlight,
        limits: sink.limits,
        async send(batch, signal) {
          const result = await sink.send(batch, signal);
          count(sink.name, result, batch);
          return result;
        },
        check: (signal) => sink.check(signal),
        close: () => sink.close(),
      };
    },
    counts(sink) {
      const { retries, refusals, unsure } = of(sink);
      return { retries: { ...retries }, refusals: { ...refusals }, duplicatesPossible: unsure };
    },
    deadlines: () =>
      sinks.flatMap((sink) =>
        keepsDeadlines(sink)
          ? [{ target: sink.name, missed: { ...sink.deadlines.missed }, lateSettles: sink.deadlines.lateSettles }]
          : [],
      ),
    onDelivered: (listener) => void listeners.add(listener),
  };
}

const keepsDeadlines = (sink: Sink): sink is Sink & { readonly deadlines: DeadlineCounts } => 'deadlines' in sink;

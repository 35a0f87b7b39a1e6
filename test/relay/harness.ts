import { rmSync } from 'node:fs';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { isUrgent } from '../../src/lifecycle/urgency.ts';
import { type Log, silentLog } from '../../src/log.ts';
import { openOutbox } from '../../src/outbox/durable-outbox.ts';
import type { Outbox } from '../../src/outbox/outbox.ts';
import { Relay, type RelayOptions } from '../../src/relay/relay.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { sampleRecord } from '../support/sample-record.ts';
import { createStateDirectory } from '../support/state-directory.ts';
import { until } from '../support/until.ts';
import { type ScriptedSink, scriptedSink } from './scripted-sink.ts';

/** A record of a test: its event, and what differs from a freeze that is far off. */
export type RecordSpec = string | (Partial<LifecycleRecord> & { readonly eventId: string });

/** A relay between a real outbox on disk and a scripted sink, in a time that the test owns. */
export interface Harness {
  readonly clock: FakeClock;
  readonly sink: ScriptedSink;
  readonly outbox: Outbox;
  readonly relay: Relay;
  readonly lines: string[];
  /** Aborts what `drain` started. */
  readonly stop: AbortController;
  /** Appends records, one for each: positions continue from the last. */
  append(...records: readonly RecordSpec[]): void;
  /** The same for thousands: the outbox takes several turns of the event loop to write them. */
  appendMany(records: readonly RecordSpec[]): Promise<void>;
  drain(): ReturnType<Relay['drainOnce']>;
  /** Drains and lets time pass until nothing is left, or `forMs` have passed. */
  drainFor(forMs: number): Promise<void>;
  counters(): { readonly pending: number; readonly delivered: number; readonly dead: number };
  /** A process that died and came back: a new relay and a new outbox over the same file. `meanwhile` is given its directory. */
  restart(meanwhile?: (directory: string) => void): Harness;
  close(): void;
}

export function openHarness(
  sinkOptions: Parameters<typeof scriptedSink>[0] = {},
  relayOptions: Partial<Pick<RelayOptions, 'random' | 'deadlineMs'>> = {},
): Harness {
  const clock = createFakeClock('2026-03-14T09:00:00.000Z');
  const sink = scriptedSink({ ...sinkOptions, monotonicMs: clock.monotonicMs });
  const directory = createStateDirectory('relay');
  return assemble({ clock, sink, directory, relayOptions: { random: () => 1, ...relayOptions } });
}

function assemble(parts: {
  readonly clock: FakeClock;
  readonly sink: ScriptedSink;
  readonly directory: string;
  readonly relayOptions: Partial<RelayOptions>;
}): Harness {
  const { clock, sink, directory, relayOptions } = parts;
  const lines: string[] = [];
  const say = (_fields: object, message: string): void => {
    lines.push(message);
  };
  const log: Log = { ...silentLog, info: say, warn: say, error: say };
  const outbox = openOutbox({
    directory,
    sinks: [sink.name],
    maxMegabytes: 64,
    clock,
    log: silentLog,
    version: '0.1.0',
  });
  const relay = new Relay({ sink, outbox, clock, log, isUrgent, ...relayOptions });
  const stop = new AbortController();
  const drain = (): ReturnType<Relay['drainOnce']> => relay.drainOnce(stop.signal);

  const append = (...specs: readonly RecordSpec[]): void => {
    const { streamId, position } = outbox.state;
    const records = specs.map((each, index) =>
      sampleRecord({
        notBefore: '2026-03-14T12:00:00.000Z',
        observedAt: clock.now().toISOString(),
        streamId,
        position: position + 1 + index,
        ...(typeof each === 'string' ? { eventId: each } : each),
        recordId: `record-${position + 1 + index}`,
      }),
    );
    outbox.append({ ...outbox.state, position: position + records.length }, records);
  };

  return {
    clock,
    sink,
    outbox,
    relay,
    lines,
    stop,
    drain,
    append,
    async appendMany(specs) {
      let written = 0;
      const stopCounting = outbox.onAppended((records) => {
        written += records.length;
      });
      append(...specs);
      await until(() => written === specs.length);
      stopCounting();
    },

    async drainFor(forMs) {
      const end = clock.monotonicMs() + forMs;
      for (;;) {
        const waitMs = await drain();
        const left = end - clock.monotonicMs();
        if (waitMs === Number.POSITIVE_INFINITY || left <= 0) return;
        await clock.advance(Math.min(waitMs, left));
      }
    },
    counters() {
      const { pending, delivered, dead } = outbox.counters()[sink.name] ?? { pending: -1, delivered: -1, dead: -1 };
      return { pending, delivered, dead };
    },
    restart(meanwhile) {
      relay.close();
      outbox.close();
      meanwhile?.(directory);
      return assemble(parts);
    },
    close() {
      stop.abort();
      relay.close();
      outbox.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** What the sink was given, send by send. */
export const positions = ({ sink }: Harness): (readonly number[])[] => sink.sent.map((sent) => sent.positions);

/** When the sink was called, in seconds from the start of the test. */
export const seconds = ({ sink }: Harness): number[] => sink.sent.map(({ at }) => (at - 1_000) / 1_000);

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Thirty seconds of notice at best. */
export const preempt = { eventId: 'spot', eventType: 'Preempt' } as const;

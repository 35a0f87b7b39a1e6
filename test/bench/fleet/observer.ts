import { measureSizes } from '../../../infra/costs-sizes.ts';
import type { ErrorDetail } from '../../../src/azure/error-detail.ts';
import { statusFailure } from '../../../src/azure/status-failure.ts';
import type { Clock } from '../../../src/clock.ts';
import type { LifecycleRecord } from '../../../src/lifecycle/record.ts';
import { emptyState } from '../../../src/lifecycle/state.ts';
import { isUrgent } from '../../../src/lifecycle/urgency.ts';
import { silentLog } from '../../../src/log.ts';
import type { DeliveryUpdate, PendingDelivery, SinkProgress } from '../../../src/outbox/outbox.ts';
import { noCounters, noProgress } from '../../../src/outbox/outbox.ts';
import { Relay, type RelayOptions } from '../../../src/relay/relay.ts';
import { amqpFailure } from '../../../src/sinks/event-hubs/amqp-failure.ts';
import { eventHubsShape, destinationOf as hubOf } from '../../../src/sinks/event-hubs/config.ts';
import { type Connection, createConnection } from '../../../src/sinks/event-hubs/connection.ts';
import { waitForConnection } from '../../../src/sinks/event-hubs/connection-policy.ts';
import { logAnalyticsShape, destinationOf as tableOf } from '../../../src/sinks/log-analytics/config.ts';
import { statuses } from '../../../src/sinks/log-analytics/statuses.ts';
import { type Entry, parsed, type SendResult, type Sink } from '../../../src/sinks/sink.ts';
import type { Random } from '../../fleet-model/random.ts';
import { createClient, QuotaExceeded, type Shard, type SimulatedClient } from './services.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** What a simulation compares: two settings of the bridge, and the rule by which it holds its connection open. */
export interface Settings {
  readonly connectJitterSeconds: number;
  readonly idleCloseSeconds: number;
  /** How long before an impact the connection is opened and held; 0: never. */
  readonly holdSeconds: number;
  /** It is held until the event has started, or until it has ended. */
  readonly heldUntil: 'start' | 'end';
  /** Not for events of short notice, such as Preempt. */
  readonly exceptShortNotice?: boolean;
}

/** Round trips, ms, each between half of it and one and a half: of a fast region, to be put beside the quotas rather than believed. Tokens are fetched ahead. */
const [connectMs, sendMs, uploadMs] = [250, 20, 80];

const hub = hubOf({
  fullyQualifiedNamespace: 'simulated.servicebus.windows.net',
  eventHubName: 'vm-lifecycle',
  connectionString: null,
  customEndpoint: null,
  transport: 'amqp',
  idleCloseSeconds: 60,
  connectJitterSeconds: 0,
});
const table = tableOf({ endpoint: 'https://simulated', ruleId: 'dcr', streamName: 'Custom-VmLifecycle_CL' });

/** Of a record as `costs.md` measures it. */
const messageBytes = measureSizes().record.message;

export interface ObserverOptions {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly shard: Shard;
  readonly settings: Settings;
  /** Whether the connection is to be opened and held now. */
  readonly isHeld: () => boolean;
  /** When that will next become true, in monotonic ms; infinite: not by itself. */
  readonly heldFrom: () => number;
  /** A record was stored by the destination of this sink. */
  readonly arrived: (sink: string, recordId: string) => void;
}

/** One VM: the relays, the connection policy and the back-off of the product between an outbox in memory and simulated services. */
export class Observer {
  readonly #options: ObserverOptions;
  readonly #deliveries = new Map<string, PendingDelivery[]>();
  readonly #progress = new Map<string, SinkProgress>();
  readonly #listeners = new Set<(records: readonly LifecycleRecord[]) => void>();
  /** Clock of the loop that watches the connection. */
  readonly #watchClock: Clock;
  /** Ends the sleep of that loop; null while it does not sleep long. */
  #wakeWatch: AbortController | null = null;
  #connection: Connection<SimulatedClient> | null = null;
  #position = 0;
  #stop: AbortController | null = null;
  #closing: (() => Promise<void>)[] = [];

  constructor(options: ObserverOptions) {
    this.#options = options;
    this.#watchClock = { ...options.clock, sleep: (ms, signal) => this.#watchSleep(ms, signal) };
    for (const { name } of [eventHubsShape, logAnalyticsShape]) this.#deliveries.set(name, []);
  }

  /** A process starts: its relays send what is pending. */
  start(): void {
    const stop = new AbortController();
    this.#stop = stop;
    for (const sink of [this.#hubSink(stop.signal), this.#tableSink()]) {
      const relay = new Relay({
        sink,
        outbox: this.#outbox(),
        clock: this.#options.clock,
        log: silentLog,
        isUrgent,
        random: () => this.#options.random.next(),
        deadlineMs: 600_000,
      });
      this.#closing.push(
        async () => relay.close(),
        () => sink.close(),
      );
      void relay.run(stop.signal);
    }
  }

  /** The process, or its VM, is gone; what is pending stays in the outbox. */
  async end(): Promise<void> {
    this.#stop?.abort();
    this.#stop = null;
    this.#wakeWatch?.abort();
    const closing = this.#closing;
    this.#closing = [];
    this.#listeners.clear();
    await Promise.all(closing.map((close) => close()));
  }

  append(record: LifecycleRecord): void {
    this.#position += 1;
    const stored = { ...record, position: this.#position };
    const json = Buffer.from(JSON.stringify(stored));
    const appendedAt = this.#options.clock.now().toISOString();
    const eventKey = record.eventId.toLowerCase();
    for (const pending of this.#deliveries.values())
      pending.push({ position: this.#position, eventKey, json, attempts: 0, appendedAt });
    for (const listener of this.#listeners) listener([stored]);
  }

  /** Deliveries that no destination has yet. */
  pending(): number {
    return [...this.#deliveries.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** The part of an outbox that a relay uses, without a disk. */
  #outbox(): RelayOptions['outbox'] {
    const of = (sink: string): PendingDelivery[] => this.#deliveries.get(sink) ?? [];
    return {
      state: emptyState('simulated'),
      pending: (sink, { limit, exceptEvents, onlyEvents }) =>
        of(sink)
          .filter(({ eventKey }) => !exceptEvents?.has(eventKey) && (onlyEvents?.has(eventKey) ?? true))
          .slice(0, limit)
          .map((delivery) => ({ ...delivery })),
      settle: (sink, updates, progress) => {
        this.#progress.set(sink, progress);
        this.#deliveries.set(sink, afterUpdates(of(sink), updates));
      },
      progress: (sink) => this.#progress.get(sink) ?? noProgress,
      counters: () => ({ [eventHubsShape.name]: noCounters, [logAnalyticsShape.name]: noCounters }),
      onAppended: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
      // It is in memory, and never fails.
      onRecovered: () => () => {},
    };
  }

  #latency(meanMs: number): Promise<void> {
    return this.#options.clock.sleep(meanMs * (0.5 + this.#options.random.next()));
  }

  /** Without a connection, and with none to be opened, there is nothing to watch; with one that is kept for minutes, little. */
  async #watchSleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { clock, random, settings, isHeld, heldFrom } = this.#options;
    if (this.#connection?.isOpen || isHeld()) {
      const isLong = settings.holdSeconds > 120 || settings.idleCloseSeconds >= 60;
      return clock.sleep(isLong ? 5 * ms : ms, signal);
    }
    this.#wakeWatch = new AbortController();
    const untilHeld = heldFrom() - clock.monotonicMs();
    await clock.sleep(Math.min(Math.max(untilHeld, ms), 3_600_000), this.#wakeWatch.signal);
    this.#wakeWatch = null;
    // The loop of the product does not restart when a connection opens.
    await clock.sleep(ms * random.next(), signal);
  }

  #hubSink(stop: AbortSignal): Sink {
    const { clock, random, shard, settings, isHeld, arrived } = this.#options;
    const connect = async (client: SimulatedClient): Promise<void> => {
      if (client.isOpen()) return;
      await this.#latency(connectMs);
      if (stop.aborted || client.isOpen()) return;
      client.connected();
      connection.opened(client);
      this.#wakeWatch?.abort();
    };
    const connection: Connection<SimulatedClient> = createConnection({
      makeLine: () => createClient(shard),
      idleCloseSeconds: settings.idleCloseSeconds,
      clock: this.#watchClock,
      startDue: isHeld,
      open: () =>
        connection.use(async (client) => {
          try {
            await connect(client);
          } catch (error) {
            connection.discard(client);
            throw error;
          }
        }),
    });
    this.#connection = connection;
    const isOver = (): boolean => stop.aborted || connection.isOpen;
    return {
      ...eventHubsShape,
      send: async (batch, signal): Promise<SendResult> => {
        const entries = batch.map(parsed);
        const records = entries.map(({ record }) => record);
        const { connectJitterSeconds } = settings;
        await waitForConnection(records, { connectJitterSeconds, clock, random: () => random.next(), isOver, signal });
        return connection.use(async (client) => {
          try {
            await connect(client);
            for (const { eventId } of records) shard.send(eventId.toLowerCase(), messageBytes);
          } catch (error) {
            const isQuota = error instanceof QuotaExceeded;
            if (isQuota) connection.discard(client);
            const code = isQuota ? 'QuotaExceededError' : 'ServerBusyError';
            return amqpFailure(detailOf(code), hub) ?? { kind: 'delivered' };
          }
          await this.#latency(sendMs);
          if (signal.aborted) return amqpFailure(detailOf('ServiceUnavailableError'), hub) ?? { kind: 'delivered' };
          for (const record of records) arrived(eventHubsShape.name, record.recordId);
          return { kind: 'delivered' };
        });
      },
      check: async () => ({ ok: true, code: 'ok', detail: '' }),
      close: () => connection.close(),
    };
  }

  #tableSink(): Sink {
    const { clock, shard, arrived } = this.#options;
    return {
      ...logAnalyticsShape,
      send: async (batch: readonly Entry[], signal): Promise<SendResult> => {
        await this.#latency(uploadMs);
        const retryAfterMs = shard.upload(clock.monotonicMs());
        if (retryAfterMs !== null) return statusFailure(429, { retryAfterMs, message: '' }, table, statuses);
        if (signal.aborted) return statusFailure(503, { retryAfterMs: null, message: '' }, table, statuses);
        for (const { record } of batch.map(parsed)) arrived(logAnalyticsShape.name, record.recordId);
        return { kind: 'delivered' };
      },
      check: async () => ({ ok: true, code: 'ok', detail: '' }),
      close: async () => {},
    };
  }
}

function afterUpdates(deliveries: PendingDelivery[], updates: readonly DeliveryUpdate[]): PendingDelivery[] {
  const states = new Map(updates.map(({ position, state }) => [position, state]));
  return deliveries
    .filter(({ position }) => (states.get(position) ?? 'pending') === 'pending')
    .map((delivery) => (states.has(delivery.position) ? { ...delivery, attempts: delivery.attempts + 1 } : delivery));
}

const detailOf = (code: string): ErrorDetail => ({
  error: null,
  name: 'MessagingError',
  code,
  status: null,
  retryAfterMs: null,
  message: '',
});

import { limits } from '../../../infra/costs-model.ts';
import { partitionOfKey } from '../../../src/azure-simulator/event-hubs/partition-key.ts';
import type { Client } from '../../../src/sinks/event-hubs/connection.ts';

/** What both services of a shard counted in one second. */
export interface Second {
  /** Open at the end of the second. */
  connections: number;
  events: number;
  bytes: number;
  /** Of the partition with the most. */
  partitionEvents: number;
  requests: number;
  /** Refused: connections beyond the quota, messages beyond the throughput, requests beyond the limit of the rule. */
  refused: number;
}

export interface ShardOptions {
  readonly partitions: number;
  readonly throughputUnits: number;
  /** False: nothing is refused, so that the peaks show what a fleet asks for. */
  readonly hasLimits: boolean;
}

export class QuotaExceeded extends Error {}
export class ServerBusy extends Error {}

/** One Standard namespace with one hub, and one data collection rule, with the limits that Azure documents: see `infra/costs-model.ts`. */
export class Shard {
  readonly #options: ShardOptions;
  #connections = 0;
  #ofMinute = 0;
  #minute = -1;
  #second = newSecond();
  #perPartition: number[];

  constructor(options: ShardOptions) {
    this.#options = options;
    this.#perPartition = new Array(options.partitions).fill(0);
  }

  /** A connection, counted until it is closed. @throws QuotaExceeded */
  connect(): void {
    if (this.#options.hasLimits && this.#connections >= limits.connections) {
      this.#second.refused += 1;
      throw new QuotaExceeded();
    }
    this.#connections += 1;
  }

  disconnect(): void {
    this.#connections -= 1;
  }

  /** @throws ServerBusy when the throughput units of this second are used up */
  send(partitionKey: string, bytes: number): void {
    const second = this.#second;
    const { throughputUnits, partitions } = this.#options;
    const isOver =
      second.events + 1 > throughputUnits * limits.messagesPerSecondPerUnit ||
      second.bytes + bytes > throughputUnits * limits.bytesPerSecondPerUnit;
    if (this.#options.hasLimits && isOver) {
      second.refused += 1;
      throw new ServerBusy();
    }
    second.events += 1;
    second.bytes += bytes;
    const partition = partitionOfKey(partitionKey, partitions);
    this.#perPartition[partition] = (this.#perPartition[partition] ?? 0) + 1;
  }

  /** @returns after how many milliseconds to ask again, or null when the rule accepts the request. */
  upload(nowMs: number): number | null {
    const minute = Math.floor(nowMs / 60_000);
    if (minute !== this.#minute) [this.#minute, this.#ofMinute] = [minute, 0];
    this.#ofMinute += 1;
    this.#second.requests += 1;
    if (!this.#options.hasLimits || this.#ofMinute <= limits.requestsPerMinute) return null;
    this.#second.refused += 1;
    return (minute + 1) * 60_000 - nowMs;
  }

  /** What the second that ends now had; the next one begins. */
  takeSecond(): Second {
    const ended = {
      ...this.#second,
      connections: this.#connections,
      partitionEvents: Math.max(...this.#perPartition),
    };
    this.#second = newSecond();
    this.#perPartition = this.#perPartition.fill(0);
    return ended;
  }
}

const newSecond = (): Second => ({
  connections: 0,
  events: 0,
  bytes: 0,
  partitionEvents: 0,
  requests: 0,
  refused: 0,
});

/** One AMQP connection of a simulated bridge, in the place of the SDK's. */
export interface SimulatedClient extends Client {
  readonly isOpen: () => boolean;
  /** @throws QuotaExceeded */
  connected(): void;
}

export function createClient(shard: Shard): SimulatedClient {
  let isOpen = false;
  const broken = new AbortController();
  return {
    broken: broken.signal,
    isOpen: () => isOpen,
    connected() {
      shard.connect();
      isOpen = true;
    },
    opened() {},
    async close() {
      if (isOpen) shard.disconnect();
      isOpen = false;
    },
  };
}

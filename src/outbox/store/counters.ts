import { noCounters, type SinkCounters } from '../outbox.ts';

export const counterNames = Object.keys(noCounters) as readonly (keyof SinkCounters)[];

/** Deliveries that the counters cannot account for; 0 as long as they are right. */
export const imbalance = ({ accepted, delivered, pending, dead, expired, abandoned }: SinkCounters): number =>
  accepted - (delivered + pending + dead + expired + abandoned);

/**
 * The only way to change counters: who changes deliveries records it here, as moves from one state to another, so that `accepted` stays the
 * sum of the states. `OutboxFile.change` adds them to the rows of the sinks in the transaction that moves the deliveries.
 */
export class CounterChanges {
  readonly #sinks = new Map<string, SinkCounters>();

  /** `from` null: deliveries that are new to the sink. */
  move(
    sink: string,
    from: 'pending' | 'dead' | null,
    to: 'pending' | 'delivered' | 'dead' | 'expired' | 'abandoned',
    deliveries = 1,
  ): void {
    this.#add(sink, from ?? 'accepted', from ? -deliveries : deliveries);
    this.#add(sink, to, deliveries);
  }

  /** Of those delivered, one whose record never was on disk. */
  countUndurable(sink: string): void {
    this.#add(sink, 'undurable', 1);
  }

  include(other: CounterChanges): void {
    for (const [sink, counters] of other.#sinks) for (const name of counterNames) this.#add(sink, name, counters[name]);
  }

  get isEmpty(): boolean {
    return this.#sinks.size === 0;
  }

  has(sink: string): boolean {
    return this.#sinks.has(sink);
  }

  addTo(sink: string, counters: SinkCounters): SinkCounters {
    const sum = { ...counters };
    for (const name of counterNames) sum[name] += this.#sinks.get(sink)?.[name] ?? 0;
    return sum;
  }

  #add(sink: string, name: keyof SinkCounters, deliveries: number): void {
    if (deliveries === 0) return;
    const counters = this.#sinks.get(sink) ?? noCounters;
    this.#sinks.set(sink, { ...counters, [name]: counters[name] + deliveries });
  }
}

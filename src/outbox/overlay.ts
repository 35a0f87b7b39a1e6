import { newSink, type SinkRow } from './sink-store.ts';
import { add, type Change, type OutboxCounters } from './tally.ts';
import type { Unwritten } from './unwritten.ts';

/** The counters as on disk and, where it could not be written, what happened since. Sinks that left stay in it. */
export function countersOf(
  stored: ReadonlyMap<string, SinkRow>,
  sinks: readonly string[],
  unwritten: Unwritten | null,
): OutboxCounters {
  const names = [...new Set([...stored.keys(), ...sinks])].sort();
  return Object.fromEntries(
    names.map((name) => {
      const { counters } = stored.get(name) ?? newSink(name);
      if (!unwritten || !sinks.includes(name)) return [name, counters];
      return [name, [unwritten.counted(name), sinceStored(unwritten, name)].reduce(add, counters)];
    }),
  );
}

function sinceStored(unwritten: Unwritten, sink: string): Change {
  const outcomes = [...unwritten.outcomes(sink).values()];
  const delivered = outcomes.filter(({ state }) => state === 'delivered').length;
  const dead = outcomes.filter(({ state }) => state === 'dead').length;
  return {
    accepted: unwritten.records.size,
    pending: unwritten.records.size - delivered - dead,
    delivered,
    dead,
    undurable: outcomes.filter(({ undurable }) => undurable).length,
  };
}

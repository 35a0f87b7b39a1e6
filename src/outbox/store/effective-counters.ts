import type { WriteBuffer } from '../write-buffer.ts';
import { add, type Change, type OutboxCounters } from './counters.ts';
import { newSink, type SinkRow } from './sink-store.ts';

/** The counters as on disk and, where it could not be written, what happened since. Sinks that left stay in it. */
export function countersOf(
  stored: ReadonlyMap<string, SinkRow>,
  sinks: readonly string[],
  buffer: WriteBuffer | null,
): OutboxCounters {
  const names = [...new Set([...stored.keys(), ...sinks])].sort();
  return Object.fromEntries(
    names.map((name) => {
      const { counters } = stored.get(name) ?? newSink(name);
      if (!buffer || !sinks.includes(name)) return [name, counters];
      return [name, [buffer.counted(name), sinceStored(buffer, name)].reduce(add, counters)];
    }),
  );
}

function sinceStored(buffer: WriteBuffer, sink: string): Change {
  const outcomes = [...buffer.outcomes(sink).values()];
  const delivered = outcomes.filter(({ state }) => state === 'delivered').length;
  const dead = outcomes.filter(({ state }) => state === 'dead').length;
  return {
    accepted: buffer.records.size,
    pending: buffer.records.size - delivered - dead,
    delivered,
    dead,
    undurable: outcomes.filter(({ undurable }) => undurable).length,
  };
}

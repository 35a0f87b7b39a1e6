import { FleetView, type LifecycleRecord } from '../../src/consumer/index.ts';
import { type FleetPage, type FleetSource, openFleetPage } from '../../src/fleet-page/server.ts';

/** A fleet on a page, whose time and records a test or a measurement moves. */
export interface ServedFleet extends FleetPage {
  /** Adds records, as a feed does, and sets the time. */
  advance(records: readonly LifecycleRecord[], now: number): void;
}

/** @param port 0: any free one. */
export async function serveFleet(records: readonly LifecycleRecord[], begin: number, port = 0): Promise<ServedFleet> {
  const view = new FleetView();
  for (const record of records) view.add(record);
  const listeners = new Set<Parameters<FleetSource['subscribe']>[0]>();
  let now = begin;
  const page = await openFleetPage({
    port,
    source: {
      view,
      isHistoryRead: true,
      problems: [],
      subscribe(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
    clock: { now: () => new Date(now), monotonicMs: () => now, sleep: async () => {} },
  });
  return {
    ...page,
    advance(more, later) {
      now = later;
      for (const record of more) {
        const changed = view.add(record);
        for (const listener of listeners) listener.onRecord(record, changed);
      }
    },
  };
}

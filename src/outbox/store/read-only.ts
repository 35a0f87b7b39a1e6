import type { DatabaseSync } from 'node:sqlite';
import type { LifecycleState } from '../../lifecycle/state.ts';
import { type FiledRequest, prepareRequestReader } from '../control/requests.ts';
import { connectReadOnly } from './connection.ts';
import { type FoundDelivery, type PendingQuery, prepareDeliveries } from './deliveries.ts';
import { OutboxTooNew } from './errors.ts';
import type { Layout } from './layout.ts';
import type { Migration } from './schema/migrations.ts';
import { loadSinks, type SinkRow } from './sink-store.ts';
import { loadObserver, loadState, type StoredObserver } from './state-store.ts';

/** An outbox on a disk that takes no writes: what it holds is known and sent, what becomes of it stays in memory. */
export interface ReadableOutbox {
  readonly db: DatabaseSync;
  readonly state: LifecycleState;
  readonly observer: StoredObserver;
  readonly sinks: ReadonlyMap<string, SinkRow>;
  pending(sink: string, query: PendingQuery, without: Iterable<number>): FoundDelivery[];
  requests(): FiledRequest[];
  close(): void;
}

/**
 * Null where there is nothing that can be read.
 * @throws OutboxTooNew
 */
export function openReadable(layout: Layout, migrations: readonly Migration[]): ReadableOutbox | null {
  try {
    const db = connectReadOnly(layout.outbox, migrations);
    const state = loadState(db);
    const deliveries = prepareDeliveries(db);
    return {
      db,
      state,
      observer: loadObserver(db),
      sinks: loadSinks(db),
      pending: (sink, query, without) => deliveries.pending(sink, query, without, state.position),
      requests: prepareRequestReader(db),
      close: () => db.close(),
    };
  } catch (error) {
    if (error instanceof OutboxTooNew) throw error;
    return null;
  }
}

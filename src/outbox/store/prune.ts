import type { WriteBuffer } from '../write-buffer.ts';
import type { CounterChanges } from './counters.ts';
import type { OutboxFile } from './outbox-file.ts';
import {
  type DeliveredRecord,
  deliveredToDrop,
  eventsToExpire,
  excessBytes,
  logBytes,
  type RetainedEvent,
} from './retention.ts';
import { all } from './sql.ts';
import { writeTombstones } from './tombstones.ts';

/** Deletes go in transactions of so many records, and so many transactions at a time: polling waits for them. */
const bounds = { records: 500, transactions: 20 } as const;

/** Delivered records that go where something could not be written: ample, since no sink waits for them. */
const spareBytes = 2 ** 20;

/** What the file does not know, or not yet. */
export interface Memory {
  isOpen(eventKey: string): boolean;
  /** Holds the deliveries that could not be written yet. */
  readonly buffer: Pick<WriteBuffer, 'isDelivered'>;
}

/** What {@link prune} works with. */
interface Pruning {
  readonly limit: number;
  /** Bytes that could not be written: so many delivered ones go even below the bound, since their pages can be used again. */
  readonly needed: number;
  readonly at: Date;
  readonly memory: Memory;
}

/**
 * Retention: drops what is delivered and old, and discards ended events when there is no more room.
 * @returns how many records went; `expired`: those of them that a sink never got. Each of these leaves a tombstone and is counted.
 */
export function prune(file: OutboxFile, pruning: Pruning): { readonly removed: number; readonly expired: number } {
  const { limit, needed, at, memory } = pruning;
  let [removed, expired] = [0, 0];
  const excess = (): number => excessBytes(file.size.used, limit - logBytes(limit), needed);
  const remove = (positions: readonly number[]): void => {
    const most = positions.slice(0, bounds.records * bounds.transactions);
    removed += most.length;
    for (let from = 0; from < most.length; from += bounds.records)
      expired += removeAtOnce(file, most.slice(from, from + bounds.records), pruning);
  };
  remove(deliveredToDrop(deliveredRecords(file), at, Math.max(needed > 0 ? spareBytes : 0, excess())));
  // Pages that others share with what went are not free yet: then all that is delivered goes.
  if (excess() > 0) remove(deliveredToDrop(deliveredRecords(file), at, Number.POSITIVE_INFINITY));
  const still = excess();
  const events = still > 0 ? eventsToExpire(retainedEvents(file, memory.isOpen), still) : [];
  remove(events.flatMap((eventKey) => positionsOf(file, eventKey)));
  return { removed, expired };
}

/** 50 ms for 100,000 records, all of them pending. */
const deliveredRecords = ({ db, state }: OutboxFile): DeliveredRecord[] =>
  all(
    db,
    `SELECT position, bytes, appendedAt FROM records AS r WHERE position <= ${state.position} AND NOT EXISTS (
      SELECT 1 FROM deliveries AS d WHERE d.position = r.position AND d.state IN ('pending', 'dead')) ORDER BY position`,
  );

/** 25 ms for 100,000 records of 2,000 events. */
const retainedEvents = ({ db }: OutboxFile, isOpen: Memory['isOpen']): RetainedEvent[] =>
  all<Omit<RetainedEvent, 'isOpen'>>(
    db,
    'SELECT eventKey, max(position) AS lastPosition, sum(bytes) AS bytes FROM records GROUP BY eventKey',
  ).map((event) => ({ ...event, isOpen: isOpen(event.eventKey) }));

const positionsOf = ({ db }: OutboxFile, eventKey: string): number[] =>
  all<{ position: number }>(db, 'SELECT position FROM records WHERE eventKey = ? ORDER BY position', eventKey).map(
    ({ position }) => position,
  );

/** One transaction. @returns how many of these records a sink has yet to get. */
function removeAtOnce(file: OutboxFile, positions: readonly number[], { at, memory }: Pruning): number {
  const list = JSON.stringify(positions);
  return file.makeRoom((changes) => {
    const lost = countUnsettled(file, list, changes, memory);
    const expiredAt = at.toISOString();
    writeTombstones(
      file.db,
      Array.from(lost, ([position, sinks]) => ({ record: { position }, sinks, expiredAt })),
    );
    for (const table of ['records', 'bodies', 'deliveries']) {
      const ofSinks = table === 'deliveries' ? 'sink IN (SELECT name FROM sinks) AND' : '';
      const sql = `DELETE FROM ${table} WHERE ${ofSinks} position IN (SELECT value FROM json_each(?))`;
      file.db.prepare(sql).run(list);
    }
    return lost.size;
  });
}

/** Counts the deliveries of these records that a sink has yet to get. @returns the records that are lost, with those sinks. */
function countUnsettled(
  { db }: OutboxFile,
  list: string,
  changes: CounterChanges,
  { buffer }: Memory,
): ReadonlyMap<number, readonly string[]> {
  const unsettled = all<{ sink: string; position: number; state: 'pending' | 'dead' }>(
    db,
    `SELECT sink, position, state FROM deliveries INDEXED BY deliveries_unsettled
      WHERE position IN (SELECT value FROM json_each(?)) AND state IN ('pending', 'dead')`,
    list,
  );
  const lost = new Map<number, string[]>();
  for (const { sink, position, state } of unsettled) {
    const isLost = !buffer.isDelivered(sink, position);
    changes.move(sink, state, isLost ? 'expired' : 'delivered');
    if (isLost) lost.set(position, [...(lost.get(position) ?? []), sink]);
  }
  return lost;
}

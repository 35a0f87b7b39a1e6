import type { CounterChanges } from './counters.ts';
import { sizeOf } from './files.ts';
import type { OutboxFile } from './outbox-file.ts';
import {
  type DeliveredRecord,
  deliveredToDrop,
  eventsToExpire,
  excessBytes,
  logBytes,
  type RetainedEvent,
  slackBytes,
} from './retention.ts';
import { all, one } from './sql.ts';
import { writeTombstones } from './tombstones.ts';

/** Deletes go in transactions of so many records, and so many transactions at a time: polling waits for them. */
const bounds = { records: 500, transactions: 20 } as const;

/** Delivered records that go where something could not be written: ample, since no sink waits for them. */
const spareBytes = 2 ** 20;

/** What the file does not know, or not yet. */
export interface Memory {
  isOpen(eventKey: string): boolean;
  /** A delivery that could not be written yet. */
  isDelivered(sink: string, position: number): boolean;
}

/** What {@link prune} works with. */
interface Pruning {
  readonly limit: number;
  /** Bytes that could not be written: so many delivered ones go even below the bound, since their pages can be used again. */
  readonly needed: number;
  readonly at: Date;
  readonly memory: Memory;
}

/** Sets what SQLite itself keeps within the bound: an append beyond it fails as on a full disk, whatever filled it. */
export function setBounds(file: OutboxFile, limit: number): void {
  const { page_size: page } = sizes(file.db);
  file.db.exec(`PRAGMA wal_autocheckpoint = ${Math.max(16, Math.floor(logBytes(limit) / 2 / page))};
    PRAGMA journal_size_limit = ${logBytes(limit)}`);
  file.boundPages({
    records: Math.floor((limit - logBytes(limit)) / page),
    rest: Math.floor((limit - logBytes(limit) + slackBytes) / page),
  });
}

/** Bytes in use, without pages that are free to be used again; and of the log. */
export function measure({ db }: Pick<OutboxFile, 'db'>): { readonly used: number; readonly log: number } {
  const { page_count, freelist_count, page_size } = sizes(db);
  const log = sizeOf(`${db.location()}-wal`);
  return { used: (page_count - freelist_count) * page_size, log };
}

/**
 * Retention: drops what is delivered and old, and discards ended events when there is no more room.
 * @returns the records that every sink had, and those that a sink never got: each of these leaves a tombstone and is counted.
 */
export function prune(file: OutboxFile, pruning: Pruning): { readonly dropped: number; readonly expired: number } {
  const { limit, needed, at, memory } = pruning;
  const excess = (): number => excessBytes(measure(file).used, limit - logBytes(limit), needed);
  const drop = (bytes: number): number =>
    remove(file, deliveredToDrop(deliveredRecords(file), at, bytes), pruning).removed;
  let dropped = drop(Math.max(needed > 0 ? spareBytes : 0, excess()));
  // Pages that others share with what went are not free yet: then all that is delivered goes.
  if (excess() > 0) dropped += drop(Number.POSITIVE_INFINITY);
  const still = excess();
  if (still === 0) return { dropped, expired: 0 };
  const events = eventsToExpire(retainedEvents(file, memory.isOpen), still);
  const positions = events.flatMap((eventKey) => positionsOf(file, eventKey));
  const { removed, expired } = remove(file, positions, pruning);
  return { dropped: dropped + removed - expired, expired };
}

/** Gives free pages back to the disk and plays the log into the file, as far as no reader is in the way. */
export function compact({ db }: OutboxFile): void {
  db.exec('PRAGMA incremental_vacuum(2000)');
  db.exec('PRAGMA wal_checkpoint(PASSIVE)');
}

function sizes(db: OutboxFile['db']): { page_count: number; freelist_count: number; page_size: number } {
  const sql =
    'SELECT page_count, freelist_count, page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size';
  return one<ReturnType<typeof sizes>>(db, sql) ?? { page_count: 0, freelist_count: 0, page_size: 4096 };
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

function remove(
  file: OutboxFile,
  positions: readonly number[],
  { at, memory }: Pruning,
): { readonly removed: number; readonly expired: number } {
  const most = positions.slice(0, bounds.records * bounds.transactions);
  let expired = 0;
  for (let from = 0; from < most.length; from += bounds.records) {
    const list = JSON.stringify(most.slice(from, from + bounds.records));
    expired += file.makeRoom((changes) => {
      const lost = countUnsettled(file, list, changes, memory);
      writeTombstones(file.db, lost, at);
      for (const table of ['records', 'bodies', 'deliveries']) {
        const ofSinks = table === 'deliveries' ? 'sink IN (SELECT name FROM sinks) AND' : '';
        const sql = `DELETE FROM ${table} WHERE ${ofSinks} position IN (SELECT value FROM json_each(?))`;
        file.db.prepare(sql).run(list);
      }
      return lost.size;
    });
  }
  return { removed: most.length, expired };
}

/** Counts the deliveries of these records that a sink has yet to get. @returns the records that are lost, with those sinks. */
function countUnsettled(
  { db }: OutboxFile,
  list: string,
  changes: CounterChanges,
  { isDelivered }: Memory,
): ReadonlyMap<number, readonly string[]> {
  const unsettled = all<{ sink: string; position: number; state: 'pending' | 'dead' }>(
    db,
    `SELECT sink, position, state FROM deliveries INDEXED BY deliveries_unsettled
      WHERE position IN (SELECT value FROM json_each(?)) AND state IN ('pending', 'dead')`,
    list,
  );
  const lost = new Map<number, string[]>();
  for (const { sink, position, state } of unsettled) {
    const isLost = !isDelivered(sink, position);
    changes.move(sink, state, isLost ? 'expired' : 'delivered');
    if (isLost) lost.set(position, [...(lost.get(position) ?? []), sink]);
  }
  return lost;
}

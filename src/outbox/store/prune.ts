import { statSync } from 'node:fs';
import { add, type Change, noCounters, type SinkCounters } from './counters.ts';
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

/** Delivered records that go where something could not be written: ample, since nobody waits for them. */
const spareBytes = 2 ** 20;

/** What was given up. */
export interface Pruned {
  /** Every sink had them. */
  readonly dropped: number;
  /** At least one sink never got them. */
  readonly expired: number;
}

/** Sets what SQLite itself keeps within the bound: an append beyond it fails as on a full disk, whoever is to blame. */
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
  const log = statSync(`${db.location()}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  return { used: (page_count - freelist_count) * page_size, log };
}

/** What the file does not know, or not yet. */
export interface Memory {
  isOpen(eventKey: string): boolean;
  /** A delivery that could not be written yet: making room comes in between. */
  isDelivered(sink: string, position: number): boolean;
}

/**
 * Retention: drops what is delivered and old, and gives up ended events when there is no more room. Every record that a
 * sink never got leaves a tombstone and is counted.
 * @param needed bytes that could not be written. On a disk that others filled so many delivered ones go, though the bound
 * is not reached: their pages can be used again.
 */
export function prune(
  file: OutboxFile,
  {
    limit,
    needed,
    at,
    memory,
  }: { readonly limit: number; readonly needed: number; readonly at: Date; readonly memory: Memory },
): Pruned {
  const quota = limit - logBytes(limit);
  const excess = (): number => excessBytes(measure(file).used, quota, needed);
  const drop = (bytes: number): number =>
    remove(file, deliveredToDrop(deliveredRecords(file), at, bytes), { at, memory }).removed;
  let dropped = drop(Math.max(needed > 0 ? spareBytes : 0, excess()));
  // Pages that others share with what went are not free yet: then all that is delivered goes.
  if (excess() > 0) dropped += drop(Number.POSITIVE_INFINITY);
  const still = excess();
  if (still === 0) return { dropped, expired: 0 };
  const events = eventsToExpire(retainedEvents(file, memory.isOpen), still);
  const { removed, expired } = remove(
    file,
    events.flatMap((eventKey) => positionsOf(file, eventKey)),
    { at, memory },
  );
  return { dropped: dropped + removed - expired, expired };
}

/** Gives free pages back to the disk and plays the log into the file. A reader in the way is waited for at the next time. */
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
const retainedEvents = ({ db }: OutboxFile, isOpen: (eventKey: string) => boolean): RetainedEvent[] =>
  all<Omit<RetainedEvent, 'isOpen'>>(
    db,
    'SELECT eventKey, max(position) AS lastPosition, sum(bytes) AS bytes FROM records GROUP BY eventKey',
  ).map((event) => ({ ...event, isOpen: isOpen(event.eventKey) }));

const positionsOf = ({ db }: OutboxFile, eventKey: string): number[] =>
  (
    db.prepare('SELECT position FROM records WHERE eventKey = ? ORDER BY position').all(eventKey) as {
      position: number;
    }[]
  ).map(({ position }) => position);

function remove(
  file: OutboxFile,
  positions: readonly number[],
  { at, memory }: { readonly at: Date; readonly memory: Memory },
): { readonly removed: number; readonly expired: number } {
  const most = positions.slice(0, bounds.records * bounds.transactions);
  let expired = 0;
  for (let from = 0; from < most.length; from += bounds.records) {
    const list = JSON.stringify(most.slice(from, from + bounds.records));
    const counted = file.makeRoom(() => {
      const lost = bury(file, { list, at, isDelivered: memory.isDelivered });
      for (const table of ['records', 'bodies']) {
        file.db.prepare(`DELETE FROM ${table} WHERE position IN (SELECT value FROM json_each(?))`).run(list);
      }
      file.db
        .prepare(
          'DELETE FROM deliveries WHERE sink IN (SELECT name FROM sinks) AND position IN (SELECT value FROM json_each(?))',
        )
        .run(list);
      return { ...file.count(lost.changes), buried: lost.buried };
    });
    counted.confirm();
    expired += counted.buried;
  }
  return { removed: most.length, expired };
}

/** A tombstone for each of these records that a sink has yet to get, and what that does to the counters. */
function bury(
  { db }: OutboxFile,
  { list, at, isDelivered }: { readonly list: string; readonly at: Date; readonly isDelivered: Memory['isDelivered'] },
): { readonly changes: ReadonlyMap<string, Change>; readonly buried: number } {
  const unsettled = db
    .prepare(`SELECT sink, position, state FROM deliveries INDEXED BY deliveries_unsettled
      WHERE position IN (SELECT value FROM json_each(?)) AND state IN ('pending', 'dead')`)
    .all(list) as { sink: string; position: number; state: 'pending' | 'dead' }[];
  const changes = new Map<string, SinkCounters>();
  const lost = new Map<number, string[]>();
  for (const { sink, position, state } of unsettled) {
    const isLost = !isDelivered(sink, position);
    changes.set(sink, add(changes.get(sink) ?? noCounters, { [state]: -1, [isLost ? 'expired' : 'delivered']: 1 }));
    if (isLost) lost.set(position, [...(lost.get(position) ?? []), sink]);
  }
  writeTombstones(db, lost, at);
  return { changes, buried: lost.size };
}

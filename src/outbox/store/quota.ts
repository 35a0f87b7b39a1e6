import { faultPoint } from '../../fault-point.ts';
import { forgetConcluded } from '../control/approvals.ts';
import { forgetAnswered } from '../control/requests.ts';
import type { Fill, OutboxOptions } from '../outbox.ts';
import type { WriteBuffer } from '../write-buffer.ts';
import type { CounterChanges } from './counters.ts';
import { deleteRecords } from './deliveries.ts';
import { sizeOf } from './files.ts';
import type { OutboxFile } from './outbox-file.ts';
import type { OutboxLog } from './outbox-log.ts';
import { freeBytes } from './reserve.ts';
import {
  type DeliveredRecord,
  deliveredToDrop,
  eventsToExpire,
  excessBytes,
  fillOf,
  limitBytes,
  logBytes,
  type RetainedEvent,
} from './retention.ts';
import { all } from './sql.ts';
import { writeTombstones } from './tombstones.ts';

/** What a transaction may need: most have one record; the largest is `chunkBounds`, with its indexes. */
const [usualWriteBytes, largestWriteBytes] = [2 ** 16, 2 ** 19];

/** Deletes have this many records in a transaction, and this many transactions at a time: polling waits for them. */
const bounds = { records: 500, transactions: 20 } as const;

/** Delivered records that go where something could not be written: ample, since no sink waits for them. */
const spareBytes = 2 ** 20;

/** What the file does not know, or not yet. */
export interface Memory {
  /** The event has not ended, as far as the lifecycle knows. */
  isOpen(eventKey: string): boolean;
  /** Holds the deliveries that could not be written yet. */
  readonly buffer: WriteBuffer;
}

export type Quota = ReturnType<typeof createQuota>;

/** How much the file may take, how much it takes, and what is discarded when that is too much. */
export function createQuota({ maxMegabytes, clock }: OutboxOptions, memory: Memory, outboxLog: OutboxLog) {
  let fill: Fill = { bytes: 0, limitBytes: 0, isAlarming: false };

  /** What the disk allows now, `usedBytes`: of the file, which it may keep in any case. */
  const limitNow = ({ path }: OutboxFile, usedBytes: number): number =>
    limitBytes({ maxMegabytes, freeBytes: freeBytes(path), ownBytes: sizeOf(path), usedBytes });

  const setLimit = (file: OutboxFile, bytes: number): void => {
    fill = { ...fill, limitBytes: bytes };
    file.bound(bytes);
  };

  const measure = ({ size: { used, log } }: OutboxFile): void => {
    const before = fill;
    fill = fillOf({ bytes: used + log, limitBytes: before.limitBytes }, before);
    if (fill.isAlarming !== before.isAlarming) outboxLog.fill(fill);
  };

  /** @returns how many of these went now. */
  const remove = (file: OutboxFile, positions: readonly number[]): number => {
    const most = positions.slice(0, bounds.records * bounds.transactions);
    const expiredAt = clock.now().toISOString();
    let expired = 0;
    for (let from = 0; from < most.length; from += bounds.records) {
      const list = JSON.stringify(most.slice(from, from + bounds.records));
      expired += file.makeRoom((changes) => {
        const lost = [...countUnsettled(file, list, changes, memory)];
        const tombstones = lost.map(([position, sinks]) => ({ record: { position }, sinks, expiredAt }));
        writeTombstones(file.db, tombstones);
        deleteRecords(file.db, 'IN (SELECT value FROM json_each(?))', list);
        faultPoint('in-prune');
        return lost.length;
      });
    }
    if (expired > 0) outboxLog.expired(expired);
    return most.length;
  };

  /**
   * Retention: drops what is delivered and old, and discards ended events when there is no more room. `failures`: how often the
   * transaction found no space before; this many bytes of delivered records are removed even below the bound, since their
   * pages can be used again.
   * @returns how many records went. Each that a sink never got leaves a tombstone and is counted.
   */
  const prune = (file: OutboxFile, failures: number | null = null): number => {
    // First what every sink has, where a transaction found no room.
    if (failures !== null) file.commitUpdates(memory.buffer);
    // The alarm comes before anything is discarded, however fast the outbox filled.
    measure(file);
    const needed = failures === null ? 0 : failures === 0 ? usualWriteBytes : largestWriteBytes;
    const limit = fill.limitBytes - logBytes(fill.limitBytes);
    const excess = (): number => excessBytes(file.size.used, limit, needed);
    const drop = (bytes: number): number => remove(file, deliveredToDrop(deliveredRecords(file), clock.now(), bytes));
    let removed = drop(Math.max(needed > 0 ? spareBytes : 0, excess()));
    // Pages that others share with what went are not free yet: then all that is delivered goes.
    if (excess() > 0) removed += drop(Number.POSITIVE_INFINITY);
    const still = excess();
    if (still === 0) return removed;
    return removed + remove(file, positionsOf(file, eventsToExpire(retainedEvents(file, memory.isOpen), still)));
  };

  /**
   * Raises the bound where the disk has more free space than when it was decided, for example because others had filled it at the start.
   * What is stored does not count: else a bound would grow with it.
   * @returns whether there is room for another transaction by that.
   */
  const raise = (file: OutboxFile): boolean => {
    const limit = limitNow(file, 0);
    if (limit < fill.limitBytes + largestWriteBytes) return false;
    setLimit(file, limit);
    return true;
  };

  return {
    fill: (): Fill => fill,
    /** Decides on the bound by what the disk has free now, and has SQLite keep it. */
    bound: (file: OutboxFile): void => setLimit(file, limitNow(file, file.size.used)),
    raise,
    measure,
    prune,
    /** Deletes what is kept for a time, gives free pages back to the disk, and plays the log back as far as no reader is in the way. */
    maintain(file: OutboxFile): void {
      forgetAnswered(file.db, clock.now());
      forgetConcluded(file.db, clock.now());
      raise(file);
      prune(file);
      file.db.exec('PRAGMA incremental_vacuum(2000)');
      faultPoint('in-maintenance');
      file.db.exec('PRAGMA wal_checkpoint(PASSIVE)');
      measure(file);
    },
  };
}

/** 50 ms for 100,000 records, all of them pending. */
const deliveredRecords = ({ db, state }: OutboxFile): DeliveredRecord[] =>
  all(
    db,
    `SELECT position, bytes, appendedAt FROM records AS r WHERE position <= ${state.position} AND NOT EXISTS (
      SELECT 1 FROM deliveries AS d WHERE d.position = r.position AND d.state IN ('pending', 'dead')) ORDER BY position`,
  );

/**
 * Without the rows of an unfinished append: their records are still in memory, so nothing that happens to the rows may be counted.
 * An event counts as open until its end is committed: a crash before that would leave it open, without its beginning.
 * 25 ms for 100,000 records of 2,000 events.
 */
const retainedEvents = ({ db, state }: OutboxFile, isOpen: Memory['isOpen']): RetainedEvent[] =>
  all<Omit<RetainedEvent, 'isOpen'>>(
    db,
    `SELECT eventKey, max(position) AS lastPosition, sum(bytes) AS bytes FROM records
      WHERE position <= ${state.position} GROUP BY eventKey`,
  ).map((event) => ({ ...event, isOpen: isOpen(event.eventKey) || state.events.get(event.eventKey)?.open === true }));

/** Of all records of these events, one event after the other. */
const positionsOf = ({ db, state }: OutboxFile, events: readonly string[]): number[] =>
  all<{ position: number }>(
    db,
    `SELECT r.position FROM json_each(?) AS e CROSS JOIN records AS r ON r.eventKey = e.value
      WHERE r.position <= ${state.position} ORDER BY e.key, r.position`,
    JSON.stringify(events),
  ).map(({ position }) => position);

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

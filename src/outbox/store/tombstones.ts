import type { DatabaseSync } from 'node:sqlite';
import type { BufferedRecord } from './deliveries.ts';

/** A record that was discarded from memory, and which sinks never got it. */
export interface Tombstone {
  readonly record: BufferedRecord;
  readonly sinks: readonly string[];
  readonly expiredAt: string;
}

/** The newest so many take under 2 MB; the counters count all. */
const mostTombstones = 10_000;

/**
 * Within the caller's transaction: a tombstone for each of these records, which are still there, with the sinks that will
 * never get it. One that has a tombstone already keeps the sinks named in it.
 */
export function writeTombstones(db: DatabaseSync, lost: ReadonlyMap<number, readonly string[]>, at: Date): void {
  if (lost.size === 0) return;
  const put = db.prepare(`INSERT INTO tombstones (position, eventKey, recordId, phase, observedAt, expiredAt, sinks)
    SELECT position, eventKey, recordId, phase, observedAt, ?, ? FROM records WHERE position = ?
    ON CONFLICT (position) DO UPDATE SET expiredAt = excluded.expiredAt, sinks = (
      SELECT json_group_array(value) FROM (
        SELECT value FROM json_each(tombstones.sinks) UNION SELECT value FROM json_each(excluded.sinks)))`);
  for (const [position, sinks] of lost) put.run(at.toISOString(), JSON.stringify(sinks), position);
  db.exec(
    `DELETE FROM tombstones WHERE position < (
      SELECT position FROM tombstones ORDER BY position DESC LIMIT 1 OFFSET ${mostTombstones - 1})`,
  );
}

/** Within the caller's transaction: of records that never were on disk. */
export function writeMemoryTombstones(db: DatabaseSync, tombstones: readonly Tombstone[]): void {
  if (tombstones.length === 0) return;
  const put =
    db.prepare(`INSERT OR REPLACE INTO tombstones (position, eventKey, recordId, phase, observedAt, expiredAt, sinks)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
  for (const { record, sinks, expiredAt } of tombstones) {
    const { position, eventKey, recordId, phase, observedAt } = record;
    put.run(position, eventKey, recordId, phase, observedAt, expiredAt, JSON.stringify(sinks));
  }
}

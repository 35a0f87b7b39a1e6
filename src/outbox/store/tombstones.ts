import type { DatabaseSync } from 'node:sqlite';

/** The newest so many take under 2 MB; the counters know of all. */
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

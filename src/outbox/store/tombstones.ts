import type { DatabaseSync } from 'node:sqlite';
import type { BufferedRecord } from './deliveries.ts';

/** A record that was discarded, and which sinks never got it. */
export interface Tombstone {
  /** Only the position of one that is on disk. */
  readonly record: BufferedRecord | Pick<BufferedRecord, 'position'>;
  readonly sinks: readonly string[];
  readonly expiredAt: string;
}

/** How many are kept, the newest: under 2 MB; the counters count all. */
const mostTombstones = 10_000;

/** Within the caller's transaction, before the records go. A record that has a tombstone already keeps the sinks named in it. */
export function writeTombstones(db: DatabaseSync, tombstones: readonly Tombstone[]): void {
  if (tombstones.length === 0) return;
  const get = db.prepare('SELECT eventKey, recordId, phase, observedAt FROM records WHERE position = ?');
  const put = db.prepare(`INSERT INTO tombstones (position, eventKey, recordId, phase, observedAt, expiredAt, sinks)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (position) DO UPDATE SET expiredAt = excluded.expiredAt, sinks = (
      SELECT json_group_array(value) FROM (
        SELECT value FROM json_each(tombstones.sinks) UNION SELECT value FROM json_each(excluded.sinks)))`);
  for (const { record, sinks, expiredAt } of tombstones) {
    const row = 'recordId' in record ? record : get.get(record.position);
    const { eventKey = null, recordId = null, phase = null, observedAt = null } = row ?? {};
    if (row) put.run(record.position, eventKey, recordId, phase, observedAt, expiredAt, JSON.stringify(sinks));
  }
  db.exec(
    `DELETE FROM tombstones WHERE position < (
      SELECT position FROM tombstones ORDER BY position DESC LIMIT 1 OFFSET ${mostTombstones - 1})`,
  );
}

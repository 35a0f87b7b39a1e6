import type { PurgeSelection, Selection } from '../outbox.ts';
import type { CounterChanges } from '../store/counters.ts';
import { purgedCode } from '../store/deliveries.ts';
import type { OutboxFile } from '../store/outbox-file.ts';
import { all } from '../store/sql.ts';
import { writeTombstones } from '../store/tombstones.ts';

/** Of every selected sink the work on its deliveries from one position to another. @returns how many it changed. */
function ofSelected(
  { sinks }: OutboxFile,
  { sink, position }: Selection,
  work: (sink: string, from: number, to: number, before: number) => number,
): number {
  const selected = [...sinks.values()].filter(({ name, configured }) => configured && name === (sink ?? name));
  const [from, to] = [position ?? 0, position ?? Number.MAX_SAFE_INTEGER];
  return selected.reduce((sum, { name }) => sum + work(name, from, to, sum), 0);
}

/**
 * Within the caller's transaction: makes dead letters pending again, with the bytes, ids and last error that they have.
 * @returns how many.
 */
export function retryDeadLetters(file: OutboxFile, changes: CounterChanges, selection: Selection): number {
  const retry = file.db.prepare(`UPDATE deliveries SET state = 'pending', settledAt = NULL
    WHERE sink = ? AND position BETWEEN ? AND ? AND state = 'dead'`);
  return ofSelected(file, selection, (sink, from, to) => {
    const retried = Number(retry.run(sink, from, to).changes);
    changes.move(sink, 'dead', 'pending', retried);
    return retried;
  });
}

/**
 * Within the caller's transaction: discards deliveries. The record stays for the other sinks; each leaves a tombstone, and counts as expired.
 * @returns how many.
 */
export const purge = (
  file: OutboxFile,
  changes: CounterChanges,
  { state, limit, ...rest }: PurgeSelection,
  expiredAt: string,
): number =>
  ofSelected(file, rest, (sink, from, to, before) => {
    const discarded = all<{ position: number }>(
      file.db,
      `UPDATE deliveries SET state = 'abandoned', settledAt = ?, code = '${purgedCode}',
          reason = 'Discarded by an operator.' WHERE sink = ? AND position IN (
            SELECT position FROM deliveries INDEXED BY deliveries_unsettled WHERE state IN ('pending', 'dead')
              AND sink = ? AND position BETWEEN ? AND ? AND state = ? ORDER BY position LIMIT ?) RETURNING position`,
      ...[expiredAt, sink, sink, from, to, state, (limit ?? Number.MAX_SAFE_INTEGER) - before],
    );
    const tombstones = discarded.map((record) => ({ record, sinks: [sink], expiredAt }));
    writeTombstones(file.db, tombstones);
    changes.move(sink, state, 'expired', discarded.length);
    return discarded.length;
  });

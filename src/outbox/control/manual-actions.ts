import type { PurgeSelection, Selection } from '../outbox.ts';
import { purgedCode } from '../store/deliveries.ts';
import type { OutboxFile } from '../store/outbox-file.ts';
import { all } from '../store/sql.ts';
import { writeTombstones } from '../store/tombstones.ts';

/** Configured sinks that are selected, and the first and last position. */
function selected({ sinks }: OutboxFile, { sink, position }: Selection) {
  const names = [...sinks.values()].filter(({ configured }) => configured).map(({ name }) => name);
  return {
    names: names.filter((name) => sink === undefined || name === sink),
    from: position ?? 0,
    to: position ?? Number.MAX_SAFE_INTEGER,
  };
}

/**
 * Makes dead letters pending again, with the bytes, ids and last error that they have.
 * @returns how many.
 */
export const retryDeadLetters = (file: OutboxFile, selection: Selection): number =>
  file.change((changes) => {
    const { names, from, to } = selected(file, selection);
    const retry = file.db.prepare(`UPDATE deliveries SET state = 'pending', settledAt = NULL
      WHERE sink = ? AND position BETWEEN ? AND ? AND state = 'dead'`);
    return names.reduce((sum, name) => {
      const retried = Number(retry.run(name, from, to).changes);
      changes.move(name, 'dead', 'pending', retried);
      return sum + retried;
    }, 0);
  });

/**
 * Discards deliveries. The record stays for the other sinks; each leaves a tombstone, and counts as expired.
 * @returns how many.
 */
export const purge = (
  file: OutboxFile,
  { state, limit = Number.MAX_SAFE_INTEGER, ...rest }: PurgeSelection,
  at: Date,
) =>
  file.change((changes): number => {
    const { names, from, to } = selected(file, rest);
    const discard = file.db.prepare(`UPDATE deliveries SET state = 'abandoned', settledAt = ?, code = '${purgedCode}',
      reason = 'Discarded by an operator.' WHERE sink = ? AND position IN (SELECT value FROM json_each(?))`);
    return names.reduce((sum, name) => {
      const rows = all<{ position: number }>(
        file.db,
        `SELECT position FROM deliveries INDEXED BY deliveries_unsettled WHERE state IN ('pending', 'dead')
          AND sink = ? AND position BETWEEN ? AND ? AND state = ? ORDER BY position LIMIT ?`,
        ...[name, from, to, state, limit - sum],
      );
      const expiredAt = at.toISOString();
      discard.run(expiredAt, name, JSON.stringify(rows.map(({ position }) => position)));
      writeTombstones(
        file.db,
        rows.map((record) => ({ record, sinks: [name], expiredAt })),
      );
      changes.move(name, state, 'expired', rows.length);
      return sum + rows.length;
    }, 0);
  });

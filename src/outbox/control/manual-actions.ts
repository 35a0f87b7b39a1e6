import type { Change } from '../store/counters.ts';
import { purgedCode } from '../store/deliveries.ts';
import type { OutboxFile } from '../store/outbox-file.ts';
import { transaction } from '../store/sql.ts';
import { writeTombstones } from '../store/tombstones.ts';

/** Which deliveries a person means: of one sink or of all that are configured, of one record or of all. */
export interface Chosen {
  readonly sink?: string | undefined;
  readonly position?: number | undefined;
}

/** Which deliveries are given up. */
export interface Purged extends Chosen {
  readonly state: 'dead' | 'pending';
  /** At most so many, oldest first, so that polling does not wait for a large backlog. Default: all. */
  readonly limit?: number | undefined;
}

const chosen = 'sink = :sink AND position BETWEEN :from AND :to';
const range = (position: number | undefined) => ({
  from: position ?? 0,
  to: position ?? Number.MAX_SAFE_INTEGER,
});

/**
 * Dead letters are pending again, as they were: same bytes, same ids, and what they failed of for whoever looks.
 * @returns how many.
 */
export function retryDeadLetters(file: OutboxFile, { sink, position }: Chosen): number {
  return byHand(file, sink, (name) => {
    const { changes } = file.db
      .prepare(`UPDATE deliveries SET state = 'pending', settledAt = NULL WHERE ${chosen} AND state = 'dead'`)
      .run({ sink: name, ...range(position) });
    return { dead: -Number(changes), pending: Number(changes) };
  });
}

/**
 * Gives deliveries up. The record stays for the other sinks; each leaves a tombstone, and counts as expired.
 * @returns how many.
 */
export function purge(file: OutboxFile, { sink, state, position, limit }: Purged, at: Date): number {
  const find = file.db.prepare(
    `SELECT position FROM deliveries INDEXED BY deliveries_unsettled WHERE state IN ('pending', 'dead')
      AND ${chosen} AND state = :state ORDER BY position LIMIT :limit`,
  );
  const giveUp = file.db.prepare(`UPDATE deliveries SET state = 'abandoned', settledAt = ?, code = '${purgedCode}',
      reason = 'Given up by hand.' WHERE sink = ? AND position IN (SELECT value FROM json_each(?))`);
  let left = limit ?? Number.MAX_SAFE_INTEGER;
  return byHand(file, sink, (name) => {
    const rows = find.all({ sink: name, state, limit: left, ...range(position) }) as { position: number }[];
    const positions = rows.map((row) => row.position);
    giveUp.run(at.toISOString(), name, JSON.stringify(positions));
    writeTombstones(file.db, new Map(positions.map((one) => [one, [name]])), at);
    left -= positions.length;
    return { [state]: -positions.length, expired: positions.length };
  });
}

/** One transaction over the sinks that are meant; what it changes is counted with it. */
function byHand(file: OutboxFile, sink: string | undefined, work: (name: string) => Change): number {
  const names = [...file.sinks.values()].filter(({ configured }) => configured).map(({ name }) => name);
  const { changed, confirm } = transaction(file.db, () => {
    const changes = new Map(
      names.filter((name) => sink === undefined || name === sink).map((name) => [name, work(name)] as const),
    );
    const moved = [...changes.values()].map(({ dead = 0, pending = 0 }) => Math.max(-dead, -pending));
    return { changed: moved.reduce((sum, n) => sum + n, 0), ...file.count(changes) };
  });
  confirm();
  return changed;
}

import type { DatabaseSync } from 'node:sqlite';
import { noCounters, noProgress, type SinkCounters, type SinkProgress } from '../outbox.ts';
import { CounterChanges, counterNames } from './counters.ts';
import { purgedCode } from './deliveries.ts';
import { all, one, transaction } from './sql.ts';

/** One row of `sinks`. */
export interface SinkRow {
  readonly name: string;
  readonly configured: boolean;
  readonly counters: SinkCounters;
  readonly progress: SinkProgress;
}

type Columns = { name: string; configured: number } & Record<keyof SinkCounters, number> & SinkProgress;

export const loadSinks = (db: DatabaseSync): ReadonlyMap<string, SinkRow> =>
  new Map(all<Columns>(db, 'SELECT * FROM sinks ORDER BY name').map((row) => [row.name, toSink(row)]));

const toSink = ({ name, configured, ...row }: Columns): SinkRow => ({
  name,
  configured: configured === 1,
  counters: pick(noCounters, row),
  progress: pick(noProgress, row),
});

const pick = <T extends object>(keys: T, row: T): T =>
  Object.fromEntries(Object.keys(keys).map((key) => [key, row[key as keyof T]])) as T;

export function prepareSinkWriter(db: DatabaseSync): (sink: SinkRow) => void {
  const names = ['name', 'configured', ...counterNames, ...Object.keys(noProgress)];
  const put = db.prepare(`INSERT INTO sinks (${names.join(', ')}) VALUES (${names.map((name) => `:${name}`).join(', ')})
    ON CONFLICT (name) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`);
  return ({ name, configured, counters, progress }) => {
    put.run({ name, configured: configured ? 1 : 0, ...counters, ...progress });
  };
}

/**
 * Brings the deliveries in line with the sinks of the configuration. A new sink gets everything that is retained; what one
 * that left had not got becomes `abandoned`, and pending again if it returns.
 * @throws the error of the disk, where that needs a write which it does not take.
 */
export const reconcileSinks = (db: DatabaseSync, configured: readonly string[]): ReadonlyMap<string, SinkRow> =>
  transaction(db, () => {
    // A flipped bit in a counter is no damage that SQLite could see.
    if (!areCountersRight(db)) reconcileCounters(db);
    const known = loadSinks(db);
    const begun = configured.filter((name) => !known.get(name)?.configured);
    const ended = [...known.values()].filter((sink) => sink.configured && !configured.includes(sink.name));
    const changes = new CounterChanges();
    for (const name of begun) changes.move(name, null, 'pending', begin(db, name));
    for (const { name, counters } of ended) {
      db.prepare(`UPDATE deliveries SET state = 'abandoned' WHERE sink = ? AND state IN ('pending', 'dead')`).run(name);
      changes.move(name, 'pending', 'abandoned', counters.pending);
      changes.move(name, 'dead', 'abandoned', counters.dead);
    }
    const write = prepareSinkWriter(db);
    for (const name of [...begun, ...ended.map((sink) => sink.name)]) {
      const { counters = noCounters, progress = noProgress } = known.get(name) ?? {};
      write({ name, configured: begun.includes(name), counters: changes.addTo(name, counters), progress });
    }
    return loadSinks(db);
  });

/** @returns how many deliveries the sink gets. */
function begin(db: DatabaseSync, sink: string): number {
  const again = db.prepare(`UPDATE deliveries SET state = 'pending', settledAt = NULL
    WHERE sink = ? AND state = 'abandoned' AND code IS NOT '${purgedCode}'`);
  const added = db.prepare(`INSERT OR IGNORE INTO deliveries (sink, position, eventKey, state)
    SELECT ?, position, eventKey, 'pending' FROM records ORDER BY position`);
  return Number(again.run(sink).changes) + Number(added.run(sink).changes);
}

const states = 'delivered + pending + dead + expired + abandoned';
const rowsThatAre = (state: 'pending' | 'dead'): string =>
  `(SELECT count(*) FROM deliveries INDEXED BY deliveries_unsettled
    WHERE sink = name AND state IN ('pending', 'dead') AND state = '${state}')`;

/**
 * Polling waits for this at the start: 240,000 pending rows of each sink take 25 ms, and {@link reconcileCounters} 500 ms, since it reads
 * each row to see which are dead. One wrong counter, whichever, shows in the sum or in the pending rows.
 */
const areCountersRight = (db: DatabaseSync): boolean =>
  !one(
    db,
    `SELECT name FROM sinks WHERE accepted <> ${states} OR pending <>
      (SELECT count(*) FROM deliveries INDEXED BY deliveries_pending WHERE sink = name AND state = 'pending')`,
  );

/**
 * Sets the counters by the rows that there are, within the caller's transaction: deliveries without a row are
 * lost, and count as expired. Writes no counter that is right.
 * @returns the deliveries that were due and are lost, over all sinks.
 */
export function reconcileCounters(db: DatabaseSync): number {
  const [pending, dead] = [rowsThatAre('pending'), rowsThatAre('dead')];
  db.exec(`UPDATE sinks SET pending = ${pending}, dead = ${dead} WHERE pending <> ${pending} OR dead <> ${dead};
    UPDATE sinks SET accepted = ${states} WHERE accepted < ${states}`);
  const lost = one<{ lost: number | null }>(db, `SELECT sum(accepted - (${states})) AS lost FROM sinks`)?.lost ?? 0;
  if (lost > 0) db.exec(`UPDATE sinks SET expired = expired + accepted - (${states}) WHERE accepted > ${states}`);
  return lost;
}

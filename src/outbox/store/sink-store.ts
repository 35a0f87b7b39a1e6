import type { DatabaseSync } from 'node:sqlite';
import {
  add,
  type Change,
  counterNames,
  noCounters,
  noProgress,
  type SinkCounters,
  type SinkProgress,
} from './counters.ts';
import { purgedCode } from './deliveries.ts';
import { all, one } from './sql.ts';

/** One row of `sinks`. */
export interface SinkRow {
  readonly name: string;
  readonly configured: boolean;
  readonly counters: SinkCounters;
  readonly progress: SinkProgress;
}

export const newSink = (name: string): SinkRow => ({
  name,
  configured: true,
  counters: noCounters,
  progress: noProgress,
});

type Columns = { name: string; configured: number } & Record<keyof SinkCounters, number> & SinkProgress;

export function loadSinks(db: DatabaseSync): ReadonlyMap<string, SinkRow> {
  return new Map(all<Columns>(db, 'SELECT * FROM sinks ORDER BY name').map((row) => [row.name, toSink(row)]));
}

function toSink(row: Columns): SinkRow {
  const { step, retryAt, lastSuccessAt, lastErrorAt, lastErrorCode, lastErrorReason } = row;
  return {
    name: row.name,
    configured: row.configured === 1,
    counters: Object.fromEntries(counterNames.map((name) => [name, row[name]])) as unknown as SinkCounters,
    progress: { step, retryAt, lastSuccessAt, lastErrorAt, lastErrorCode, lastErrorReason },
  };
}

export type WriteSink = (sink: SinkRow) => void;

export function prepareSinkWriter(db: DatabaseSync): WriteSink {
  const names = ['name', 'configured', ...counterNames, ...Object.keys(noProgress)];
  const put = db.prepare(`INSERT INTO sinks (${names.join(', ')}) VALUES (${names.map((name) => `:${name}`).join(', ')})
    ON CONFLICT (name) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`);
  return ({ name, configured, counters, progress }) => {
    put.run({ name, configured: configured ? 1 : 0, ...counters, ...progress });
  };
}

/**
 * Brings the rows of deliveries in line with the sinks of the configuration, within the caller's transaction. A new sink
 * gets everything that is retained; what one that left had not got becomes `abandoned`, and pending again if it returns.
 */
export function reconcileSinks(
  db: DatabaseSync,
  known: ReadonlyMap<string, SinkRow>,
  names: readonly string[],
): ReadonlyMap<string, SinkRow> {
  const write = prepareSinkWriter(db);
  const sinks = new Map(known);
  const change = (sink: SinkRow, configured: boolean, counted: Change): void => {
    const after = { ...sink, configured, counters: add(sink.counters, counted) };
    sinks.set(sink.name, after);
    write(after);
  };
  for (const name of names) {
    const sink = known.get(name);
    if (!sink?.configured) change(sink ?? newSink(name), true, begin(db, name));
  }
  for (const sink of known.values()) {
    if (sink.configured && !names.includes(sink.name)) change(sink, false, abandon(db, sink));
  }
  return sinks;
}

function begin(db: DatabaseSync, sink: string): Change {
  const again = db
    .prepare(
      `UPDATE deliveries SET state = 'pending', settledAt = NULL
        WHERE sink = ? AND state = 'abandoned' AND code IS NOT '${purgedCode}'`,
    )
    .run(sink).changes;
  const anew = db
    .prepare(`INSERT OR IGNORE INTO deliveries (sink, position, eventKey, state)
      SELECT ?, position, eventKey, 'pending' FROM records ORDER BY position`)
    .run(sink).changes;
  const rows = Number(again) + Number(anew);
  return { accepted: rows, pending: rows };
}

function abandon(db: DatabaseSync, { name, counters }: SinkRow): Change {
  db.prepare(`UPDATE deliveries SET state = 'abandoned' WHERE sink = ? AND state IN ('pending', 'dead')`).run(name);
  return { pending: -counters.pending, dead: -counters.dead, abandoned: counters.pending + counters.dead };
}

const balance = 'accepted - (delivered + pending + dead + expired + abandoned)';
const rowsThatAre = (state: 'pending' | 'dead'): string =>
  `(SELECT count(*) FROM deliveries INDEXED BY deliveries_unsettled
    WHERE sink = name AND state IN ('pending', 'dead') AND state = '${state}')`;

/**
 * Sets the counters by the rows that there are, within the caller's transaction: what is missing from the books then is
 * lost, and counts as expired. Does nothing to books that are right.
 * @returns the deliveries that were due and are lost, over all sinks.
 */
export function reconcileCounters(db: DatabaseSync): number {
  db.exec(`UPDATE sinks SET pending = ${rowsThatAre('pending')}, dead = ${rowsThatAre('dead')}`);
  db.exec(`UPDATE sinks SET accepted = max(accepted, delivered + pending + dead + expired + abandoned)`);
  const lost = one<{ lost: number | null }>(db, `SELECT sum(${balance}) AS lost FROM sinks`)?.lost ?? 0;
  db.exec(`UPDATE sinks SET expired = expired + ${balance} WHERE ${balance} <> 0`);
  return lost;
}

/** Whether the counters say what the rows say. 10 ms for 100,000 rows. */
export const areCountersRight = (db: DatabaseSync): boolean =>
  one(
    db,
    `SELECT 1 FROM sinks WHERE ${balance} <> 0 OR pending <> ${rowsThatAre('pending')} OR dead <> ${rowsThatAre('dead')}`,
  ) === undefined;

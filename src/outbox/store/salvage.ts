import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { LifecycleState } from '../../lifecycle/state.ts';
import type { Salvaged } from '../outbox.ts';
import { attempt } from './files.ts';
import { reconcileCounters } from './sink-store.ts';
import { all, one } from './sql.ts';
import {
  type EventRow,
  newState,
  observerOf,
  readChecked,
  type StoredRow,
  stateIn,
  writeChecked,
} from './state-store.ts';

export const nothingSalvaged: Salvaged = { stream: false, events: 0, records: 0, lost: 0 };

type Row = Readonly<Record<string, SQLOutputValue>>;

/**
 * Copies every sound row of a damaged outbox into a new one, within the caller's transaction, and returns the state that
 * it is to begin with. Row by row: one bad page costs the rows on it and no others. Records are taken with their bytes
 * proven by their checksum; what a lost delivery row said is unknown, so its record is pending again.
 * @param isLogDamaged pages may be of different commits, so that the lifecycle's row may be older than records.
 */
export function salvage(
  path: string,
  into: DatabaseSync,
  isLogDamaged: boolean,
): { readonly state: LifecycleState; readonly salvaged: Salvaged } {
  using from = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  from.exec('PRAGMA trusted_schema = OFF');
  const stored = stateIn(
    {
      lifecycle: attempt(() => readChecked(from, 'lifecycle')),
      events: soundRows<EventRow>(from, 'events'),
      undecided: soundRows<StoredRow>(from, 'undecided'),
    },
    (value) => (value === null ? [] : [value]),
  );
  const upTo = isLogDamaged ? undefined : stored.position;
  const records = copyRecords(from, into, upTo ?? Number.MAX_SAFE_INTEGER);
  copySinks(from, into);
  copyDeliveries(from, into);
  const lost = reconcileCounters(into);
  for (const table of ['tombstones', 'approvals', 'requests']) copyRows(from, into, table);
  const observer = attempt(() => readChecked(from, 'observer'));
  if (observer && observerOf(observer)) writeChecked(into, 'observer', observer.json);
  // Where the stream is lost positions go on all the same: the rows that were saved keep theirs.
  const highest = one<{ position: number }>(into, 'SELECT coalesce(max(position), 0) AS position FROM records');
  const position = Math.max(highest?.position ?? 0, stored.position ?? 0);
  const salvaged = { stream: stored.streamId !== undefined, events: stored.events.size, records, lost };
  return { state: { ...newState(), ...stored, position }, salvaged };
}

/** Rows behind `upTo` are of an append that was never finished. */
function copyRecords(from: DatabaseSync, into: DatabaseSync, upTo: number): number {
  const body = from.prepare('SELECT json FROM bodies WHERE position = ?');
  const put = inserter(into, 'records');
  const putBody = into.prepare('INSERT INTO bodies (position, json) VALUES (?, ?)');
  let copied = 0;
  for (const { rowid: position, ...record } of soundRows(from, 'records')) {
    if (position > upTo) continue;
    const bytes = attempt(() => body.get(position))?.json;
    if (!(bytes instanceof Uint8Array) || crc32(bytes) !== record.crc) continue;
    put({ ...record, position });
    putBody.run(position, bytes);
    copied += 1;
  }
  return copied;
}

function copySinks(from: DatabaseSync, into: DatabaseSync): void {
  copyRows(from, into, 'sinks');
  // A sink whose own row is lost still has deliveries.
  const names = attempt(() => from.prepare('SELECT DISTINCT sink FROM deliveries').all()) ?? [];
  const put = into.prepare('INSERT OR IGNORE INTO sinks (name, configured) VALUES (?, 1)');
  for (const { sink } of names) put.run(sink ?? '');
}

function copyDeliveries(from: DatabaseSync, into: DatabaseSync): void {
  const get = from.prepare('SELECT * FROM deliveries WHERE sink = ? AND position = ?');
  const put = inserter(into, 'deliveries');
  const records = all<{ position: number; eventKey: string }>(into, 'SELECT position, eventKey FROM records');
  for (const { name, configured } of all<{ name: string; configured: number }>(into, 'SELECT * FROM sinks')) {
    for (const { position, eventKey } of records) {
      const row = attempt(() => get.get(name, position) ?? null);
      if (row) put(row);
      // Null: there never was one. Undefined: it cannot be read.
      else if (row === undefined && configured === 1)
        put({ sink: name, position, eventKey, state: 'pending', attempts: 0 });
    }
  }
}

function copyRows(from: DatabaseSync, into: DatabaseSync, table: string): void {
  const put = inserter(into, table);
  for (const { rowid: _rowid, ...row } of soundRows(from, table)) attempt(() => put(row));
}

/** Inserts the columns that this build knows: a newer build of the same major may have written more, an older one less. */
function inserter(into: DatabaseSync, table: string): (row: Row) => void {
  const known = all<{ name: string }>(into, 'SELECT name FROM pragma_table_info(?)', table).map(({ name }) => name);
  const put = into.prepare(`INSERT INTO ${table} (${known.join(', ')}) VALUES (${known.map(() => '?').join(', ')})`);
  return (row) => put.run(...known.map((name) => row[name] ?? null));
}

/** So many row ids in a row are tried where none can be read: an inner page of `records` covers some 12,000. 1 s. */
const mostGuesses = 50_000;

/**
 * Every row that can be read: behind a bad page those from the next row id that can be reached, and where none is found by
 * guessing, because the first page is bad or several are, those that can be read from the end.
 */
function* soundRows<Found = Row>(from: DatabaseSync, table: string): Generator<Found & { readonly rowid: number }> {
  type Numbered = Found & { readonly rowid: number };
  const select = (where: string) => `SELECT rowid AS rowid, * FROM ${table} NOT INDEXED WHERE rowid ${where}`;
  const forwards = attempt(() => from.prepare(select('>= ? ORDER BY rowid')));
  let next = Number.NEGATIVE_INFINITY;
  for (let guesses = 0; forwards && guesses < mostGuesses; guesses += 1) {
    try {
      for (const row of forwards.iterate(next)) {
        [next, guesses] = [Number(row.rowid) + 1, 0];
        yield row as Numbered;
      }
      return;
    } catch {
      next = Math.max(next + 1, 1);
    }
  }
  const rest: Numbered[] = [];
  attempt(() => {
    for (const row of from.prepare(select('>= ? ORDER BY rowid DESC')).iterate(next)) rest.push(row as Numbered);
  });
  yield* rest.reverse();
}

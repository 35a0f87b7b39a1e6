import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { EventMemory, LifecycleState } from '../../lifecycle/state.ts';
import type { Salvaged } from '../outbox.ts';
import { reconcileCounters } from './sink-store.ts';
import { all } from './sql.ts';
import { newState, writeChecked } from './state-store.ts';
import { type EventRow, memoryOf, observationOf, observerOf, type Scalars, scalarsOf } from './stored-state.ts';

export const nothingSalvaged: Salvaged = { stream: false, events: 0, records: 0, lost: 0 };

type Row = Readonly<Record<string, SQLOutputValue>>;
type Found = Row & { readonly rowid: number };

/**
 * Copies every sound row of a damaged outbox into a new one, within the caller's transaction, and returns the state that
 * it is to begin with. Row by row: one bad page costs the rows on it and no others. Records are taken with their bytes
 * proven by their checksum; what a lost delivery row said is unknown, so its record is pending again.
 * @param log `in-part`: pages may be of different commits, so that the lifecycle's row may be older than records.
 */
export function salvage(
  path: string,
  into: DatabaseSync,
  log: 'as-written' | 'in-part',
): { readonly state: LifecycleState; readonly salvaged: Salvaged } {
  const from = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    from.exec('PRAGMA trusted_schema = OFF');
    const lifecycle = metaOf(from, 'lifecycle');
    const scalars = lifecycle && scalarsOf(lifecycle.value, lifecycle.crc);
    const upTo = log === 'as-written' ? scalars?.position : null;
    const records = copyRecords(from, into, upTo ?? Number.MAX_SAFE_INTEGER);
    copySinks(from, into);
    copyDeliveries(from, into);
    const lost = reconcileCounters(into);
    for (const table of ['tombstones', 'approvals', 'requests'] as const) copyRows(from, into, table);
    const state = copyState(from, into, scalars);
    return { state, salvaged: { stream: scalars !== null, events: state.events.size, records, lost } };
  } finally {
    from.close();
  }
}

/** The state that could be read. The caller writes it. */
function copyState(from: DatabaseSync, into: DatabaseSync, scalars: Scalars | null): LifecycleState {
  const observer = metaOf(from, 'observer');
  if (observer && observerOf(observer.value, observer.crc)) writeChecked(into, 'observer', observer.value);
  const events = new Map<string, EventMemory>();
  for (const row of soundRows(from, 'events')) {
    const memory = memoryOf(row as unknown as EventRow, scalars?.clockOffsetSeconds ?? null);
    if (memory) events.set(String(row.eventKey), memory);
  }
  const undecided = soundRows(from, 'undecided').flatMap((row) => observationOf(row as unknown as EventRow) ?? []);
  // Where the stream is lost positions go on all the same: the rows that were saved keep theirs.
  const position = Math.max(highest(into), scalars?.position ?? 0);
  return { ...newState(), ...scalars, position, events, undecided };
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

function copyRows(from: DatabaseSync, into: DatabaseSync, table: Table): void {
  const put = inserter(into, table);
  for (const { rowid: _rowid, ...row } of soundRows(from, table)) attempt(() => put(row));
}

type Table = 'events' | 'undecided' | 'records' | 'deliveries' | 'sinks' | 'tombstones' | 'approvals' | 'requests';

/** Inserts the columns that this build knows: a newer build of the same major may have written more. */
function inserter(into: DatabaseSync, table: Table): (row: Row) => void {
  const known = all<{ name: string }>(into, 'SELECT name FROM pragma_table_info(?)', table).map(({ name }) => name);
  const prepared = new Map<string, StatementSync>();
  return (row) => {
    const names = known.filter((name) => row[name] !== undefined);
    const list = names.join(', ');
    const put =
      prepared.get(list) ?? into.prepare(`INSERT INTO ${table} (${list}) VALUES (${names.map(() => '?').join(', ')})`);
    prepared.set(list, put);
    put.run(...names.map((name) => row[name] as SQLInputValue));
  };
}

/** So many row ids between two readable ends are tried one by one. */
const mostGuesses = 200_000;

/** Every row that can be read, from the front to the first bad page, from the back to the last, and one by one in between. */
function soundRows(from: DatabaseSync, table: Table): readonly Found[] {
  const front = walk(from, table, 'ASC');
  if (front.complete) return front.rows;
  const back = walk(from, table, 'DESC');
  const first = (front.rows.at(-1)?.rowid ?? 0) + 1;
  const last = (back.rows.at(-1)?.rowid ?? first) - 1;
  const between = oneByOne(from, table, first, Math.min(last, first + mostGuesses));
  const rows = [...front.rows, ...between, ...back.rows.toReversed()];
  return [...new Map(rows.map((row) => [row.rowid, row])).values()];
}

function walk(from: DatabaseSync, table: Table, direction: 'ASC' | 'DESC') {
  const rows: Found[] = [];
  try {
    const query = from.prepare(`SELECT rowid AS rowid, * FROM ${table} NOT INDEXED ORDER BY rowid ${direction}`);
    for (const row of query.iterate()) rows.push(row as Found);
    return { rows, complete: true };
  } catch {
    return { rows, complete: false };
  }
}

function oneByOne(from: DatabaseSync, table: Table, first: number, last: number): readonly Found[] {
  const get = attempt(() => from.prepare(`SELECT rowid AS rowid, * FROM ${table} NOT INDEXED WHERE rowid = ?`));
  const rows: Found[] = [];
  for (let rowid = first; get && rowid <= last; rowid += 1) {
    const row = attempt(() => get.get(rowid));
    if (row) rows.push(row as Found);
  }
  return rows;
}

function metaOf(from: DatabaseSync, key: 'lifecycle' | 'observer'): { value: string; crc: number | null } | null {
  const get = (name: string): unknown =>
    attempt(() => from.prepare('SELECT value FROM meta WHERE key = ?').get(name))?.value;
  const [value, crc] = [get(key), get(`${key}.crc`)];
  return typeof value === 'string' ? { value, crc: crc === undefined ? null : Number(crc) } : null;
}

const highest = (db: DatabaseSync): number =>
  Number(db.prepare('SELECT coalesce(max(position), 0) AS position FROM records').get()?.position ?? 0);

/** Undefined where the file does not give it. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

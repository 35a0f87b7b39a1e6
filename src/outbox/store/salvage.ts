import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { LifecycleState } from '../../lifecycle/state.ts';
import type { Salvaged } from '../outbox.ts';
import { ifSound } from './errors.ts';
import type { Layout } from './layout.ts';
import { isOutbox, migrations, refuseNewer } from './migrate.ts';
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
 * It is read under another name, `sound`.
 * @throws OutboxTooNew as for a sound file: what a newer version wrote is not ours to take apart; and the error of a disk or a
 * system that refuses, since then nothing is known of the rows that were not read.
 * @param isLogDamaged pages may be of different commits, so that the lifecycle's row may be older than records.
 */
export function salvage(
  { outbox, sound }: Layout,
  into: DatabaseSync,
  isLogDamaged: boolean,
): { readonly state: LifecycleState; readonly salvaged: Salvaged } {
  using from = new DatabaseSync(sound, { readOnly: true, timeout: 0 });
  from.exec('PRAGMA trusted_schema = OFF');
  if (ifSound(() => isOutbox(from))) refuseNewer(from, outbox, migrations);
  const stored = stateIn(
    {
      lifecycle: ifSound(() => readChecked(from, 'lifecycle')),
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
  const observer = ifSound(() => readChecked(from, 'observer'));
  if (observer && observerOf(observer)) writeChecked(into, 'observer', observer.json);
  // When the stream is lost positions continue anyway: the rows that were saved keep theirs.
  const highest = one<{ position: number }>(into, 'SELECT coalesce(max(position), 0) AS position FROM records');
  const position = Math.max(highest?.position ?? 0, stored.position ?? 0);
  const salvaged = { stream: stored.streamId !== undefined, events: stored.events.size, records, lost };
  return { state: { ...newState(), ...stored, position }, salvaged };
}

/** Rows behind `upTo` are from an unfinished append. */
function copyRecords(from: DatabaseSync, into: DatabaseSync, upTo: number): number {
  const body = from.prepare('SELECT json FROM bodies WHERE position = ?');
  const put = inserter(into, 'records');
  const putBody = into.prepare('INSERT INTO bodies (position, json) VALUES (?, ?)');
  let copied = 0;
  for (const { rowid: position, ...record } of soundRows(from, 'records')) {
    if (position > upTo) continue;
    const bytes = ifSound(() => body.get(position))?.json;
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
  const names = ifSound(() => from.prepare('SELECT DISTINCT sink FROM deliveries').all()) ?? [];
  const put = into.prepare('INSERT OR IGNORE INTO sinks (name, configured) VALUES (?, 1)');
  for (const { sink } of names) put.run(sink ?? '');
}

function copyDeliveries(from: DatabaseSync, into: DatabaseSync): void {
  const get = from.prepare('SELECT * FROM deliveries WHERE sink = ? AND position = ?');
  const put = inserter(into, 'deliveries');
  const records = all<{ position: number; eventKey: string }>(into, 'SELECT position, eventKey FROM records');
  for (const { name, configured } of all<{ name: string; configured: number }>(into, 'SELECT * FROM sinks')) {
    for (const { position, eventKey } of records) {
      const row = ifSound(() => get.get(name, position) ?? null);
      if (row) put(row);
      // Null: there never was one. Undefined: it cannot be read.
      else if (row === undefined && configured === 1)
        put({ sink: name, position, eventKey, state: 'pending', attempts: 0 });
    }
  }
}

function copyRows(from: DatabaseSync, into: DatabaseSync, table: string): void {
  const put = inserter(into, table);
  for (const { rowid: _rowid, ...row } of soundRows(from, table)) ifSound(() => put(row));
}

/** Inserts the columns that this build knows: a newer build of the same major may have written more, an older one less. */
function inserter(into: DatabaseSync, table: string): (row: Row) => void {
  const known = all<{ name: string }>(into, 'SELECT name FROM pragma_table_info(?)', table).map(({ name }) => name);
  const put = into.prepare(`INSERT INTO ${table} (${known.join(', ')}) VALUES (${known.map(() => '?').join(', ')})`);
  return (row) => put.run(...known.map((name) => row[name] ?? null));
}

/** The number of consecutive row ids that are tried when none can be read: an inner page of `records` covers some 12,000. 1 s. */
const mostGuesses = 50_000;

/**
 * Every row that can be read, once: from the front to the first bad page, from the end to the last one, and between them from each
 * row id that can be reached. A bad page may also give a wrong row id: what is found first counts, and the search never turns back.
 */
function soundRows<Found = Row>(from: DatabaseSync, table: string): readonly (Found & { readonly rowid: number })[] {
  const rows = new Map<number, Found & { readonly rowid: number }>();
  /** Reads from this row id on. Returns the last row id that could be read, and whether there is no further one. */
  const reader = (order: 'ASC' | 'DESC') => {
    const sql = `SELECT rowid AS rowid, * FROM ${table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid ${order}`;
    const query = ifSound(() => from.prepare(sql));
    return (first: number): { last: number | null; isComplete: boolean } => {
      const read: { last: number | null; isComplete: boolean } = { last: null, isComplete: false };
      ifSound(() => {
        for (const row of query?.iterate(first) ?? []) {
          read.last = Number(row.rowid);
          if (!rows.has(read.last)) rows.set(read.last, row as Found & { readonly rowid: number });
        }
        read.isComplete = true;
      });
      return read;
    };
  };
  const readFrom = reader('ASC');
  const front = readFrom(Number.MIN_SAFE_INTEGER);
  if (!front.isComplete) {
    const end = reader('DESC')(Number.MIN_SAFE_INTEGER).last ?? 0;
    let guesses = 0;
    for (let next = Math.max(front.last ?? 0, 0) + 1; next < end && guesses < mostGuesses; next += 1) {
      const { last, isComplete } = readFrom(next);
      if (isComplete) break;
      guesses = last === null ? guesses + 1 : 0;
      next = Math.max(next, last ?? 0);
    }
  }
  return [...rows.values()].sort((a, b) => a.rowid - b.rowid);
}

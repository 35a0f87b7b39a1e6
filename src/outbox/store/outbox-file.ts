import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { faultPoint } from '../../fault-point.ts';
import type { LifecycleState } from '../../lifecycle/state.ts';
import type { PendingQuery, Recovery, SinkProgress, StoredObserver } from '../outbox.ts';
import type { WriteBuffer } from '../write-buffer.ts';
import { CounterChanges } from './counters.ts';
import { type BufferedRecord, deleteRecords, type FoundDelivery, prepareDeliveries } from './deliveries.ts';
import { type Displacement, displacementOf, sizeOf } from './files.ts';
import { logBytes, slackBytes } from './retention.ts';
import { loadSinks, prepareSinkWriter, reconcileSinks, type SinkRow } from './sink-store.ts';
import { one, transaction } from './sql.ts';
import { lastDocumentAtIsDue, loadObserver, loadRecovery, loadState, prepareStateWriter } from './state-store.ts';
import { writeTombstones } from './tombstones.ts';

/** Tombstones for one transaction that makes room, and what its deletions split, take a tenth of it. */
const roomPages = 1024;

/** The open file: prepared statements, and what is known to be in it. */
export class OutboxFile {
  readonly db: DatabaseSync;
  readonly path: string;
  /** As it was when the file was opened. */
  readonly storedObserver: StoredObserver | null;
  /** The last one of this file; null where it was never needed. */
  readonly recovery: Recovery | null;
  /** Of a file that is written; null for one that is only read. */
  readonly displacement: Displacement;
  /** False on a disk that takes no writes: then only `pending` may be called. */
  readonly isWritable: boolean;
  readonly #sinkNames: readonly string[];
  readonly #deliveries;
  readonly #statements = new Map<string, StatementSync>();
  /** Prepared for a file of the present format: one that is only read may be of an earlier one. */
  readonly #writer;
  #state: LifecycleState;
  #sinks: ReadonlyMap<string, SinkRow>;
  /** Records up to this position are in the file, those of an unfinished append included. */
  #writtenUpTo: number;
  /** The most pages that the file may have: for records, and for all else. At first SQLite's own default. */
  #pages = { records: 0xfffffffe, rest: 0xfffffffe };

  /**
   * `sinks`: those of the configuration; null: the file is only read.
   * @throws OutboxDamaged; the error of the disk, where sinks are new to the file and cannot be written.
   */
  constructor(db: DatabaseSync, path: string, sinks: readonly string[] | null) {
    const state = loadState(db);
    if (sinks) transaction(db, () => dropBehind(db, state.position));
    this.db = db;
    this.path = path;
    this.storedObserver = loadObserver(db);
    this.recovery = loadRecovery(db);
    this.displacement = sinks ? displacementOf(path) : () => null;
    this.isWritable = sinks !== null;
    this.#sinkNames = sinks ?? [];
    this.#sinks = sinks ? reconcileSinks(db, sinks) : loadSinks(db);
    this.#deliveries = prepareDeliveries(db);
    this.#writer = sinks && { sink: prepareSinkWriter(db), state: prepareStateWriter(db) };
    this.#state = state;
    this.#writtenUpTo = state.position;
  }

  /** As committed. */
  get state(): LifecycleState {
    return this.#state;
  }

  get sinks(): ReadonlyMap<string, SinkRow> {
    return this.#sinks;
  }

  /** For a query of each poll: to compile it takes longer than to run it. */
  prepare(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  pending(sink: string, query: PendingQuery, without: Iterable<number>): FoundDelivery[] {
    return this.#deliveries.pending(sink, query, without, this.#state.position);
  }

  /** Those of these records that the sink has yet to get, as committed. */
  pendingOf(sink: string, positions: readonly number[]): ReadonlySet<number> {
    const committed = positions.filter((position) => position <= this.#state.position);
    return this.#deliveries.pendingOf(sink, committed);
  }

  /** What each sink has yet to get, by its name. */
  get pendingBySink(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#sinks].map(([name, { counters }]) => [name, counters.pending]));
  }

  /**
   * One transaction; what it counts, and `progress`, is written to the rows of the sinks with it. After a failure an append
   * restarts: some of what it held may be discarded before the retry.
   */
  change<T>(work: (changes: CounterChanges) => T, progress: ReadonlyMap<string, SinkProgress> = new Map()): T {
    const sinks = new Map(this.#sinks);
    try {
      const result = transaction(this.db, () => {
        const changes = new CounterChanges();
        const done = work(changes);
        for (const [name, sink] of this.#sinks) {
          if (!changes.has(name) && !progress.has(name)) continue;
          const counters = changes.addTo(name, sink.counters);
          const after = { ...sink, counters, progress: progress.get(name) ?? sink.progress };
          this.#writer?.sink(after);
          sinks.set(name, after);
        }
        return done;
      });
      this.#sinks = sinks;
      return result;
    } catch (error) {
      this.#writtenUpTo = this.#state.position;
      throw error;
    }
  }

  /**
   * One transaction: records of the buffer that are not in the file yet, and with the last of them the state and all else in it.
   * Records before that are invisible. `isEnd`: writes `lastDocumentAt` too, however young.
   * @returns whether all is on disk now.
   */
  write(buffer: WriteBuffer, wanted: LifecycleState, isEnd: boolean): boolean {
    const waiting = [...buffer.records.values()].filter(({ position }) => position > this.#writtenUpTo);
    const { chunk, isLast } = firstChunk(waiting, this.#sinkNames.length);
    if (isLast) this.#commit(chunk, buffer, wanted, isEnd);
    else this.change(() => this.#insert(chunk));
    this.#writtenUpTo = isLast ? this.#state.position : (chunk.at(-1)?.position ?? this.#writtenUpTo);
    return isLast;
  }

  /** Updates of records that are in the file, and progress: where no more records fit. */
  commitUpdates(buffer: WriteBuffer): void {
    this.change((changes) => this.#writeUpdates(changes, buffer, this.#state.position), buffer.progress);
    buffer.updatesWritten();
  }

  /** Bytes in use, without pages that are free to be used again; and of the log. */
  get size(): { readonly used: number; readonly log: number } {
    const { pages, free, pageBytes } = this.#sizes;
    return { used: (pages - free) * pageBytes, log: sizeOf(`${this.path}-wal`) };
  }

  /** Sets a size limit in bytes that SQLite itself enforces: an append beyond it fails as on a full disk, whatever filled it. */
  bound(limit: number): void {
    const { pageBytes } = this.#sizes;
    const [file, log] = [limit - logBytes(limit), logBytes(limit)];
    this.#pages = { records: Math.floor(file / pageBytes), rest: Math.floor((file + slackBytes) / pageBytes) };
    this.db.exec(`PRAGMA wal_autocheckpoint = ${Math.max(16, Math.floor(log / 2 / pageBytes))};
      PRAGMA journal_size_limit = ${log}; PRAGMA max_page_count = ${this.#pages.rest}`);
  }

  /** One transaction that frees space: it may use pages beyond the limit, since even deleting needs some. */
  makeRoom<T>(work: (changes: CounterChanges) => T): T {
    return this.#within(this.#sizes.pages + roomPages, () => this.change(work));
  }

  get #sizes(): { readonly pages: number; readonly free: number; readonly pageBytes: number } {
    const sql = `SELECT page_count AS pages, freelist_count AS free, page_size AS pageBytes
      FROM pragma_page_count, pragma_freelist_count, pragma_page_size`;
    return one(this.db, sql) ?? { pages: 0, free: 0, pageBytes: 4096 };
  }

  #commit(records: readonly BufferedRecord[], buffer: WriteBuffer, wanted: LifecycleState, isEnd: boolean): void {
    const { lastDocumentAt, lastDocument } = this.#state;
    const isDue = isEnd || lastDocumentAtIsDue(this.#state, wanted);
    const state = isDue ? wanted : { ...wanted, lastDocumentAt, lastDocument };
    this.change((changes) => {
      if (records.length > 0) this.#insert(records);
      buffer.countRecords(changes);
      this.#writeUpdates(changes, buffer, Number.POSITIVE_INFINITY);
      writeTombstones(this.db, buffer.tombstones);
      for (const write of buffer.rows.values()) write(this.db);
      this.#writer?.state(this.#state, state);
    }, buffer.progress);
    this.#state = state;
  }

  #insert(records: readonly BufferedRecord[]): void {
    this.#within(this.#pages.records, () => {
      if (this.#writtenUpTo === this.#state.position) dropBehind(this.db, this.#state.position);
      for (const record of records) this.#deliveries.insert(record, this.#sinkNames);
      faultPoint('in-append');
    });
  }

  #writeUpdates(changes: CounterChanges, buffer: WriteBuffer, upTo: number): void {
    buffer.countUpdates(
      changes,
      (sink, position, update) => position <= upTo && this.#deliveries.update(sink, position, update),
    );
  }

  /** `PRAGMA max_page_count` for the time of this work: it never goes below what the file has. */
  #within<T>(most: number, work: () => T): T {
    this.db.exec(`PRAGMA max_page_count = ${most}`);
    try {
      return work();
    } finally {
      this.db.exec(`PRAGMA max_page_count = ${this.#pages.rest}`);
    }
  }
}

/** Rows behind the state's position are from an unfinished append: no relay has got them. */
function dropBehind(db: DatabaseSync, position: number): void {
  const last = one<{ last: number | null }>(db, 'SELECT max(position) AS last FROM records')?.last ?? 0;
  if (last > position) deleteRecords(db, '> ?', position);
}

/** The most that one transaction writes: polling waits for it. */
export const chunkBounds = { rows: 500, bytes: 256 * 1024 } as const;

/**
 * The oldest records that make one transaction, each with one delivery row per sink, and whether there are more. At least
 * one, however large.
 */
export function firstChunk(
  records: Iterable<BufferedRecord>,
  sinks: number,
): { readonly chunk: readonly BufferedRecord[]; readonly isLast: boolean } {
  const chunk: BufferedRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    const isFull =
      (chunk.length + 1) * (1 + sinks) > chunkBounds.rows || bytes + record.json.length > chunkBounds.bytes;
    if (isFull && chunk.length > 0) return { chunk, isLast: false };
    chunk.push(record);
    bytes += record.json.length;
  }
  return { chunk, isLast: true };
}

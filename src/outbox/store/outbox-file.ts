import type { DatabaseSync } from 'node:sqlite';
import type { LifecycleState } from '../../lifecycle/state.ts';
import { writeConclusions } from '../control/approvals.ts';
import { type FiledRequest, prepareRequestReader, writeAnswer } from '../control/requests.ts';
import type { Tombstone, WriteBuffer } from '../write-buffer.ts';
import { add, type Change, type SinkProgress } from './counters.ts';
import { type BufferedRecord, type FoundDelivery, type PendingQuery, prepareDeliveries } from './deliveries.ts';
import {
  areCountersRight,
  loadSinks,
  newSink,
  prepareSinkWriter,
  reconcileCounters,
  reconcileSinks,
  type SinkRow,
} from './sink-store.ts';
import { one, transaction } from './sql.ts';
import { lastDocumentAtIsDue, prepareStateWriter, type StoredObserver, writeChecked } from './state-store.ts';

/** What one transaction makes durable, beside what is in {@link WriteBuffer}. */
export interface Commit {
  readonly state: LifecycleState;
  /** Those that changed. */
  readonly progress: ReadonlyMap<string, SinkProgress>;
  /** Null when it is as stored. */
  readonly observer: StoredObserver | null;
  /** `lastDocumentAt` goes with it however young. */
  readonly isLast: boolean;
}

export interface PageBounds {
  readonly records: number;
  readonly rest: number;
}

/** The open file: prepared statements, and what is known to be in it. */
export interface OutboxFile {
  readonly db: DatabaseSync;
  /** As committed. */
  readonly state: LifecycleState;
  readonly sinks: ReadonlyMap<string, SinkRow>;
  /** Records up to this position are in the file, those of an unfinished append included. */
  readonly writtenUpTo: number;
  pending(sink: string, query: PendingQuery, without: Iterable<number>): FoundDelivery[];
  /** Unanswered ones, oldest first. */
  requests(): FiledRequest[];
  /** Records of an append that takes several transactions. Invisible until {@link commit} has written the state. */
  writeChunk(records: readonly BufferedRecord[]): void;
  /** The last records, what became of deliveries, counters, answers and the state: afterwards `buffer` is all on disk. */
  commit(records: readonly BufferedRecord[], buffer: WriteBuffer, commit: Commit): void;
  /** What became of deliveries and how sinks stand, of records that are in the file: where no more records fit. */
  commitOutcomes(buffer: WriteBuffer, progress: Commit['progress']): void;
  /** The most pages the file may have: for records, and for all else. SQLite keeps it as if the disk were full. */
  boundPages(bounds: PageBounds): void;
  /** One transaction that makes room: it may use pages whatever the bound, since even deleting needs some. */
  makeRoom<T>(work: () => T): T;
  /** Changes counters in the caller's transaction; `confirm` after its COMMIT. */
  count(changes: ReadonlyMap<string, Change>): { confirm(): void };
  close(): void;
}

/** @throws what the disk says, when the sinks of the configuration are new to the file and cannot be written. */
export function createOutboxFile(
  db: DatabaseSync,
  stored: LifecycleState,
  sinkNames: readonly string[],
  onCommit: (state: LifecycleState) => void,
): OutboxFile {
  let state = stored;
  let sinks = reconciled(db, sinkNames);
  const deliveries = prepareDeliveries(db);
  const requests = prepareRequestReader(db);
  const writeSink = prepareSinkWriter(db);
  const writeState = prepareStateWriter(db);
  onCommit(stored);
  const insertTombstone =
    db.prepare(`INSERT OR REPLACE INTO tombstones (position, eventKey, recordId, phase, observedAt, expiredAt, sinks)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);

  let pages: PageBounds = { records: mostPages, rest: mostPages };
  /** `PRAGMA max_page_count` for the time of this work: it never goes below what the file has. */
  const within = <T>(most: number, work: () => T): T => {
    db.exec(`PRAGMA max_page_count = ${most}`);
    try {
      return work();
    } finally {
      db.exec(`PRAGMA max_page_count = ${pages.rest}`);
    }
  };

  let writtenUpTo = stored.position;
  const insert = (records: readonly BufferedRecord[]): void => {
    if (writtenUpTo === state.position) dropBehind(db, state.position);
    for (const record of records) deliveries.insert(record, sinkNames);
  };

  /** After a failure an append begins anew: some of what it held may be given up before it is tried again. */
  const fallible = <T>(work: () => T): T => {
    try {
      return transaction(db, work);
    } catch (error) {
      writtenUpTo = state.position;
      throw error;
    }
  };

  const settleAll = (sink: string, buffer: WriteBuffer, upTo = Number.POSITIVE_INFINITY): Change => {
    let [delivered, dead, undurable] = [0, 0, 0];
    for (const [position, outcome] of buffer.outcomes(sink)) {
      if (position > upTo || !deliveries.settle(sink, position, outcome)) continue;
      if (outcome.state === 'delivered') delivered += 1;
      if (outcome.state === 'dead') dead += 1;
      if (outcome.undurable) undurable += 1;
    }
    return { delivered, dead, undurable, pending: -(delivered + dead) };
  };

  const counted = (buffer: WriteBuffer, progress: Commit['progress']): ReadonlyMap<string, SinkRow> => {
    const after = new Map(sinks);
    for (const name of sinkNames) {
      const sink = after.get(name) ?? newSink(name);
      const appended = { accepted: buffer.records.size, pending: buffer.records.size };
      const counters = [appended, settleAll(name, buffer), buffer.counted(name)].reduce(add, sink.counters);
      after.set(name, { ...sink, counters, progress: progress.get(name) ?? sink.progress });
    }
    return after;
  };

  const writeSinks = (after: ReadonlyMap<string, SinkRow>): void => {
    for (const sink of after.values()) if (!isSame(sink, sinks.get(sink.name))) writeSink(sink);
  };

  return {
    db,
    get state() {
      return state;
    },
    get sinks() {
      return sinks;
    },
    pending: (sink, query, without) => deliveries.pending(sink, query, without, state.position),
    requests,
    get writtenUpTo() {
      return writtenUpTo;
    },
    writeChunk(records) {
      fallible(() => within(pages.records, () => insert(records)));
      writtenUpTo = records.at(-1)?.position ?? writtenUpTo;
    },
    commit(records, buffer, { state: wanted, progress, observer, isLast }) {
      const { lastDocumentAt, lastDocument } = state;
      const after = isLast || lastDocumentAtIsDue(state, wanted) ? wanted : { ...wanted, lastDocumentAt, lastDocument };
      sinks = fallible(() => {
        if (records.length > 0) within(pages.records, () => insert(records));
        const sinksAfter = counted(buffer, progress);
        writeSinks(sinksAfter);
        for (const tombstone of buffer.tombstones) insertTombstone.run(...asRow(tombstone));
        writeConclusions(db, buffer.concluded);
        for (const [number, answered] of buffer.answers) writeAnswer(db, number, answered);
        writeState(state, after);
        if (observer) writeChecked(db, 'observer', JSON.stringify(observer));
        return sinksAfter;
      });
      if (after.position !== state.position) onCommit(after);
      state = after;
      writtenUpTo = state.position;
    },
    commitOutcomes(buffer, progress) {
      sinks = fallible(() => {
        const after = new Map(sinks);
        for (const [name, sink] of sinks) {
          const counters = add(sink.counters, settleAll(name, buffer, state.position));
          after.set(name, { ...sink, counters, progress: progress.get(name) ?? sink.progress });
        }
        writeSinks(after);
        return after;
      });
    },
    boundPages(bounds) {
      pages = bounds;
      db.exec(`PRAGMA max_page_count = ${pages.rest}`);
    },
    makeRoom(work) {
      const most = (one<{ page_count: number }>(db, 'PRAGMA page_count')?.page_count ?? 0) + roomPages;
      return within(most, () => transaction(db, work));
    },
    count(changes) {
      const after = new Map(sinks);
      for (const [name, change] of changes) {
        const sink = after.get(name);
        if (sink) after.set(name, { ...sink, counters: add(sink.counters, change) });
      }
      writeSinks(after);
      return {
        confirm: () => {
          sinks = after;
        },
      };
    },
    close: () => db.close(),
  };
}

/** SQLite's own default. */
const mostPages = 0xfffffffe;

/** Tombstones for one transaction that makes room, and what its deletions split, take a tenth of it. */
const roomPages = 1024;

/** Rows behind the state's position are of an append that was never finished: nobody has heard of them. */
export function dropBehind(db: DatabaseSync, position: number): void {
  const last = one<{ last: number | null }>(db, 'SELECT max(position) AS last FROM records')?.last ?? 0;
  if (last <= position) return;
  db.prepare('DELETE FROM deliveries WHERE sink IN (SELECT name FROM sinks) AND position > ?').run(position);
  db.prepare('DELETE FROM bodies WHERE position > ?').run(position);
  db.prepare('DELETE FROM records WHERE position > ?').run(position);
}

function reconciled(db: DatabaseSync, names: readonly string[]): ReadonlyMap<string, SinkRow> {
  // A flipped bit in a counter is no damage that SQLite could see.
  if (!areCountersRight(db)) transaction(db, () => reconcileCounters(db));
  const known = loadSinks(db);
  const isSettled = [...known.values()].every(({ name, configured }) => configured === names.includes(name));
  if (isSettled && names.every((name) => known.has(name))) return known;
  return transaction(db, () => reconcileSinks(db, known, names));
}

const isSame = (after: SinkRow, before: SinkRow | undefined): boolean =>
  before !== undefined &&
  after.progress === before.progress &&
  (Object.keys(after.counters) as (keyof SinkRow['counters'])[]).every(
    (name) => after.counters[name] === before.counters[name],
  );

const asRow = ({ record, sinks, expiredAt }: Tombstone): [number, string, string, string, string, string, string] => [
  record.position,
  record.eventKey,
  record.recordId,
  record.phase,
  record.observedAt,
  expiredAt,
  JSON.stringify(sinks),
];

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { faultPoint } from '../../fault-point.ts';
import type { LifecycleRecord } from '../../lifecycle/record.ts';
import type { PendingDelivery, PendingQuery } from '../outbox.ts';

/** One record with the bytes that every sink gets, on its way into the file. */
export type BufferedRecord = Readonly<ReturnType<typeof bufferedRecord>>;

export const bufferedRecord = (record: LifecycleRecord, appendedAt: string) => ({
  position: record.position,
  /** Lower-case EventId. */
  eventKey: record.eventId.toLowerCase(),
  recordId: record.recordId,
  phase: record.phase,
  observedAt: record.observedAt,
  appendedAt,
  json: Buffer.from(JSON.stringify(record)),
});

/** The `code` of a delivery that was purged. Its row is `abandoned`, and stays so when its sink returns. */
export const purgedCode = 'purged';

/** All updates of one delivery since the last commit, as one. */
export interface BufferedUpdate {
  readonly state: 'pending' | 'delivered' | 'dead';
  /** Failed ones to add. */
  readonly attempts: number;
  readonly code: string | null;
  readonly reason: string | null;
  readonly at: string;
}

/** A row as it was found; `damaged` when its bytes are not those that were written. */
export interface FoundDelivery extends PendingDelivery {
  readonly damaged: boolean;
}

// Left joins: a row that lost its bytes is found, and becomes a dead letter, instead of staying pending.
const body = `FROM found JOIN deliveries AS d ON d.sink = :sink AND d.position = found.position
  LEFT JOIN records AS r ON r.position = found.position LEFT JOIN bodies AS b ON b.position = found.position
  ORDER BY found.position`;

/** The statements about records and deliveries. All run within the caller's transaction. */
export function prepareDeliveries(db: DatabaseSync) {
  const putRecord =
    db.prepare(`INSERT INTO records (position, eventKey, recordId, phase, observedAt, appendedAt, bytes, crc)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const putBody = db.prepare('INSERT INTO bodies (position, json) VALUES (?, ?)');
  const putDelivery = db.prepare(
    `INSERT INTO deliveries (sink, position, eventKey, state) VALUES (?, ?, ?, 'pending')`,
  );
  const putUpdate = db.prepare(`UPDATE deliveries
    SET state = ?, attempts = attempts + ?, code = coalesce(?, code), reason = coalesce(?, reason), settledAt = ?
    WHERE sink = ? AND position = ? AND state = 'pending'`);
  // Positions first, from the index alone; then bodies, of the requested rows only.
  const pendingIn = (deliveries: string): StatementSync =>
    db.prepare(`WITH found AS MATERIALIZED (SELECT d.position FROM ${deliveries} AND d.sink = :sink
      AND d.eventKey NOT IN (SELECT value FROM json_each(:except)) AND d.state = 'pending' AND d.position <= :upTo
      AND d.position NOT IN (SELECT value FROM json_each(:without)) ORDER BY d.position LIMIT :limit)
      SELECT d.position, d.eventKey, d.attempts, r.appendedAt, r.crc, b.json ${body}`);
  const ofAll = pendingIn('deliveries AS d INDEXED BY deliveries_pending WHERE true');
  const ofOnly = pendingIn(`json_each(:only) AS e CROSS JOIN deliveries AS d INDEXED BY deliveries_pending_of_event
    WHERE d.eventKey = e.value`);

  const getPending = db.prepare(`SELECT p.value AS position FROM json_each(?) AS p
    CROSS JOIN deliveries AS d ON d.sink = ? AND d.position = p.value AND d.state = 'pending'`);

  return {
    /** Those of these positions that are pending. */
    pendingOf: (sink: string, positions: Iterable<number>): ReadonlySet<number> =>
      new Set(getPending.all(asList(positions), sink).map(({ position }) => Number(position))),
    insert(record: BufferedRecord, sinks: Iterable<string>): void {
      const { position, eventKey, recordId, phase, observedAt, appendedAt, json } = record;
      putRecord.run(position, eventKey, recordId, phase, observedAt, appendedAt, json.length, crc32(json));
      putBody.run(position, json);
      for (const sink of sinks) putDelivery.run(sink, position, eventKey);
    },
    /** False when there is no such pending row any more: expired, abandoned or settled before. */
    update(sink: string, position: number, { state, attempts, code, reason, at }: BufferedUpdate): boolean {
      const settledAt = state === 'pending' ? null : at;
      const { changes } = putUpdate.run(state, attempts, code, reason, settledAt, sink, position);
      faultPoint('in-settle');
      return Number(changes) > 0;
    },
    /** Oldest first. `without`: positions settled in memory only. `upTo`: rows behind it belong to an unfinished append. */
    pending(sink: string, query: PendingQuery, without: Iterable<number>, upTo: number): FoundDelivery[] {
      const { limit, exceptEvents, onlyEvents } = query;
      const shared = { sink, limit, except: asList(exceptEvents), without: asList(without), upTo };
      const rows = onlyEvents ? ofOnly.all({ ...shared, only: asList(onlyEvents) }) : ofAll.all(shared);
      return rows.map((row) => found(row as unknown as Row));
    },
  };
}

/** Within the caller's transaction: records with their bytes and deliveries. `which`: what their positions are, with one parameter. */
export function deleteRecords(db: DatabaseSync, which: string, parameter: string | number): void {
  for (const table of ['records WHERE', 'bodies WHERE', 'deliveries WHERE sink IN (SELECT name FROM sinks) AND'])
    db.prepare(`DELETE FROM ${table} position ${which}`).run(parameter);
}

const asList = (values: Iterable<string | number> | undefined): string => JSON.stringify([...(values ?? [])]);

interface Row extends Omit<PendingDelivery, 'appendedAt' | 'json'> {
  readonly appendedAt: string | null;
  readonly crc: number | null;
  readonly json: Uint8Array | null;
}

function found({ crc, appendedAt, json, ...rest }: Row): FoundDelivery {
  const bytes = json ? Buffer.from(json.buffer, json.byteOffset, json.byteLength) : Buffer.alloc(0);
  return { ...rest, appendedAt: appendedAt ?? '', json: bytes, damaged: crc32(bytes) !== crc };
}

import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { DeliveryState } from './outbox.ts';
import { readIn } from './store/connection.ts';
import { loadState } from './store/state-store.ts';

/** Deliveries in one of these states; of one sink or of all, of one record or of all, of all those records or of some. */
interface DeliveryFilter extends RecordFilter {
  readonly states: readonly DeliveryState[];
  readonly sink?: string | undefined;
  readonly position?: number | undefined;
}

/** Which records; upper and lower case do not matter. */
export interface RecordFilter {
  readonly eventId?: string | undefined;
  readonly eventType?: string | undefined;
  /** Among the VMs that the event affects. */
  readonly vm?: string | undefined;
  /** The first and the last moment of `observedAt`. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

/** One sink's standing with one record. */
export interface DeliveryRow {
  readonly position: number;
  readonly sink: string;
  readonly state: DeliveryState;
  /** Lower-case EventId. */
  readonly eventKey: string;
  readonly phase: string;
  readonly observedAt: string;
  /** Failed ones. */
  readonly attempts: number;
  readonly settledAt: string | null;
  /** What it failed of last. */
  readonly code: string | null;
  readonly reason: string | null;
}

export interface DeliveryList {
  /** Newest last. */
  readonly rows: readonly DeliveryRow[];
  /** How many there are, those that are not listed included. */
  readonly total: number;
}

/** Everything that is known of one record. */
export interface RecordDetails {
  readonly position: number;
  /** Null where it was discarded, or its bytes are not those that were written. */
  readonly record: unknown;
  readonly appendedAt: string | null;
  readonly isDamaged: boolean;
  readonly deliveries: readonly Pick<DeliveryRow, 'sink' | 'state' | 'attempts' | 'settledAt' | 'code' | 'reason'>[];
  /** Sinks that will never get it. */
  readonly givenUp: null | { readonly at: string; readonly sinks: readonly string[] };
}

/** The newest `limit` deliveries. Null where there is no outbox. @throws as `readOutbox`. */
export const listDeliveries = (directory: string, { limit, ...filter }: DeliveryFilter & { readonly limit: number }) =>
  readUpTo(directory, (db, upTo): DeliveryList => {
    const bound = { ...parameters(filter), upTo };
    const total = db.prepare(`SELECT count(*) AS total FROM deliveries AS d WHERE ${wanted}`).get(bound)?.total;
    const rows = db
      .prepare(`SELECT d.position, d.sink, d.state, d.eventKey, d.attempts, d.settledAt, d.code, d.reason, r.phase,
          r.observedAt FROM deliveries AS d JOIN records AS r USING (position) WHERE ${wanted}
        ORDER BY d.position DESC, d.sink DESC LIMIT :limit`)
      .all({ ...bound, limit }) as unknown as DeliveryRow[];
    return { rows: rows.reverse(), total: Number(total ?? 0) };
  });

/** How many deliveries there are, by sink; sinks without any are left out. Null where there is no outbox. */
export const countDeliveries = (directory: string, filter: DeliveryFilter) =>
  readUpTo(directory, (db, upTo): ReadonlyMap<string, number> => {
    const rows = db
      .prepare(`SELECT d.sink, count(*) AS n FROM deliveries AS d WHERE ${wanted} GROUP BY d.sink ORDER BY d.sink`)
      .all({ ...parameters(filter), upTo });
    return new Map(rows.map(({ sink, n }) => [String(sink), Number(n)]));
  });

/** One record and its deliveries; `newest` is the position of the last one. Null where there is no outbox. */
export const readRecord = (directory: string, position: number) =>
  readUpTo(directory, (db, newest): { readonly newest: number; readonly details: RecordDetails | null } => {
    const sql =
      'SELECT r.appendedAt, r.crc, b.json FROM records AS r LEFT JOIN bodies AS b USING (position) WHERE position = ?';
    const row = position > newest ? undefined : db.prepare(sql).get(position);
    const buried = db.prepare('SELECT expiredAt, sinks FROM tombstones WHERE position = ?').get(position);
    if (!row && !buried) return { newest, details: null };
    const json = row ? sound(row) : null;
    return {
      newest,
      details: {
        position,
        record: json === null ? null : JSON.parse(json),
        appendedAt: row ? String(row.appendedAt) : null,
        isDamaged: row !== undefined && json === null,
        deliveries: db
          .prepare(
            'SELECT sink, state, attempts, settledAt, code, reason FROM deliveries WHERE position = ? ORDER BY sink',
          )
          .all(position) as unknown as RecordDetails['deliveries'],
        givenUp: buried ? { at: String(buried.expiredAt), sinks: JSON.parse(String(buried.sinks)) } : null,
      },
    };
  });

/** The number of bodies in memory at once. */
const page = 200;

/**
 * The JSON of every record with a delivery of this kind, oldest first, as it was written; one that is damaged is left out.
 * A transaction for each page: no reader keeps the log from being played back. @throws as `readOutbox`.
 */
export function* exportRecords(directory: string, filter: DeliveryFilter): Generator<string> {
  for (let after = 0; ; ) {
    const rows = readUpTo(directory, (db, upTo) =>
      db
        .prepare(`SELECT r.position, r.crc, b.json FROM records AS r JOIN bodies AS b USING (position)
          WHERE r.position > :after AND EXISTS (SELECT 1 FROM deliveries AS d WHERE d.position = r.position AND ${wanted})
          ORDER BY r.position LIMIT ${page}`)
        .all({ ...parameters(filter), upTo, after }),
    );
    if (!rows || rows.length === 0) return;
    for (const row of rows) {
      const json = sound(row);
      if (json !== null) yield json;
    }
    after = Number(rows.at(-1)?.position);
  }
}

/** JSON that bytes gone bad have made unreadable would fail the whole query. */
const readableBodies = `SELECT position, iif(json_valid(CAST(json AS TEXT)), CAST(json AS TEXT), '{}') AS json FROM bodies`;

const wanted = `d.state IN (SELECT value FROM json_each(:states)) AND d.position BETWEEN :from AND min(:to, :upTo)
  AND d.sink = coalesce(:sink, d.sink)
  AND d.eventKey = coalesce(:eventKey, d.eventKey)
  AND (:since IS NULL AND :until IS NULL OR EXISTS (SELECT 1 FROM records AS seen WHERE seen.position = d.position
    AND seen.observedAt BETWEEN coalesce(:since, '') AND coalesce(:until, '~')))
  AND (:eventType IS NULL AND :vm IS NULL OR EXISTS (SELECT 1 FROM (${readableBodies}) AS body WHERE body.position = d.position
    AND (:eventType IS NULL OR lower(body.json ->> 'eventType') = :eventType)
    AND (:vm IS NULL OR EXISTS (SELECT 1 FROM json_each(body.json, '$.affectedResources') WHERE lower(value) = :vm))))`;

const parameters = ({ states, sink, position, eventId, eventType, vm, since, until }: DeliveryFilter) => ({
  states: JSON.stringify(states),
  sink: sink ?? null,
  eventKey: eventId?.toLowerCase() ?? null,
  eventType: eventType?.toLowerCase() ?? null,
  vm: vm?.toLowerCase() ?? null,
  since: since?.toISOString() ?? null,
  until: until?.toISOString() ?? null,
  from: position ?? 0,
  to: position ?? Number.MAX_SAFE_INTEGER,
});

/** The text, where its bytes are those that were written. */
function sound({ json, crc }: Readonly<Record<string, unknown>>): string | null {
  return json instanceof Uint8Array && crc32(json) === crc ? Buffer.from(json).toString('utf8') : null;
}

/** `upTo`: rows behind it are of an append that was never finished. */
const readUpTo = <T>(directory: string, read: (db: DatabaseSync, upTo: number) => T): T | null =>
  readIn(directory, (db) => read(db, loadState(db).position));

import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import { crc32 } from 'node:zlib';
import type { Observation } from '../../lifecycle/observation.ts';
import { impactWithin } from '../../lifecycle/scope.ts';
import { type EventMemory, emptyState, type LifecycleState } from '../../lifecycle/state.ts';
import { memoryWithNewKeys, observationWithNewKeys, withNewKeys } from '../../lifecycle/upgrade.ts';
import type { Recovery, StoredObserver } from '../outbox.ts';
import { OutboxDamaged } from './errors.ts';
import { attempt } from './files.ts';
import { all, one } from './sql.ts';

/** All of the state that is neither an event nor an undecided document. */
export type Scalars = Omit<LifecycleState, 'events' | 'undecided' | 'approved'>;

/** JSON with its checksum; without one before format 1.1, and where a version before that changed it. */
export interface StoredRow {
  readonly json: string;
  readonly crc?: number | null;
}

/** A row of `events`. */
export interface EventRow extends StoredRow {
  readonly eventKey: string;
  readonly open: number;
}

/** A new stream: readers see that what was known before is lost. */
export const newState = (): LifecycleState => emptyState(randomUUID());

/**
 * The state as it was committed last.
 * @throws OutboxDamaged where a row is missing, or not as it was written.
 */
export function loadState(db: DatabaseSync): LifecycleState {
  const lifecycle = readChecked(db, 'lifecycle');
  const events = all<EventRow>(db, 'SELECT * FROM events ORDER BY eventKey');
  const undecided = all<StoredRow>(db, 'SELECT * FROM undecided ORDER BY number');
  const stored = stateIn({ lifecycle, events, undecided }, refuseUnsound);
  const approved = all<Pick<EventRow, 'eventKey'>>(
    db,
    `SELECT eventKey FROM approvals WHERE outcome IS NULL OR outcome <> 'refused' ORDER BY eventKey`,
  ).map(({ eventKey }) => eventKey);
  return { ...emptyState(''), ...stored, approved: new Set(approved) };
}

/** What becomes of a value that was read: none, where its row is not as it was written. */
type Keep = <T>(value: T | null, subject: string) => readonly T[];

const refuseUnsound: Keep = (value, subject) => {
  if (value === null) throw new OutboxDamaged(`${subject} not as it was written`);
  return [value];
};

interface StateRows {
  readonly lifecycle: StoredRow | undefined;
  readonly events: Iterable<EventRow>;
  readonly undecided: Iterable<StoredRow>;
}

/** The state in the rows of a file. Without the scalars where their row is not kept. */
export function stateIn({ lifecycle, events, undecided }: StateRows, keep: Keep) {
  const [scalars] = keep(lifecycle ? scalarsOf(lifecycle) : null, 'the row of the lifecycle is missing, or');
  const offset = scalars?.clockOffsetSeconds ?? null;
  const memories = [...events].flatMap((row) =>
    keep(memoryOf(row, offset), `the memory of the event ${row.eventKey} is`).map(
      (memory) => [row.eventKey, memory] as const,
    ),
  );
  const observations = [...undecided].flatMap((row) =>
    keep(observationOf(row), 'a document that waits for the name of this VM is'),
  );
  return { ...scalars, events: new Map(memories), undecided: observations };
}

/** @throws OutboxDamaged where it is not as it was written. */
export function loadObserver(db: DatabaseSync): StoredObserver | null {
  const row = readChecked(db, 'observer');
  const [stored] = row ? refuseUnsound(observerOf(row), 'the name of this VM is') : [];
  return stored ?? null;
}

/** Of the file that this one replaced. Null too where it is not as it was written: it is only reported, so no start fails for it. */
export function loadRecovery(db: DatabaseSync): Recovery | null {
  const text = readMeta(db, 'recovery');
  const found: unknown = text === null ? null : attempt(() => JSON.parse(text));
  return isRecovery(found) ? found : null;
}

function isRecovery(value: unknown): value is Recovery {
  const { at, reason, movedTo, salvaged } = (value ?? {}) as Partial<Recovery>;
  const isText = [at, reason, movedTo].every((part) => typeof part === 'string');
  return isText && Number.isFinite(Date.parse(String(at))) && typeof salvaged === 'object' && salvaged !== null;
}

export const readMeta = (db: DatabaseSync, key: MetaKey): string | null =>
  one<{ value: string }>(db, 'SELECT value FROM meta WHERE key = ?', key)?.value ?? null;

export const readChecked = (db: DatabaseSync, key: CheckedKey): StoredRow | undefined =>
  one(
    db,
    `SELECT value AS json, (SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?1 || '.crc') AS crc
      FROM meta WHERE key = ?1`,
    key,
  );

type CheckedKey = 'lifecycle' | 'observer';

/** The rows of `meta`. `bridgeVersion`: the build that made the format, which an older one names as the one to install. */
type MetaKey = 'sentinel' | 'bridgeVersion' | 'createdAt' | 'recovery' | CheckedKey | `${CheckedKey}.crc`;

export function writeMeta(db: DatabaseSync, key: MetaKey, value: string): void {
  db.prepare(`INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`).run(
    key,
    value,
  );
}

/** In the caller's transaction. */
export function writeChecked(db: DatabaseSync, key: CheckedKey, value: string): void {
  writeMeta(db, key, value);
  writeMeta(db, `${key}.crc`, String(checksum(value)));
}

/** How old `lastDocumentAt` may be on disk: to write each of one poll a second would keep the disk busy all day. */
const lastDocumentAtEveryMs = 60_000;
/** The same while an impact is near: after a power cut the outage is counted from what is on disk. */
const lastDocumentAtNearImpactEveryMs = 5000;
const nearImpactMs = 5 * 60_000;

/** Whether this state is worth a separate transaction. */
export function isWorthStoring(stored: LifecycleState, next: LifecycleState): boolean {
  if (changedScalars(stored, next) || undecidedIsDue(stored, next) || lastDocumentAtIsDue(stored, next)) return true;
  const isSame = (key: string): boolean => next.events.get(key) === stored.events.get(key);
  return next.events !== stored.events && ![...stored.events.keys(), ...next.events.keys()].every(isSame);
}

function changedScalars(stored: LifecycleState, next: LifecycleState): boolean {
  const { lastDocument, lastDocumentAt } = stored;
  const [before, after] = [scalarsIn(stored), { ...scalarsIn(next), lastDocument, lastDocumentAt }];
  return (Object.keys(after) as (keyof Scalars)[]).some((key) => after[key] !== before[key]);
}

/** A document that repeats the one before replaces it at each poll: that alone is written with `lastDocumentAt`. */
function undecidedIsDue({ undecided: stored }: LifecycleState, { undecided: next }: LifecycleState): boolean {
  return next.length !== stored.length || !isDeepStrictEqual(next.at(-1)?.document, stored.at(-1)?.document);
}

/** Either way: a clock that was set back is no reason to keep the old time for good. */
export function lastDocumentAtIsDue(stored: LifecycleState, next: LifecycleState): boolean {
  const [before, after] = [stored.lastDocumentAt, next.lastDocumentAt];
  if (before === null || after === null) return before !== after;
  const isNear = impactWithin(next, new Date(after), nearImpactMs);
  const everyMs = isNear ? lastDocumentAtNearImpactEveryMs : lastDocumentAtEveryMs;
  return Math.abs(Date.parse(after) - Date.parse(before)) >= everyMs;
}

function scalarsIn(state: LifecycleState): Scalars {
  const { events: _events, undecided: _undecided, approved: _approved, ...scalars } = state;
  return scalars;
}

/**
 * Writes the difference between two states, within the caller's transaction. Only rows whose `EventMemory` is another object than the one stored are written: the lifecycle replaces what it
 * changes, so a poll about one event writes one row however many are remembered.
 */
export function prepareStateWriter(db: DatabaseSync): (stored: LifecycleState, next: LifecycleState) => void {
  const putEvent = db.prepare(`INSERT INTO events (eventKey, open, json, crc) VALUES (?, ?, ?, ?)
    ON CONFLICT (eventKey) DO UPDATE SET open = excluded.open, json = excluded.json, crc = excluded.crc`);
  const dropEvent = db.prepare('DELETE FROM events WHERE eventKey = ?');
  const putDocument = db.prepare('INSERT INTO undecided (number, json, crc) VALUES (?, ?, ?)');
  const dropDocuments = db.prepare('DELETE FROM undecided WHERE number >= ?');

  const writeEvents = (stored: LifecycleState, next: LifecycleState): void => {
    if (next.events === stored.events) return;
    for (const [key, memory] of next.events) {
      if (stored.events.get(key) === memory) continue;
      const [open, json] = [memory.open ? 1 : 0, JSON.stringify(memory)];
      putEvent.run(key, open, json, checksum(key, open, json));
    }
    for (const key of stored.events.keys()) if (!next.events.has(key)) dropEvent.run(key);
  };

  const writeUndecided = (stored: LifecycleState, next: LifecycleState): void => {
    if (next.undecided === stored.undecided) return;
    const same = next.undecided.findIndex((document, n) => stored.undecided[n] !== document);
    const kept = same === -1 ? next.undecided.length : same;
    if (kept < stored.undecided.length) dropDocuments.run(kept);
    next.undecided.slice(kept).forEach((document, n) => {
      const json = JSON.stringify(document);
      putDocument.run(kept + n, json, checksum(json));
    });
  };

  return (stored, next) => {
    writeEvents(stored, next);
    writeUndecided(stored, next);
    if (changedScalars(stored, next) || next.lastDocumentAt !== stored.lastDocumentAt) {
      writeChecked(db, 'lifecycle', JSON.stringify(scalarsIn(next)));
    }
  };
}

/** CRC-32 of the values of a row. */
const checksum = (...parts: readonly (string | number)[]): number => crc32(parts.join('\n'));

/**
 * The following return null where what was read is not what was written: SQLite has no checksums, and a byte that went bad may leave
 * JSON that is JSON. Keys that are missing are those of a later version, and get their defaults.
 */

function memoryOf({ eventKey, open, ...row }: EventRow, offset: number | null): EventMemory | null {
  const found = objectIn<EventMemory>(row, eventKey, open);
  if (typeof found?.eventId !== 'string' || found.eventId.toLowerCase() !== eventKey) return null;
  return memoryWithNewKeys(found, offset);
}

function observationOf(row: StoredRow): Observation | null {
  const found = objectIn<Observation>(row);
  return found && observationWithNewKeys(found);
}

function scalarsOf(row: StoredRow): Scalars | null {
  const found = objectIn<Scalars>(row);
  const isOurs = typeof found?.streamId === 'string' && Number.isSafeInteger(found.position);
  return isOurs ? withNewKeys(found) : null;
}

export const observerOf = (row: StoredRow): StoredObserver | null => objectIn<StoredObserver>(row);

function objectIn<T extends object>({ json, crc }: StoredRow, ...key: readonly (string | number)[]): T | null {
  if (typeof crc === 'number' && crc !== checksum(...key, json)) return null;
  const value: unknown = attempt(() => JSON.parse(json));
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as T) : null;
}

import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import type { Observer } from '../lifecycle/scheduled-event.ts';
import { impactWithin } from '../lifecycle/scope.ts';
import type { EventMemory, LifecycleState, UndecidedDocument } from '../lifecycle/state.ts';
import { memoryWithNewKeys, withNewKeys } from '../lifecycle/upgrade.ts';
import { OutboxDamaged } from './errors.ts';
import { all, one } from './sql.ts';
import { isWholeLifecycle, isWholeMemory } from './whole-state.ts';

/** All of the state that is neither an event nor an undecided document. */
export type Scalars = Omit<LifecycleState, 'events' | 'undecided' | 'approved'>;

/** Who the observer was, and under which boot that was learned: a clone has another. */
export interface StoredObserver {
  readonly observer: Observer | null;
  readonly bootId: string | null;
}

/**
 * The state as it was committed last.
 * @throws OutboxDamaged where a row is missing or says nothing.
 */
export function loadState(db: DatabaseSync): LifecycleState {
  const text = readMeta(db, 'lifecycle');
  if (text === null) throw new OutboxDamaged('the row of the lifecycle is missing');
  const scalars = withNewKeys(parse<Scalars>(text));
  return {
    ...scalars,
    events: new Map(
      all<{ eventKey: string; json: string }>(db, 'SELECT eventKey, json FROM events ORDER BY eventKey').map(
        ({ eventKey, json }) => [
          eventKey,
          memoryWithNewKeys(parse<EventMemory>(json), scalars?.clockOffsetSeconds ?? null),
        ],
      ),
    ),
    undecided: all<{ json: string }>(db, 'SELECT json FROM undecided ORDER BY number').map(({ json }) =>
      parse<UndecidedDocument>(json),
    ),
    approved: new Set(
      all<{ eventKey: string }>(
        db,
        `SELECT eventKey FROM approvals WHERE outcome IS NULL OR outcome <> 'refused' ORDER BY eventKey`,
      ).map(({ eventKey }) => eventKey),
    ),
  };
}

/**
 * For who goes on from it: {@link loadState}, with nothing in it that a byte which went bad has made something else.
 * @throws OutboxDamaged also for that.
 */
export function loadWholeState(db: DatabaseSync): LifecycleState {
  const state = loadState(db);
  if (!isWholeLifecycle(state)) throw new OutboxDamaged('the row of the lifecycle is not as it was written');
  for (const [eventKey, memory] of state.events) {
    if (!isWholeMemory(memory, eventKey)) {
      throw new OutboxDamaged(`what is remembered of the event ${eventKey} is not as it was written`);
    }
  }
  return state;
}

export function loadObserver(db: DatabaseSync): StoredObserver {
  const text = readMeta(db, 'observer');
  return text === null ? { observer: null, bootId: null } : parse<StoredObserver>(text);
}

export const readMeta = (db: DatabaseSync, key: MetaKey): string | null =>
  one<{ value: string }>(db, `SELECT value FROM meta WHERE key = '${key}'`)?.value ?? null;

/** The rows of `meta`. `bridgeVersion`: the build that made the format, which is what an older one has to ask for. */
export type MetaKey =
  | 'sentinel'
  | 'bridgeVersion'
  | 'createdAt'
  | 'lifecycle'
  | 'observer'
  | 'recovery'
  | 'undecidedReplaced';

export function writeMeta(db: DatabaseSync, key: MetaKey, value: string): void {
  db.prepare(`INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`).run(
    key,
    value,
  );
}

function parse<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new OutboxDamaged(`a row of the state is not JSON: ${(error as Error).message}`);
  }
}

/** So much older than the truth `lastDocumentAt` may be on disk: at one poll a second anything else writes all day long. */
export const lastDocumentAtEveryMs = 60_000;
/** The same while an impact is near: after a power cut the outage is counted from what stands on disk. */
export const lastDocumentAtNearImpactEveryMs = 5000;
const nearImpactMs = 5 * 60_000;

/** Whether this state is worth a transaction of its own. */
export function isWorthStoring(stored: LifecycleState, next: LifecycleState): boolean {
  if (changedScalars(stored, next) || undecidedIsDue(stored, next)) return true;
  if (lastDocumentAtIsDue(stored, next)) return true;
  if (next.events === stored.events) return false;
  return (
    next.events.size !== stored.events.size ||
    [...next.events].some(([key, memory]) => stored.events.get(key) !== memory)
  );
}

function changedScalars(stored: LifecycleState, next: LifecycleState): boolean {
  const before = scalarsOf(stored);
  const after = scalarsOf(next);
  return (Object.keys(after) as (keyof Scalars)[]).some(
    (key) => key !== 'lastDocumentAt' && key !== 'lastDocument' && after[key] !== before[key],
  );
}

/** A look that repeats the one before takes the place of it at each poll: that alone is written with `lastDocumentAt`. */
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

function scalarsOf({
  events: _events,
  undecided: _undecided,
  approved: _approved,
  ...scalars
}: LifecycleState): Scalars {
  return scalars;
}

/** Writes the difference between two states, within the caller's transaction. */
export type WriteState = (stored: LifecycleState, next: LifecycleState) => void;

/**
 * Only rows whose `EventMemory` is another object than the one stored are written: the lifecycle replaces what it
 * changes, so a turn about one event writes one row however many are remembered.
 */
export function prepareStateWriter(db: DatabaseSync): WriteState {
  const putEvent = db.prepare(`INSERT INTO events (eventKey, open, json) VALUES (?, ?, ?)
    ON CONFLICT (eventKey) DO UPDATE SET open = excluded.open, json = excluded.json`);
  const dropEvent = db.prepare('DELETE FROM events WHERE eventKey = ?');
  const putDocument = db.prepare('INSERT INTO undecided (number, json) VALUES (?, ?)');
  const dropDocuments = db.prepare('DELETE FROM undecided WHERE number >= ?');
  const countReplaced = db.prepare(`INSERT INTO meta (key, value) VALUES ('undecidedReplaced', ?)
    ON CONFLICT (key) DO UPDATE SET value = value + excluded.value`);

  const writeEvents = (stored: LifecycleState, next: LifecycleState): void => {
    if (next.events === stored.events) return;
    for (const [key, memory] of next.events) {
      if (stored.events.get(key) !== memory) putEvent.run(key, memory.open ? 1 : 0, JSON.stringify(memory));
    }
    for (const key of stored.events.keys()) if (!next.events.has(key)) dropEvent.run(key);
  };

  const writeUndecided = (stored: LifecycleState, next: LifecycleState): void => {
    if (next.undecided === stored.undecided) return;
    const same = next.undecided.findIndex((document, n) => stored.undecided[n] !== document);
    const kept = same === -1 ? next.undecided.length : same;
    const replaced = next.undecided.length > 0 ? stored.undecided.length - kept : 0;
    if (replaced > 0) countReplaced.run(String(replaced));
    if (kept < stored.undecided.length) dropDocuments.run(kept);
    next.undecided.slice(kept).forEach((document, n) => {
      putDocument.run(kept + n, JSON.stringify(document));
    });
  };

  return (stored, next) => {
    writeEvents(stored, next);
    writeUndecided(stored, next);
    if (changedScalars(stored, next) || next.lastDocumentAt !== stored.lastDocumentAt) {
      writeMeta(db, 'lifecycle', JSON.stringify(scalarsOf(next)));
    }
  };
}

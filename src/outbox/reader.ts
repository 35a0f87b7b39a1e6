import { existsSync, statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Observer } from '../lifecycle/scheduled-event.ts';
import { connectReadOnly } from './connection.ts';
import { layoutOf, withCompanions } from './layout.ts';
import { loadRecovery, type Recovery } from './open.ts';
import { migrations } from './schema/migrations.ts';
import { loadSinks } from './sink-store.ts';
import { loadObserver, loadState, readMeta } from './state-store.ts';
import type { SinkCounters, SinkProgress } from './tally.ts';

/** What an outbox holds, as of one moment. */
export interface OutboxReport {
  readonly streamId: string;
  /** Of the newest record. */
  readonly position: number;
  /** At most a minute older than the truth while the service runs. */
  readonly lastDocumentAt: string | null;
  readonly observer: Observer | null;
  readonly openEvents: number;
  /** Documents that wait for the observer to be known, and those that were given up for lack of room. */
  readonly undecided: { readonly documents: number; readonly replaced: number };
  /** Those that left the configuration included. */
  readonly sinks: readonly SinkReport[];
  /** Bytes on disk, SQLite's companions included. */
  readonly bytes: number;
  readonly recovery: Recovery | null;
}

export interface SinkReport {
  readonly name: string;
  readonly configured: boolean;
  readonly counters: SinkCounters;
  readonly progress: SinkProgress;
  /** When the oldest record that it has yet to get was appended. */
  readonly oldestPendingAt: string | null;
  /** The newest hundred. */
  readonly deadLetters: readonly DeadLetter[];
}

/** A record that a sink refused for ever. */
export interface DeadLetter {
  readonly position: number;
  /** Lower-case EventId. */
  readonly eventKey: string;
  readonly recordId: string;
  readonly phase: string;
  readonly attempts: number;
  readonly settledAt: string | null;
  readonly code: string | null;
  readonly reason: string | null;
}

/**
 * For other processes: looks into the outbox of a state directory, whether or not a service is writing it. Null where
 * there is none.
 * @throws OutboxTooNew; OutboxDamaged or SQLite's own error for a file that the service would replace at its next start.
 */
export function readOutbox(directory: string): OutboxReport | null {
  const { outbox } = layoutOf(directory);
  if (!existsSync(outbox)) return null;
  const db = connectReadOnly(outbox, migrations);
  try {
    // One transaction, so that all figures are of the same moment; short, since the log cannot shrink meanwhile.
    db.exec('BEGIN');
    return report(db, outbox);
  } finally {
    db.close();
  }
}

function report(db: DatabaseSync, path: string): OutboxReport {
  const { streamId, position, lastDocumentAt, events, undecided } = loadState(db);
  const sinks = [...loadSinks(db).values()].map((sink) => ({
    ...sink,
    oldestPendingAt: oldestPendingAt(db, sink.name),
    deadLetters: deadLetters(db, sink.name),
  }));
  return {
    streamId,
    position,
    lastDocumentAt,
    observer: loadObserver(db).observer,
    openEvents: [...events.values()].filter(({ open }) => open).length,
    undecided: { documents: undecided.length, replaced: Number(readMeta(db, 'undecidedReplaced') ?? 0) },
    sinks,
    bytes: withCompanions(path).reduce((sum, name) => sum + (statSync(name, { throwIfNoEntry: false })?.size ?? 0), 0),
    recovery: loadRecovery(db),
  };
}

function oldestPendingAt(db: DatabaseSync, sink: string): string | null {
  const row = db
    .prepare(`SELECT r.appendedAt FROM deliveries AS d INDEXED BY deliveries_pending JOIN records AS r USING (position)
      WHERE d.sink = ? AND d.state = 'pending' ORDER BY d.position LIMIT 1`)
    .get(sink) as { appendedAt: string } | undefined;
  return row?.appendedAt ?? null;
}

const deadLetters = (db: DatabaseSync, sink: string): DeadLetter[] =>
  db
    .prepare(`SELECT d.position, d.eventKey, r.recordId, r.phase, d.attempts, d.settledAt, d.code, d.reason
      FROM deliveries AS d INDEXED BY deliveries_unsettled JOIN records AS r USING (position)
      WHERE d.sink = ? AND d.state IN ('pending', 'dead') AND d.state = 'dead' ORDER BY d.position DESC LIMIT 100`)
    .all(sink) as unknown as DeadLetter[];

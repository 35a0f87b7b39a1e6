import type { DatabaseSync } from 'node:sqlite';
import type { Observer } from '../lifecycle/scheduled-event.ts';
import type { EventMemory } from '../lifecycle/state.ts';
import { openIntents } from './control/approvals.ts';
import type { DeliveryRow } from './list-deliveries.ts';
import type { ApprovalIntent, Recovery } from './outbox.ts';
import { readIn } from './store/connection.ts';
import { sizeOf } from './store/files.ts';
import { layoutOf, withCompanions } from './store/layout.ts';
import { loadRecovery } from './store/open.ts';
import { loadSinks, type SinkRow } from './store/sink-store.ts';
import { all, one } from './store/sql.ts';
import { loadObserver, loadState, readMeta } from './store/state-store.ts';

/** What an outbox holds, as of one moment. */
export interface OutboxReport {
  readonly streamId: string;
  /** Of the newest record. */
  readonly position: number;
  /** Up to a minute old while the service runs. */
  readonly lastDocumentAt: string | null;
  readonly observer: Observer | null;
  /** Of the last document. */
  readonly incarnation: number | null;
  /** Azure's clock minus ours, at the last document. */
  readonly clockOffsetSeconds: number | null;
  readonly openEvents: number;
  /** The open ones, those that are not published included; oldest first. */
  readonly events: readonly OpenEvent[];
  /** Approvals that were begun and have no outcome yet. */
  readonly openApprovals: readonly ApprovalIntent[];
  /** Documents that wait for the observer to be known. */
  readonly undecided: { readonly documents: number };
  /** Those that left the configuration included. */
  readonly sinks: readonly SinkReport[];
  /** Bytes on disk, SQLite's companions included. */
  readonly bytes: number;
  /** Of the file. */
  readonly createdAt: string | null;
  readonly recovery: Recovery | null;
}

/** The memory of an event that Azure still lists. */
export interface OpenEvent {
  readonly eventId: string;
  readonly eventType: string | null;
  readonly eventSource: string | null;
  readonly phase: 'Scheduled' | 'Started';
  readonly notBefore: string | null;
  readonly firstSeenAt: string;
  readonly startedAt: string | null;
  /** This VM is among its resources. */
  readonly affectsUs: boolean;
  /** Its records are published. */
  readonly inScope: boolean;
}

export interface SinkReport extends SinkRow {
  /** When the oldest record that it has yet to get was appended. */
  readonly oldestPendingAt: string | null;
  /** The newest hundred. */
  readonly deadLetters: readonly DeadLetter[];
}

/** A record that a sink refused for ever. */
export interface DeadLetter extends Omit<DeliveryRow, 'sink' | 'state' | 'observedAt'> {
  readonly recordId: string;
}

/**
 * For other processes: reads the outbox of a state directory, whether or not a service is writing it. Null where
 * there is none.
 * @throws as {@link readIn}.
 */
export const readOutbox = (directory: string): OutboxReport | null =>
  readIn(directory, (db) => report(db, layoutOf(directory).outbox));

function report(db: DatabaseSync, path: string): OutboxReport {
  const { streamId, position, lastDocumentAt, incarnation, clockOffsetSeconds, events, undecided } = loadState(db);
  const open = [...events.values()].filter(({ open: isOpen }) => isOpen);
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
    incarnation,
    clockOffsetSeconds,
    openEvents: open.length,
    events: openEventsOf(open),
    openApprovals: openIntents(db),
    undecided: { documents: undecided.length },
    sinks,
    bytes: withCompanions(path).reduce((sum, name) => sum + sizeOf(name), 0),
    createdAt: readMeta(db, 'createdAt'),
    recovery: loadRecovery(db),
  };
}

/** Those that are open, oldest first. */
export const openEventsOf = (events: Iterable<EventMemory>): readonly OpenEvent[] =>
  [...events]
    .filter(({ open }) => open)
    .map(openEvent)
    .toSorted((a, b) => a.firstSeenAt.localeCompare(b.firstSeenAt));

function openEvent({ eventId, last, phase, firstSeenAt, startedAt, affectsUs, inScope }: EventMemory): OpenEvent {
  const { eventType, eventSource, notBefore } = last;
  return { eventId, eventType, eventSource, phase, notBefore, firstSeenAt, startedAt, affectsUs, inScope };
}

const oldestPendingAt = (db: DatabaseSync, sink: string): string | null =>
  one<{ appendedAt: string }>(
    db,
    `SELECT r.appendedAt FROM deliveries AS d INDEXED BY deliveries_pending JOIN records AS r USING (position)
      WHERE d.sink = ? AND d.state = 'pending' ORDER BY d.position LIMIT 1`,
    sink,
  )?.appendedAt ?? null;

const deadLetters = (db: DatabaseSync, sink: string): DeadLetter[] =>
  all(
    db,
    `SELECT d.position, d.eventKey, r.recordId, r.phase, d.attempts, d.settledAt, d.code, d.reason
      FROM deliveries AS d INDEXED BY deliveries_unsettled JOIN records AS r USING (position)
      WHERE d.sink = ? AND d.state IN ('pending', 'dead') AND d.state = 'dead' ORDER BY d.position DESC LIMIT 100`,
    sink,
  );

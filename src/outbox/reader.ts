import type { DatabaseSync } from 'node:sqlite';
import type { Observer } from '../lifecycle/scheduled-event.ts';
import type { EventMemory, LifecycleState } from '../lifecycle/state.ts';
import { openIntents } from './control/approvals.ts';
import type { ApprovalIntent, Recovery } from './outbox.ts';
import { readIn } from './store/connection.ts';
import { sizeOf } from './store/files.ts';
import { layoutOf, withCompanions } from './store/layout.ts';
import { loadSinks, type SinkRow } from './store/sink-store.ts';
import { one } from './store/sql.ts';
import { loadObserver, loadRecovery, loadState } from './store/state-store.ts';

/** What an outbox holds, as of one moment: read from its file, or answered by the process that has it open. */
export interface OutboxReport extends ReturnType<typeof reportedState> {
  readonly observer: Observer | null;
  /** Approvals that were begun and have no outcome yet. */
  readonly openApprovals: readonly (Pick<ApprovalIntent, 'eventId' | 'cause'> & { readonly at: Date | string })[];
  /** From the file: those that left the configuration included. With the time when the oldest record that it has yet to get was appended. */
  readonly sinks: readonly (SinkRow & { readonly oldestPendingAt: string | null })[];
  /** Bytes on disk, SQLite's companions included. */
  readonly bytes: number;
  readonly recovery: Recovery | null;
}

/**
 * For other processes: reads the outbox of a state directory, whether or not a service is writing it. Null where
 * there is none.
 * @throws as {@link readIn}.
 */
export const readOutbox = (directory: string): OutboxReport | null =>
  readIn(directory, (db) => ({
    ...reportedState(loadState(db)),
    observer: loadObserver(db)?.observer ?? null,
    openApprovals: openIntents(db),
    sinks: [...loadSinks(db).values()].map((sink) => ({ ...sink, oldestPendingAt: oldestPendingAt(db, sink.name) })),
    bytes: withCompanions(layoutOf(directory).outbox).reduce((sum, name) => sum + sizeOf(name), 0),
    recovery: loadRecovery(db),
  }));

/** `lastDocumentAt` is up to a minute old in the file while the service runs. */
export function reportedState(state: LifecycleState) {
  const { streamId, position, lastDocumentAt, incarnation, clockOffsetSeconds, events, undecided } = state;
  const open = [...events.values()].filter((memory) => memory.open).map(openEvent);
  return {
    streamId,
    position,
    lastDocumentAt,
    incarnation,
    clockOffsetSeconds,
    /** Those that are not published included; oldest first. */
    events: open.toSorted((a, b) => a.firstSeenAt.localeCompare(b.firstSeenAt)),
    /** Documents that wait for the observer to be known. */
    undecided: { documents: undecided.length },
  };
}

/** The memory of an event that Azure still lists. */
function openEvent({ eventId, last, phase, firstSeenAt, startedAt, affectsUs, inScope }: EventMemory) {
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

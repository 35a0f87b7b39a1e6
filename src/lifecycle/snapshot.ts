import { describe, type RecordContext } from './describe.ts';
import { neverListed } from './empty-memory.ts';
import { resetWindowMs } from './facts.ts';
import { type Moment, msBetween } from './moment.ts';
import type { LifecycleRecord } from './record.ts';
import type { LifecycleState } from './state.ts';

/**
 * The one record that is not about an event: which events are listed when a stream begins. After a loss of state, the events that
 * were open would otherwise never get an end record. Readers presume that events which this VM's earlier streams had open, and
 * which this record does not list, have ended.
 */

/** Begins the eventId of a snapshot, which is its partition key: it cannot be confused with an EventId of Azure, which is a GUID. */
export const snapshotIdPrefix = 'in-sight-';

/** The most ids in one record: an EventId has 128 characters at most, and a record 64 KB. */
const longestList = 300;

// assumption: imds-list-incomplete
/**
 * Due once the list of the service is complete and every entry in it is readable. Not made if more events are listed than fit into
 * a record: then none is presumed to have ended.
 */
export const isSnapshotDue = ({ snapshotDue, enabled, unreadable, events }: LifecycleState, now: Moment): boolean =>
  snapshotDue &&
  unreadable === 0 &&
  enabled !== null &&
  msBetween(enabled, now) >= resetWindowMs &&
  inSight(events).length <= longestList;

export function snapshotRecord(state: LifecycleState, context: RecordContext, position: number): LifecycleRecord {
  const { record } = describe(
    neverListed(`${snapshotIdPrefix}${state.streamId}`, context.at),
    {
      phase: 'Snapshot',
      evidence: ['new-stream'],
      changes: [],
      incarnation: state.incarnation ?? 0,
      startedSeconds: null,
    },
    context,
    position,
  );
  return { ...record, firstSeenAt: null, eventsInSight: inSight(state.events) };
}

const inSight = (events: LifecycleState['events']): string[] =>
  [...events.values()]
    .filter(({ open }) => open)
    .map(({ eventId }) => eventId)
    .sort();

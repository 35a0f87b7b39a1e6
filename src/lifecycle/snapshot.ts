import { describe, type RecordContext } from './describe.ts';
import { neverListed } from './empty-memory.ts';
import { resetWindowMs } from './facts.ts';
import { type Moment, msBetween } from './moment.ts';
import type { LifecycleRecord } from './record.ts';
import type { LifecycleState } from './state.ts';

/**
 * The one record that is about no event: which events are in sight when a stream begins. State that was lost would else
 * leave what it held open without an end for ever: nobody is left who could tell it. Whoever reads presumes that what this
 * VM's earlier streams held open, and this record does not list, has ended.
 */

/** Begins the eventId of a snapshot, which is its partition key: nobody takes it for one of Azure's, which are GUIDs. */
export const snapshotIdPrefix = 'in-sight-';

/** At most so many ids are listed: an EventId has 128 characters at most, and a record 64 KB. */
const longestList = 300;

/**
 * Once the list of the service is complete, and every entry in it can be read. Where more events are in sight than a
 * record holds, none is presumed to have ended.
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

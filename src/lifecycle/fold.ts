import type { LifecycleRecord } from './record.ts';
import { stepOf } from './record-id.ts';

/**
 * Folding: from the records of any number of observers to what happened. The KQL functions follow the same rule.
 *
 * - Same `recordId` and `streamId`: the same record resent. The earliest `observedAt` is kept.
 * - Same `recordId`, other stream: a VM that lost its state counts the steps of an event from the beginning. The steps are merged by
 *   `transitionId`, but each end counts by itself: a return may have withdrawn the first one and not the second.
 * - Same `transitionId`, other observer: another VM observed the same step.
 * - Questions about VMs keep every observer; questions about events keep the earliest observation of each transition.
 * - Times are compared by Azure's clock: `observedAt` put right by `clockOffsetSeconds`.
 * - A `Snapshot` is no event: what earlier streams of its VM held open, and it does not list, is presumed to have ended.
 * - Ends are chosen apart, since observers may know differently well how an event ended: see {@link foldEvents}.
 */
export type Foldable = Pick<
  LifecycleRecord,
  'recordId' | 'transitionId' | 'eventId' | 'vmId' | 'streamId' | 'sequence' | 'phase' | 'evidence' | 'observedAt'
> &
  Partial<Pick<LifecycleRecord, 'clockOffsetSeconds' | 'eventsInSight'>>;

/** One event, folded over all its observers. */
export interface FoldedEvent<R extends Foldable> {
  /** Lower case. */
  readonly eventId: string;
  /** One record per transition, ends left out, by the time of observation. */
  readonly steps: readonly R[];
  /** How it ended, by the best evidence that anyone has; null while it has not, or after it came back. */
  readonly end: R | null;
  /** If no end was published: the `Snapshot` of a VM that had the event open, lost its state, and does not list it any more. */
  readonly presumedEnd: R | null;
}

const isEnd = ({ phase }: Foldable): boolean => stepOf(phase) === 'end';
/** By Azure's time: the clocks of two VMs may be minutes apart. An offset of less than two seconds is none: `Date` has whole ones. */
function time({ observedAt, clockOffsetSeconds }: Foldable): number {
  const offset = clockOffsetSeconds ?? 0;
  return Date.parse(observedAt) + (Math.abs(offset) < 2 ? 0 : 1000 * offset);
}
const byTime = (a: Foldable, b: Foldable): number => time(a) - time(b) || (a.recordId < b.recordId ? -1 : 1);

/** Keeps, of all records with one key, the earliest. The answer is ordered by `observedAt`. */
function earliestBy<R extends Foldable>(records: Iterable<R>, key: (record: R) => string): R[] {
  const kept = new Map<string, R>();
  for (const record of [...records].sort(byTime)) if (!kept.has(key(record))) kept.set(key(record), record);
  return [...kept.values()];
}

function groupBy<R>(records: Iterable<R>, key: (record: R) => string): Map<string, R[]> {
  const groups = new Map<string, R[]>();
  for (const record of records) {
    const group = groups.get(key(record));
    if (group) group.push(record);
    else groups.set(key(record), [record]);
  }
  return groups;
}

/** Drops copies: what a retry, a replay or a second reader delivered twice. Ordered by `observedAt`. */
export const foldCopies = <R extends Foldable>(records: Iterable<R>): readonly R[] =>
  earliestBy(records, ({ recordId, streamId }) => `${recordId} ${streamId}`);

/** How much is known about an end; the lowest wins. */
function rankOfEnd({ phase, evidence }: Foldable): number {
  if (evidence.includes('said-by-azure')) return 0;
  if (phase === 'Completed') return evidence.includes('left-after-started') ? 1 : 3;
  return phase === 'Canceled' ? 2 : 4;
}

const bestEnd = <R extends Foldable>(ends: readonly R[]): R | null =>
  [...ends].sort((a, b) => rankOfEnd(a) - rankOfEnd(b) || byTime(a, b))[0] ?? null;

/**
 * The ends that no return withdraws. A `reappeared` record proves wrong every end of its event with an earlier
 * `observedAt`, from any VM, and those before it in its own VM's sequence regardless of that VM's clock.
 */
function standingEnds<R extends Foldable>(records: readonly R[]): readonly R[] {
  const returns = records.filter(({ evidence }) => evidence.includes('reappeared'));
  const isWithdrawn = (end: R): boolean =>
    returns.some((record) => time(end) < time(record) || (isOneStream(end, record) && end.sequence < record.sequence));
  return records.filter((record) => isEnd(record) && !isWithdrawn(record));
}

const isOneStream = (a: Foldable, b: Foldable): boolean => isSame(a.vmId, b.vmId) && a.streamId === b.streamId;

/**
 * One answer per event, from all observers. A return withdraws every end observed before it, by any VM. Of the ends left the
 * event has one: said by Azure, then Completed after Started, then Canceled (nothing was missed in between), then any other
 * Completed, then Ended; among equals the earliest.
 */
export function foldEvents<R extends Foldable>(records: Iterable<R>): readonly FoldedEvent<R>[] {
  const copies = foldCopies(records);
  const snapshots = copies.filter(isSnapshot);
  const byEvent = groupBy(
    copies.filter((record) => !isSnapshot(record)),
    ({ eventId }) => eventId.toLowerCase(),
  );
  return [...byEvent].map(([eventId, ofEvent]) => {
    const end = bestEnd(standingEnds(ofEvent));
    const steps = earliestBy(
      ofEvent.filter((record) => !isEnd(record)),
      ({ transitionId }) => transitionId,
    );
    return { eventId, steps, end, presumedEnd: end ? null : presumedEnd(eventId, ofEvent, snapshots) };
  });
}

const isSnapshot = ({ phase }: Foldable): boolean => phase === 'Snapshot';

/** The first snapshot, after all records of the event, of a VM whose earlier stream had records of it. */
function presumedEnd<R extends Foldable>(eventId: string, ofEvent: readonly R[], snapshots: readonly R[]): R | null {
  const lastAt = Math.max(...ofEvent.map(time));
  const lostIt = ({ vmId, streamId }: R): boolean =>
    ofEvent.some((record) => isSame(record.vmId, vmId) && record.streamId !== streamId);
  const lacksIt = ({ eventsInSight }: R): boolean => eventsInSight?.every((id) => !isSame(id, eventId)) ?? false;
  return snapshots.find((snapshot) => time(snapshot) > lastAt && lostIt(snapshot) && lacksIt(snapshot)) ?? null;
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** One answer per event and VM: every observer's own records, whose returns withdraw its own earlier ends. */
export function foldObservers<R extends Foldable>(
  records: Iterable<R>,
): readonly (FoldedEvent<R> & { readonly vmId: string })[] {
  const byVm = groupBy(foldCopies(records), ({ vmId }) => vmId.toLowerCase());
  return [...byVm].flatMap(([vmId, ofVm]) => foldEvents(ofVm).map((event) => ({ vmId, ...event })));
}

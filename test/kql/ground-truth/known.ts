import { measured, type Sighting, sightingsOf, watchOf } from './sightings.ts';
import {
  type AzureEvent,
  day,
  type Fleet,
  hour,
  isCanceled,
  type Ms,
  minute,
  type Span,
  second,
  type Vm,
} from './truth.ts';

/** An event and a VM that it names, as far as any bridge could know of it: no query can know what no bridge observed. */
export interface Known {
  readonly event: AzureEvent;
  readonly vm: Vm;
  /** When its own bridge first observed the event; null: another VM reported it. */
  readonly firstSeenAt: Ms | null;
  /** When it began, if a bridge observed it, or the VM measured it afterwards. */
  readonly beganAt: Ms | null;
  readonly isStartSeen: boolean;
  /** A bridge saw it begin or found it begun. */
  readonly isStartReported: boolean;
  readonly isOver: boolean;
  /** What the VM measured, in seconds. */
  readonly outageSeconds: number | null;
  readonly pausedSeconds: number | null;
  /** None of the bridges that observed it reported for a day, or one that had lost its state no longer observed it. */
  readonly isPresumedEnded: boolean;
}

/** Everything that is known in a fleet, an entry for each event and VM. */
export function reportedIn(fleet: Fleet): readonly Known[] {
  const watches = new Map(fleet.vms.map((vm) => [vm, watchOf(fleet, vm)]));
  return fleet.events.flatMap((event) => {
    const seen = fleet.vms.flatMap((vm) => {
      const watch = watches.get(vm) ?? watchOf(fleet, vm);
      const sightings = sightingsOf(event, vm, watch, fleet.now);
      return sightings.length === 0 ? [] : [{ vm, watch, sightings }];
    });
    const all = seen.flatMap(({ sightings }) => sightings);
    const lastReportAt = Math.max(...seen.map(({ watch }) => watch.previous(fleet.now)));
    const named = fleet.vms.filter(({ group, name }) => group === event.group && event.vms.includes(name));
    return (seen.length === 0 ? [] : named).map((vm): Known => {
      const own = seen.find((each) => each.vm === vm);
      const { outageMs, pauseMs } = own
        ? measured(event, vm, own.watch, Math.max(...own.sightings.map(({ at }) => at)))
        : { outageMs: null, pauseMs: null };
      const isStartSeen = all.some(isStart);
      const isOver = all.some(({ phase }) => phase === 'Gone');
      return {
        event,
        vm,
        firstSeenAt: own?.sightings[0]?.at ?? null,
        beganAt: isStartSeen || outageMs !== null ? event.startedAt : null,
        isStartSeen,
        isStartReported: all.some(({ phase }) => phase === 'Started'),
        isOver,
        outageSeconds: outageMs === null ? null : outageMs / second,
        pausedSeconds: pauseMs === null || pauseMs === 0 ? null : pauseMs / second,
        isPresumedEnded:
          !isOver && (lastReportAt < fleet.now - day || isForgotten(event, vm, fleet) || isTaken(event, fleet)),
      };
    });
  });
}

const isStart = ({ phase, isAfterGap }: Sighting): boolean => phase === 'Started' && !isAfterGap;

/** It ended before the bridge, without its state, polled again. */
const isForgotten = ({ removedAt }: AzureEvent, { stateLostAt }: Vm, { now }: Fleet): boolean =>
  stateLostAt !== null && removedAt < stateLostAt && stateLostAt < now;

/** No bridge reports that a VM is deleted: ten minutes after it was due it counts as deleted. */
const isTaken = ({ type, notBefore }: AzureEvent, { now }: Fleet): boolean =>
  type === 'Preempt' && (notBefore ?? Infinity) < now - 10 * minute;

export const isOpen = ({ isOver, isPresumedEnded }: Known): boolean => !isOver && !isPresumedEnded;

/** From its beginning, or when it was due, to its end: an hour if no bridge observed the end and it is no longer listed. */
export function lastingOf(known: Known, now: Ms): Span | null {
  const { event, beganAt, isOver } = known;
  const from = beganAt ?? event.notBefore;
  if (isCanceled(event) || from === null || from > now) return null;
  return { from, to: isOver ? event.removedAt : isOpen(known) ? now : from + hour };
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

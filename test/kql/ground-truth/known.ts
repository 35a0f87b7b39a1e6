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

/** An event and a VM that it names, as far as any bridge could tell of it: what nobody saw no query can know. */
export interface Known {
  readonly event: AzureEvent;
  readonly vm: Vm;
  /** Where its own bridge saw the event first; null: another VM told. */
  readonly firstSeenAt: Ms | null;
  /** When it began, where a bridge looked on, or the VM measured it afterwards. */
  readonly beganAt: Ms | null;
  readonly isStartSeen: boolean;
  /** A bridge saw it begin or found it begun. */
  readonly isStartReported: boolean;
  readonly isOver: boolean;
  /** What the VM measured, in seconds. */
  readonly awaySeconds: number | null;
  readonly pausedSeconds: number | null;
  /** None of the bridges that saw it was heard of for a day, or one that had lost its state saw it no more. */
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
        awaySeconds: outageMs === null ? null : outageMs / second,
        pausedSeconds: pauseMs === null || pauseMs === 0 ? null : pauseMs / second,
        isPresumedEnded:
          !isOver && (lastReportAt < fleet.now - day || isForgotten(event, vm, fleet) || isTaken(event, fleet)),
      };
    });
  });
}

const isStart = ({ phase, isAfterGap }: Sighting): boolean => phase === 'Started' && !isAfterGap;

/** It was over before the bridge, without what it remembered, looked again. */
const isForgotten = ({ removedAt }: AzureEvent, { stateLostAt }: Vm, { now }: Fleet): boolean =>
  stateLostAt !== null && removedAt < stateLostAt && stateLostAt < now;

/** Nobody tells that a VM is gone: ten minutes after it was due it is. */
const isTaken = ({ type, notBefore }: AzureEvent, { now }: Fleet): boolean =>
  type === 'Preempt' && (notBefore ?? Infinity) < now - 10 * minute;

export const isOpen = ({ isOver, isPresumedEnded }: Known): boolean => !isOver && !isPresumedEnded;

/** From its beginning, or when it was due, to its end: an hour where nobody saw the end, and it is not listed still. */
export function lastingOf(known: Known, now: Ms): Span | null {
  const { event, beganAt, isOver } = known;
  const from = beganAt ?? event.notBefore;
  if (isCanceled(event) || from === null || from > now) return null;
  return { from, to: isOver ? event.removedAt : isOpen(known) ? now : from + hour };
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

import {
  azureTime,
  type EventState,
  type EventView,
  isEnd,
  isSilent,
  type LifecycleRecord,
  type VmId,
} from '../consumer/index.ts';

/** A VM and where it runs, as its latest record says. Null: not known, for instance because it has no bridge. */
export interface VmFacts {
  readonly key: string;
  readonly name: string;
  readonly subscriptionId: string | null;
  readonly resourceGroup: string | null;
  /** `<subscription>/<resource group>/<scale set>`, lower case; null: in no scale set. */
  readonly setKey: string | null;
  readonly set: string | null;
  readonly location: string | null;
  /** Numbered by each subscription in its own order. */
  readonly zone: string | null;
  /** The same for all subscriptions. */
  readonly physicalZone: string | null;
  readonly faultDomain: string | null;
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * One event and one VM that it named: the row that `VmEventTimeline` of the tables has. Times are milliseconds since 1970 by Azure's
 * clock; null is unknown, or has not happened.
 */
export interface Lane {
  readonly event: EventState;
  readonly vm: VmFacts;
  /** The VM reported the event itself. Otherwise others named it, and nothing was measured. */
  readonly isOwn: boolean;
  /** When it was first seen. */
  readonly announcedAt: number | null;
  readonly notBefore: number | null;
  readonly startedAt: number | null;
  /** False: it started while no bridge polled, so `startedAt` is the latest possible time. */
  readonly isStartSeen: boolean;
  readonly endedAt: number | null;
  /** `Completed`, `Canceled`, `Ended` or `no longer affected`; null: open, or the end is only presumed. */
  readonly outcome: string | null;
  /** A VM lost its state and no longer lists the event: no end was reported, and none will come. */
  readonly isPresumed: boolean;
  /** From then on an open Preempt or Terminate is presumed to be over. */
  readonly presumedOverAt: number | null;
  /** The outage that the VM measured. If it saw the event start, the outage is assumed to begin with the event. */
  readonly down: { readonly from: number; readonly until: number } | null;
  /** All pauses together that the VM measured during the event. Records have their length, not their moment. */
  readonly pausedMs: number | null;
  /** What the VM measured may belong to another event. */
  readonly isAmbiguous: boolean;
}

/** A VM, by a record that it wrote itself. */
export function factsOf(vm: VmId, record: LifecycleRecord | null): VmFacts {
  const { subscriptionId, resourceGroup, vmScaleSetName: set } = vm;
  return {
    key: vm.key,
    name: vm.name,
    subscriptionId,
    resourceGroup,
    setKey: set === null ? null : `${subscriptionId ?? ''}/${resourceGroup ?? ''}/${set}`.toLowerCase(),
    set,
    location: record?.location ?? null,
    zone: record?.zone || null,
    physicalZone: record?.physicalZone || null,
    faultDomain: record?.faultDomain || null,
    tags: record?.tags ?? {},
  };
}

/** A lane for each VM that the event named, or that reported it as its own: of an old event the hub may hold only the end, which has no list. */
export function lanesOf(event: EventState): readonly Lane[] {
  const own = new Map(event.views.map((view) => [view.vm.key, view]));
  const affected = new Set(event.affected.map(({ key }) => key));
  const named = new Set(event.named.map(({ key }) => key));
  const unnamed = event.views.filter(({ vm, isAffected }) => isAffected && !named.has(vm.key)).map(({ vm }) => vm);
  return [...event.named, ...unnamed].map((vm) => laneOf(event, vm, own.get(vm.key), affected.has(vm.key)));
}

function laneOf(event: EventState, vm: VmId, own: EventView | undefined, isAffected: boolean): Lane {
  const { startedAt, isStartSeen } = startOf(event, own);
  const end = endOf(event, own, isAffected);
  const isMissed = startedAt !== null && end.endedAt !== null && startedAt > end.endedAt;
  return {
    event,
    vm: factsOf(vm, own?.last ?? null),
    isOwn: own !== undefined,
    announcedAt: announcedAt(event, vm, own),
    notBefore: parsed((own?.last ?? event.latest)?.notBefore),
    startedAt: isMissed ? null : startedAt,
    isStartSeen,
    ...end,
    presumedOverAt: isAffected ? (event.presumedOverAt?.getTime() ?? null) : null,
    down: own === undefined ? null : outageOf(own.last),
    pausedMs: own?.last.observedPauseTotalMs || null,
    isAmbiguous: own?.last.evidence.includes('impact-ambiguous') ?? false,
  };
}

const parsed = (text: string | null | undefined): number | null => (text ? Date.parse(text) : null);

/** A time by the clock of the VM that wrote the record, by Azure's. */
function corrected(text: string | null, record: LifecycleRecord): number | null {
  return text === null ? null : Date.parse(text) + azureTime(record) - Date.parse(record.observedAt);
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
const earliest = (...times: readonly (number | null | undefined)[]): number | null => {
  const known = times.filter((time) => typeof time === 'number');
  return known.length === 0 ? null : Math.min(...known);
};

/** A bridge that lost its state reports the event again as new: the first report counts. */
function announcedAt({ steps, views }: EventState, vm: VmId, own: EventView | undefined): number | null {
  if (own !== undefined) {
    const first = steps.find(({ vmId, observerAffected }) => observerAffected && isSame(vmId, own.vmId));
    return earliest(corrected(own.last.firstSeenAt, own.last), first && azureTime(first));
  }
  const naming = steps.find(({ affectedResources }) => affectedResources.some((name) => isSame(name, vm.name)));
  if (naming !== undefined) return earliest(corrected(naming.firstSeenAt, naming), azureTime(naming));
  return earliest(...views.map(({ last }) => corrected(last.firstSeenAt, last)));
}

/** Its own report of the start; another VM's where it has none, or saw it only after its restart. */
function startOf(event: EventState, own: EventView | undefined): Pick<Lane, 'startedAt' | 'isStartSeen'> {
  const seen = event.hasStarted ? event.steps.findLast(({ phase }) => phase === 'Started') : undefined;
  const seenAt = seen === undefined ? null : (corrected(seen.startedAt, seen) ?? azureTime(seen));
  const ownAt = own === undefined ? null : corrected(own.last.startedAt, own.last);
  const isOwnSeen = own?.last.startSeen !== false;
  const isOther = seenAt !== null && (ownAt === null || (!isOwnSeen && seenAt < ownAt));
  return isOther
    ? { startedAt: seenAt, isStartSeen: seen?.startSeen !== false }
    : { startedAt: ownAt, isStartSeen: isOwnSeen };
}

type LaneEnd = Pick<Lane, 'endedAt' | 'outcome' | 'isPresumed'>;

function endOf(event: EventState, own: EventView | undefined, isAffected: boolean): LaneEnd {
  const reported = ({ phase, ...record }: LifecycleRecord): LaneEnd => ({
    endedAt: azureTime(record),
    outcome: phase,
    isPresumed: false,
  });
  if (isAffected) return { endedAt: null, outcome: null, isPresumed: false };
  // The event may continue for others, but it no longer affects this VM.
  const hasLeft = event.isOpen || own?.isAffected === false;
  if (hasLeft) {
    const left = event.steps.find(
      ({ vmId, evidence }) => own && isSame(vmId, own.vmId) && evidence.includes('left-resources'),
    );
    const last = left ?? own?.last ?? event.latest;
    return { endedAt: last && azureTime(last), outcome: 'no longer affected', isPresumed: false };
  }
  if (own !== undefined && isEnd(own.last) && own.last.phase !== 'Ended' && !own.isEndWithdrawn)
    return reported(own.last);
  if (event.end !== null) return reported(event.end);
  if (event.presumedEnd !== null) return { endedAt: azureTime(event.presumedEnd), outcome: null, isPresumed: true };
  return { endedAt: null, outcome: null, isPresumed: false };
}

/** If the VM did not see the start itself, its first record after the restart is the end of the outage. */
function outageOf(last: LifecycleRecord): Lane['down'] {
  const { observedOutageSeconds: seconds, startedAt, startSeen } = last;
  if (!seconds) return null;
  const started = corrected(startedAt, last);
  const isFromStart = started !== null && startSeen !== false;
  const from = isFromStart ? started : (started ?? azureTime(last)) - 1000 * seconds;
  return { from, until: from + 1000 * seconds };
}

/** An end that is presumed at this time counts. */
export function isOpenAt({ endedAt, presumedOverAt }: Lane, now: number): boolean {
  return endedAt === null && (presumedOverAt === null || presumedOverAt > now);
}

/** When it was over, as reported or presumed; null: it is open. */
export function overAt({ endedAt, presumedOverAt }: Lane, now: number): number | null {
  if (endedAt !== null) return endedAt;
  return presumedOverAt !== null && presumedOverAt <= now ? presumedOverAt : null;
}

/** When an open event was reported last, if nothing was for a day since it was due: its VM may be gone. Else null. */
export function silentSince(lane: Lane, now: number): number | null {
  return overAt(lane, now) === null && isSilent(lane.event, new Date(now)) ? lane.event.lastAt.getTime() : null;
}

/** When Azure was at work on the VM, or still is, as far as a VM reported. */
export function workOf(lane: Lane, now: number): { readonly from: number; readonly until: number } | null {
  const from = earliest(lane.startedAt, lane.down?.from);
  if (from === null) return null;
  return { from, until: Math.max(overAt(lane, now) ?? silentSince(lane, now) ?? now, from) };
}

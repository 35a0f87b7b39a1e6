import { type NumberRange, NumberRanges } from './number-ranges.ts';
import { azureTime, isEnd, type LifecycleRecord } from './record.ts';

/** A VM by what is the same in all records that name it. Names alone are not: two resource groups may have a `web_0` each. */
export interface VmId {
  /** `<subscription>/<resource group>/<name>`, lower case. */
  readonly key: string;
  /** As `affectedResources` spells it. */
  readonly name: string;
  readonly subscriptionId: string | null;
  readonly resourceGroup: string | null;
  readonly vmScaleSetName: string | null;
}

/** What one VM reported of an event. */
export interface EventView {
  readonly vm: VmId;
  /** Lower case. */
  readonly vmId: string;
  /** By its last record, this VM is affected; otherwise it is a witness, or the event no longer names it. */
  readonly isAffected: boolean;
  /** It has reported no end, and has not lost the state in which the event was. */
  readonly isOpen: boolean;
  /** The last one: within a stream by its own count, or by time where it counted twice. */
  readonly last: LifecycleRecord;
  /** `last` is an end, but a VM saw the event listed again since: it says nothing of how the event ended. */
  readonly isEndWithdrawn: boolean;
  /** Numbers (`sequence`) that never arrived between two that did, of its latest stream. */
  readonly missing: readonly NumberRange[];
}

/** The outcome of one event, by what all VMs reported. */
export interface EventState {
  /** Lower case. */
  readonly eventId: string;
  /** No VM reported an end that was not revoked, and none is presumed. */
  readonly isOpen: boolean;
  /** Azure has begun, since the event was last listed again. */
  readonly hasStarted: boolean;
  /** The end that is known best: reported by Azure, then Completed after Started, Canceled, any other Completed, Ended. */
  readonly end: LifecycleRecord | null;
  /** The `Snapshot` of a VM that had reported the event, lost its state and no longer lists it: no end will come. */
  readonly presumedEnd: LifecycleRecord | null;
  /**
   * Of an open Preempt or Terminate: from this time on, presume that it has ended. The VM is deleted and reports no end; ten minutes are
   * allowed for it. Null for other types, which leave the VM there to report.
   */
  readonly presumedOverAt: Date | null;
  /** As it was listed last: type, notBefore, description. Null where only an end is known. */
  readonly latest: LifecycleRecord | null;
  /** The VMs that it affects now, by the last complete list and by their own reports. Empty once it has ended. */
  readonly affected: readonly VmId[];
  /** The same, also once it has ended: those that it affected last. */
  readonly affectedLast: readonly VmId[];
  /** How many it affects, or affected last: more than `affectedLast` where the list that Azure reported was cut. */
  readonly affectedCount: number;
  /** The VMs that it named at any time. */
  readonly named: readonly VmId[];
  /** The earliest report of each step that is no end, by Azure's time. */
  readonly steps: readonly LifecycleRecord[];
  readonly views: readonly EventView[];
  /** When a VM last reported it, by Azure's clock. */
  readonly lastAt: Date;
}

const dayMs = 24 * 3_600_000;

/** Nothing was reported of an open event for a day, and it was due more than a day ago: its VMs may be gone. */
export function isSilent({ isOpen, latest, lastAt }: EventState, now: Date): boolean {
  const dueAt = latest?.notBefore ? Date.parse(latest.notBefore) : Number.NEGATIVE_INFINITY;
  return isOpen && now.getTime() - Math.max(lastAt.getTime(), dueAt) > dayMs;
}

/** Of which VM a record names another, or itself: events never span two resource groups. */
export function vmOf(record: LifecycleRecord, name: string): VmId {
  const { subscriptionId, resourceGroup, vmScaleSetName } = record;
  const key = `${subscriptionId ?? ''}/${resourceGroup ?? ''}/${name}`.toLowerCase();
  return { key, name, subscriptionId, resourceGroup, vmScaleSetName };
}

/**
 * The fold rule: the answer depends on which records there are, never on the order in which they came.
 *
 * @param records of one event, without copies, without tests and without phases that are not known.
 * @param snapshotsOf the `Snapshot` records of a VM, by its lower-case id.
 */
export function foldEvent(
  eventId: string,
  records: readonly LifecycleRecord[],
  snapshotsOf: (vmId: string) => readonly LifecycleRecord[],
): EventState {
  const sorted = records
    .map((record) => ({ record, at: azureTime(record) }))
    .sort((a, b) => a.at - b.at || byTime(a.record, b.record))
    .map(({ record }) => record);
  const returns = sorted.filter(({ evidence }) => evidence.includes('reappeared'));
  const end = bestEnd(sorted.filter((record) => isEnd(record) && !returns.some((one) => withdraws(one, record))));
  const presumedEnd = end ? null : presumedEndOf(eventId, sorted, snapshotsOf);
  const isOpen = end === null && presumedEnd === null;
  const listings = sorted.filter(isListing);
  const vms = namedVms(listings);
  const affectedLast = vms.filter(({ isLeft }) => !isLeft).map(({ vm }) => vm);
  const since = returns.at(-1);
  const countedTwice = streamsCountedTwice(sorted);
  const latest = lastOfEachStream(listings, countedTwice).toSorted(byTime).at(-1) ?? null;
  return {
    eventId,
    isOpen,
    hasStarted: sorted.some((record) => hasStarted(record) && (!since || azureTime(record) >= azureTime(since))),
    end,
    presumedEnd,
    presumedOverAt: isOpen && latest !== null ? presumedOverAt(latest) : null,
    latest,
    affected: isOpen ? affectedLast : [],
    affectedLast,
    affectedCount: Math.max(affectedLast.length, latest !== null && isCut(latest) ? latest.affectedResourceCount : 0),
    named: vms.map(({ vm }) => vm),
    steps: earliestOfEach(sorted.filter((record) => !isEnd(record))),
    views: viewsOf(eventId, sorted, { returns, countedTwice, snapshotsOf }),
    lastAt: new Date(Math.max(...sorted.map(azureTime))),
  };
}

/** Azure lists the event, and the record has its list of VMs. */
const isListing = ({ phase }: LifecycleRecord): boolean =>
  phase === 'Scheduled' || phase === 'Updated' || phase === 'Started';

const isCut = ({ affectedResources, affectedResourceCount }: LifecycleRecord): boolean =>
  affectedResourceCount !== affectedResources.length;

const hasStarted = (record: LifecycleRecord): boolean => record.phase === 'Started' || record.startedAt !== null;

const byTime = (a: LifecycleRecord, b: LifecycleRecord): number =>
  azureTime(a) - azureTime(b) || (a.recordId < b.recordId ? -1 : 1);

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
const streamOf = ({ vmId, streamId }: LifecycleRecord): string => `${vmId.toLowerCase()} ${streamId}`;

/** An event that is listed again had not ended, even if a VM said so before. A VM's sequence outranks its clock. */
const withdraws = (back: LifecycleRecord, end: LifecycleRecord): boolean =>
  azureTime(end) < azureTime(back) || (streamOf(end) === streamOf(back) && end.sequence < back.sequence);

function rankOfEnd({ phase, evidence }: LifecycleRecord): number {
  if (evidence.includes('said-by-azure')) return 0;
  if (phase === 'Completed') return evidence.includes('left-after-started') ? 1 : 3;
  return phase === 'Canceled' ? 2 : 4;
}

const bestEnd = (ends: readonly LifecycleRecord[]): LifecycleRecord | null =>
  [...ends].sort((a, b) => rankOfEnd(a) - rankOfEnd(b) || byTime(a, b))[0] ?? null;

const lacks = ({ eventsInSight }: LifecycleRecord, eventId: string): boolean =>
  eventsInSight?.every((id) => !isSame(id, eventId)) ?? false;

/** The first snapshot, later than every record of the event, of a VM that reported it in another stream and no longer lists it. */
function presumedEndOf(
  eventId: string,
  sorted: readonly LifecycleRecord[],
  snapshotsOf: (vmId: string) => readonly LifecycleRecord[],
): LifecycleRecord | null {
  const last = sorted.at(-1);
  if (last === undefined) return null;
  const found = [...new Set(sorted.map(({ vmId }) => vmId.toLowerCase()))].flatMap((vmId) =>
    snapshotsOf(vmId).filter(
      (snapshot) =>
        azureTime(snapshot) > azureTime(last) &&
        lacks(snapshot, eventId) &&
        sorted.some((record) => isSame(record.vmId, vmId) && record.streamId !== snapshot.streamId),
    ),
  );
  return found.sort(byTime)[0] ?? null;
}

function presumedOverAt(latest: LifecycleRecord): Date | null {
  const { eventType, notBefore, startedAt, firstSeenAt, observedAt } = latest;
  if (eventType !== 'Preempt' && eventType !== 'Terminate') return null;
  // `notBefore` is Azure's; the others are by the VM's clock.
  const correction = azureTime(latest) - Date.parse(observedAt);
  const ownMs = Date.parse(startedAt ?? firstSeenAt ?? observedAt) + correction;
  return new Date((notBefore === null ? ownMs : Date.parse(notBefore)) + 10 * 60_000);
}

/** The VMs that any list named, or that named themselves: a list may be cut. */
function namedVms(listings: readonly LifecycleRecord[]): readonly { readonly vm: VmId; readonly isLeft: boolean }[] {
  const vms = new Map<string, { vm: VmId; namedAt: number }>();
  const denied = new Map<string, number>();
  const lists = new Map<string, LifecycleRecord>();
  let completeAt = Number.NEGATIVE_INFINITY;
  const name = (vm: VmId, at: number): void => {
    const known = vms.get(vm.key);
    vms.set(vm.key, { vm: known?.vm ?? vm, namedAt: Math.max(at, known?.namedAt ?? at) });
  };
  for (const record of listings) {
    const { affectedResources, observerAffected, vmName } = record;
    const at = azureTime(record);
    if (observerAffected) name(vmOf(record, vmName), at);
    // VMs of one group report the same list: its last report counts.
    lists.set(JSON.stringify([vmOf(record, ''), affectedResources]), record);
    if (!observerAffected) denied.set(vmOf(record, vmName).key, at);
    if (!isCut(record)) completeAt = at;
  }
  for (const record of lists.values())
    for (const one of record.affectedResources) name(vmOf(record, one), azureTime(record));
  return [...vms.values()].map(({ vm, namedAt }) => ({
    vm,
    isLeft: Math.max(completeAt, denied.get(vm.key) ?? Number.NEGATIVE_INFINITY) > namedAt,
  }));
}

/** @param sorted by time. */
function earliestOfEach(sorted: readonly LifecycleRecord[]): readonly LifecycleRecord[] {
  const steps = new Map<string, LifecycleRecord>();
  for (const record of sorted) if (!steps.has(record.transitionId)) steps.set(record.transitionId, record);
  return [...steps.values()];
}

/**
 * The streams in which two records have one number: the VM sent records that it could not write, restarted, and counted on from what it
 * had written.
 */
function streamsCountedTwice(records: readonly LifecycleRecord[]): ReadonlySet<string> {
  const ofNumber = Map.groupBy(records, (record) => `${streamOf(record)} ${record.sequence}`);
  return new Set([...ofNumber.values()].flatMap(([one, other]) => (one && other ? [streamOf(one)] : [])));
}

/**
 * The clock of a VM may have been set back: within a stream its own count decides which record is the last, unless it counted twice.
 * @param records sorted by time.
 */
function lastOfEachStream(
  records: readonly LifecycleRecord[],
  countedTwice: ReadonlySet<string>,
): readonly LifecycleRecord[] {
  const last = new Map<string, LifecycleRecord>();
  for (const record of records) {
    const stream = streamOf(record);
    if (countedTwice.has(stream) || record.sequence > (last.get(stream)?.sequence ?? 0)) last.set(stream, record);
  }
  return [...last.values()];
}

/** What other records say of an event that one VM sees. */
interface OtherRecords {
  /** The records that say that the event is listed again. */
  readonly returns: readonly LifecycleRecord[];
  readonly countedTwice: ReadonlySet<string>;
  readonly snapshotsOf: (vmId: string) => readonly LifecycleRecord[];
}

function viewsOf(
  eventId: string,
  sorted: readonly LifecycleRecord[],
  { returns, countedTwice, snapshotsOf }: OtherRecords,
): readonly EventView[] {
  const ofVm = new Map<string, LifecycleRecord>();
  const numbersOf = new Map<string, NumberRanges>();
  for (const record of sorted) {
    const numbers = numbersOf.get(streamOf(record)) ?? new NumberRanges();
    numbers.add(record.sequence);
    numbersOf.set(streamOf(record), numbers);
  }
  const decided = sorted.filter(({ phase }) => phase !== 'Approved');
  for (const record of lastOfEachStream(decided, countedTwice).toSorted(byTime))
    ofVm.set(record.vmId.toLowerCase(), record);
  return [...ofVm].map(([vmId, last]) => {
    const isForgotten = snapshotsOf(vmId).some(
      (snapshot) =>
        snapshot.streamId !== last.streamId && azureTime(snapshot) > azureTime(last) && lacks(snapshot, eventId),
    );
    return {
      vm: vmOf(last, last.vmName),
      vmId,
      isAffected: last.observerAffected,
      isOpen: !isEnd(last) && !isForgotten,
      last,
      isEndWithdrawn: isEnd(last) && returns.some((one) => withdraws(one, last)),
      missing: numbersOf.get(streamOf(last))?.missing ?? [],
    };
  });
}

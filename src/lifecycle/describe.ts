import { contentKey } from './content.ts';
import { type Departure, noticeSeconds } from './notice.ts';
import { type Change, type LifecycleRecord, type Phase, schemaVersion } from './record.ts';
import { recordId, stepOf, transitionId } from './record-id.ts';
import type { HostEvidence, Observer } from './scheduled-event.ts';
import type { EventMemory } from './state.ts';
import { limits, truncateList, truncateObject, truncateText, truncateValue } from './truncate.ts';

/** What all records of one observation have in common. */
export interface RecordContext {
  readonly at: Date;
  readonly observer: Observer;
  readonly host: HostEvidence;
  readonly streamId: string;
  readonly imdsApiVersion: string;
  readonly clockOffsetSeconds: number | null;
  readonly bridgeVersion: string;
}

/** The step to put on record. */
export interface Step {
  readonly phase: Phase;
  readonly evidence: readonly string[];
  readonly changes: readonly Change[];
  /** Incarnation of the document that showed it. */
  readonly incarnation: number;
  /** How long Azure listed the event as Started, where that is known. */
  readonly startedSeconds: number | null;
  /** Of an end: how it was listed last before it. */
  readonly departure?: Departure;
}

/** A record whose place among the others of its stream is not given yet. */
export type Unsequenced = Omit<LifecycleRecord, 'position'>;

/** Writes the record of a step; the memory that comes back has counted it. */
export function describe(
  memory: EventMemory,
  step: Step,
  { at, observer, host, ...given }: RecordContext,
): { readonly memory: EventMemory; readonly record: Unsequenced } {
  const kind = stepOf(step.phase);
  const content = contentKey(memory.last, memory.phase, step.evidence);
  const detail = { content, vmId: observer.vmId };
  const first = transitionId(memory.eventId, kind, 0, detail);
  const repeat = memory.recorded[first] ?? (kind === 'updated' ? memory.recordedFloor : 0);
  const transition = transitionId(memory.eventId, kind, repeat, detail);
  const counted: EventMemory = {
    ...memory,
    sequence: memory.sequence + 1,
    ...countStep(memory, first, repeat + 1, observer.vmId),
  };
  const record: Unsequenced = {
    recordId: recordId(transition, observer.vmId),
    transitionId: transition,
    schemaVersion,
    ...asAzureSaid(memory, observer),
    documentIncarnation: step.incarnation,
    imdsApiVersion: given.imdsApiVersion,
    phase: step.phase,
    evidence: step.evidence,
    changes: step.changes.map(truncateChange),
    sequence: counted.sequence,
    streamId: given.streamId,
    repeat,
    observedAt: at.toISOString(),
    firstSeenAt: memory.firstSeenAt,
    startedAt: memory.startedAt,
    startSeen: memory.startedAt === null ? null : memory.startSeen,
    noticeSeconds: noticeSeconds(memory, step),
    startedSeconds: step.startedSeconds,
    observedPauseMs: memory.pauseMs,
    observedPauseTotalMs: memory.pauseTotalMs,
    observedOutageSeconds: memory.outageSeconds,
    bootId: host.bootId,
    physicalHost: host.physicalHost,
    previousPhysicalHost: hostBefore(memory, host.physicalHost),
    clockOffsetSeconds: given.clockOffsetSeconds,
    observerAffected: memory.affectsUs,
    ...observer,
    scheduledEventResourceId: scheduledEventResourceId(observer, memory.eventId),
    eventsInSight: null,
    isTest: false,
    bridgeVersion: given.bridgeVersion,
  };
  return { memory: counted, record };
}

/** So many steps of one event are told apart for good; of those dropped the highest count is kept. */
export const countedSteps = 256;

/** Counts a step. The oldest contents are dropped: a notBefore that slides for hours is another one each second. */
function countStep(
  { eventId, recorded, recordedFloor }: EventMemory,
  first: string,
  count: number,
  vmId: string,
): Pick<EventMemory, 'recorded' | 'recordedFloor'> {
  const counts = { ...recorded, [first]: count };
  const excess = Object.keys(counts).length - countedSteps;
  if (excess <= 0) return { recorded: counts, recordedFloor };
  const kept = new Set([
    first,
    ...(['scheduled', 'started', 'end', 'approved'] as const).map((step) => transitionId(eventId, step, 0, { vmId })),
  ]);
  const dropped = Object.keys(recorded)
    .filter((id) => !kept.has(id))
    .slice(0, excess);
  return {
    recorded: Object.fromEntries(Object.entries(counts).filter(([id]) => !dropped.includes(id))),
    recordedFloor: Math.max(recordedFloor, ...dropped.map((id) => recorded[id] ?? 0)),
  };
}

function truncateChange({ field, from, to }: Change): Change {
  const cut = (value: unknown): unknown =>
    truncateValue(value, typeof value === 'string' ? limits.word : limits.change);
  return { field, from: cut(from), to: cut(to) };
}

/** The fields that repeat Azure's own words, within bounds. */
function asAzureSaid({ eventId, last }: EventMemory, { vmName }: Observer) {
  const word = (text: string | null): string | null => (text ? truncateText(text, limits.word) : null);
  const isUs = (name: string): boolean => name.toLowerCase() === vmName.toLowerCase();
  const resources = last.resources ?? [];
  return {
    eventId,
    eventType: word(last.eventType),
    eventSource: word(last.eventSource),
    eventStatus: word(last.eventStatus),
    resourceType: word(last.resourceType),
    description: last.description ? truncateText(last.description, limits.text) : null,
    affectedResources: truncateList(resources, limits.list, isUs),
    affectedResourceCount: resources.length,
    notBefore: last.notBefore,
    durationSeconds: last.durationSeconds,
    rawEvent: truncateObject(last.raw, limits.raw),
  };
}

/** The host on which the event found us, where both are known and differ. */
const hostBefore = ({ foundOnHost }: EventMemory, physicalHost: string | null): string | null =>
  physicalHost === null || foundOnHost === physicalHost ? null : foundOnHost;

/** The id under which Azure's preview feed of scheduled events (Event Grid, Resource Graph) lists the same event. */
function scheduledEventResourceId(observer: Observer, eventId: string): string | null {
  const owner = observer.vmScaleSetResourceId ?? observer.resourceId;
  return owner && `${owner}/providers/microsoft.maintenance/scheduledevents/${eventId}`.toLowerCase();
}

import { contentKey } from './content.ts';
import { type Departure, noticeSeconds } from './notice.ts';
import { type Change, type IsoTime, type LifecycleRecord, type Phase, schemaVersion } from './record.ts';
import { recordId, stepOf, transitionId } from './record-id.ts';
import type { HostEvidence, Observer } from './scheduled-event.ts';
import type { EventMemory } from './state.ts';
import { limits, truncateList, truncateObject, truncateText, truncateValue } from './truncate.ts';

/** What all records of one observation have in common. */
export interface RecordContext {
  readonly at: IsoTime;
  readonly observer: Observer;
  readonly host: Pick<HostEvidence, 'bootId' | 'physicalHost'>;
  readonly streamId: string;
  readonly imdsApiVersion: string;
  readonly clockOffsetSeconds: number | null;
  readonly bridgeVersion: string;
}

/** What an event did, as the tables `steps.ts` and `ends.ts` decide it. */
export interface Step {
  readonly phase: Phase;
  readonly evidence: readonly string[];
  readonly changes: readonly Change[];
  /** Of the document that showed it. */
  readonly incarnation: number;
  /** How long Azure listed the event as Started, where that is known. */
  readonly startedSeconds: number | null;
  /** Of an end: how the event was last listed. */
  readonly departure?: Departure;
  /** When the step was observed, if that was before the observation that confirms it. */
  readonly observed?: Pick<RecordContext, 'at' | 'clockOffsetSeconds'>;
}

/**
 * Makes the record of a step. The returned memory has counted it.
 * @param position of the record in its stream.
 */
export function describe(
  memory: EventMemory,
  step: Step,
  context: RecordContext,
  position: number,
): { readonly memory: EventMemory; readonly record: LifecycleRecord } {
  const { observer, host } = context;
  const { at, clockOffsetSeconds } = step.observed ?? context;
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
  const record: LifecycleRecord = {
    recordId: recordId(transition, observer.vmId),
    transitionId: transition,
    schemaVersion,
    ...reportedByAzure(memory, observer),
    documentIncarnation: step.incarnation,
    imdsApiVersion: context.imdsApiVersion,
    phase: step.phase,
    evidence: step.evidence,
    changes: step.changes.map(truncateChange),
    sequence: counted.sequence,
    streamId: context.streamId,
    position,
    repeat,
    observedAt: at,
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
    clockOffsetSeconds,
    observerAffected: memory.affectsUs,
    ...observer,
    scheduledEventResourceId: scheduledEventResourceId(observer, memory.eventId),
    eventsInSight: null,
    isTest: false,
    bridgeVersion: context.bridgeVersion,
  };
  return { memory: counted, record };
}

/** The number of different steps of one event that are counted; of those dropped, the highest count is kept. */
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
function reportedByAzure({ eventId, last }: EventMemory, { vmName }: Observer) {
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

// assumption: feed-id
/** The id under which Azure's preview feed of scheduled events (Event Grid, Resource Graph) lists the same event. */
function scheduledEventResourceId(observer: Observer, eventId: string): string | null {
  const owner = observer.vmScaleSetResourceId ?? observer.resourceId;
  return owner && `${owner}/providers/microsoft.maintenance/scheduledevents/${eventId}`.toLowerCase();
}

import { azureTime, countOf, type EventState, type EventView, isEnd, type LifecycleRecord } from '../consumer/index.ts';
import type { Trace, TraceStep, TraceView } from './answers.ts';
import { factsOf } from './lane.ts';
import { placeOf } from './open-events.ts';

const shownViews = 300;

/** One event: its steps with their evidence, and what each VM reported of it. */
export function traceOf(event: EventState, now: number): Trace {
  const latest = event.latest ?? event.end;
  const ends = event.views.map(({ last }) => last).filter(isEnd);
  const counted = event.end === null ? [] : [event.end];
  const others = ends.filter(({ phase, recordId }) => recordId !== event.end?.recordId && phase !== event.end?.phase);
  const steps = [...event.steps, ...counted, ...firstOfEachPhase(others)].map((record) =>
    stepOf(record, record.recordId === event.end?.recordId),
  );
  const named = new Set(event.named.map(({ key }) => key));
  const reporting = new Set(event.views.map(({ vm }) => vm.key));
  const said = latest?.durationSeconds ?? -1;
  return {
    eventId: event.eventId,
    eventType: latest?.eventType ?? 'unknown',
    eventSource: latest?.eventSource ?? 'unknown',
    description: latest?.description ?? null,
    notBefore: latest?.notBefore ? Date.parse(latest.notBefore) : null,
    expectedSeconds: said < 0 ? null : said,
    outcome: outcomeOf(event, now),
    steps: steps.sort((a, b) => a.at - b.at),
    views: {
      rows: event.views.slice(0, shownViews).map((view) => viewOf(view, named.has(view.vm.key))),
      total: event.views.length,
    },
    silent: event.named.filter(({ key }) => !reporting.has(key)).map(({ name }) => name),
  };
}

/** Ends that another VM reported, and that do not count because a better one is known. */
function firstOfEachPhase(records: readonly LifecycleRecord[]): readonly LifecycleRecord[] {
  const sorted = [...records].sort((a, b) => azureTime(a) - azureTime(b));
  return [...Map.groupBy(sorted, ({ phase }) => phase).values()].flatMap(([first]) => first ?? []);
}

function outcomeOf({ end, presumedEnd, presumedOverAt, hasStarted, latest }: EventState, now: number): string {
  if (end !== null) return `${end.phase}: ${end.evidence.join(', ') || 'no evidence'}`;
  if (presumedEnd !== null)
    return `Presumed to have ended: ${presumedEnd.vmName} lost its state and no longer lists the event. No end was reported.`;
  if (presumedOverAt !== null && presumedOverAt.getTime() <= now)
    return 'Presumed to have ended: the VM was to be deleted, and ten minutes have passed since. No end was reported.';
  if (hasStarted) return 'Open: Azure has started';
  const isDue = latest?.notBefore != null && Date.parse(latest.notBefore) < now;
  return isDue ? 'Open: it is due, and no start was reported' : 'Open: announced, not started';
}

function stepOf(record: LifecycleRecord, isCounted: boolean): TraceStep {
  return {
    at: azureTime(record),
    phase: record.phase,
    evidence: record.evidence,
    changes: record.changes.map(({ field, from, to }) => `${field}: ${shown(from)} → ${shown(to)}`),
    reportedBy: record.vmName,
    isEnd: isCounted,
  };
}

const longest = 80;
function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

function viewOf({ vm, isAffected, last, missing }: EventView, wasAffected: boolean): TraceView {
  const { physicalHost, previousPhysicalHost } = last;
  return {
    vm: vm.name,
    place: placeOf(factsOf(vm, last)),
    role: isAffected ? 'affected' : wasAffected ? 'no longer affected' : 'witness',
    phase: last.phase,
    at: azureTime(last),
    evidence: last.evidence,
    noticeSeconds: last.noticeSeconds,
    startedSeconds: last.startedSeconds,
    pausedMs: last.observedPauseTotalMs,
    longestPauseMs: last.observedPauseMs,
    downSeconds: last.observedOutageSeconds,
    host: previousPhysicalHost === null ? null : `${previousPhysicalHost} → ${physicalHost ?? 'unknown'}`,
    missing: countOf(missing),
  };
}

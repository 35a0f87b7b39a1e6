import type { Change, StepEvidence } from './record.ts';
import type { ScheduledEvent } from './scheduled-event.ts';

/**
 * The content of an event: the fields whose change is an `Updated`. Order and case of the names, the description and
 * the incarnation are no content; `notBefore` counts in whole seconds and only while Scheduled, since Started blanks it.
 */
interface Content {
  readonly eventStatus: string;
  readonly eventType: string | null;
  readonly affectedResources: readonly string[];
  readonly durationSeconds: number | null;
  readonly notBefore: number | null;
}

function contentOf(event: ScheduledEvent, phase: 'Scheduled' | 'Started'): Content {
  return {
    eventStatus: event.eventStatus ?? phase,
    eventType: event.eventType,
    affectedResources: (event.resources ?? []).map((name) => name.toLowerCase().replace(/^_/, '')).sort(),
    durationSeconds: event.durationSeconds,
    notBefore: phase === 'Started' || !event.notBefore ? null : Math.floor(Date.parse(event.notBefore) / 1000),
  };
}

/**
 * One string for one content: equal on every VM that sees it. Part of the transition id of an `Updated`. The duration
 * counts only where nothing else changed: api-versions before 2020-07-01 do not have it. A status that went back is a
 * separate step, even when the content is that of an earlier step.
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#version-and-region-availability
 */
export function contentKey(
  event: ScheduledEvent,
  phase: 'Scheduled' | 'Started',
  evidence: readonly string[] = [],
): string {
  const { durationSeconds, ...content } = contentOf(event, phase);
  const isDurationAlone = evidence.length === 1 && evidence[0] === 'durationSeconds-changed';
  const wentBack = evidence.includes('status-went-back');
  return JSON.stringify([
    ...Object.values(content),
    ...(isDurationAlone ? [durationSeconds] : []),
    ...(wentBack ? ['status-went-back'] : []),
  ]);
}

/** What changed between two entries of one event, and the words for it. Both empty when the content is the same. */
export function contentChanges(
  before: ScheduledEvent,
  after: ScheduledEvent,
  phase: 'Scheduled' | 'Started',
): { readonly words: readonly StepEvidence[]; readonly changes: readonly Change[] } {
  const [from, to] = [contentOf(before, phase), contentOf(after, phase)];
  const words: StepEvidence[] = [];
  const changes: Change[] = [];
  if (from.notBefore !== to.notBefore) {
    // A time where none was known counts as later: unknown has to be taken for "at any moment".
    const earlier = from.notBefore !== null && to.notBefore !== null && to.notBefore < from.notBefore;
    words.push(earlier ? 'notBefore-earlier' : 'notBefore-later');
    changes.push({ field: 'notBefore', from: before.notBefore, to: after.notBefore });
  }
  if (from.eventType !== to.eventType) {
    words.push('eventType-changed');
    changes.push({ field: 'eventType', from: before.eventType, to: after.eventType });
  }
  if (JSON.stringify(from.affectedResources) !== JSON.stringify(to.affectedResources)) {
    words.push('affectedResources-changed');
    changes.push({ field: 'affectedResources', from: before.resources, to: after.resources });
  }
  if (from.durationSeconds !== to.durationSeconds) {
    words.push('durationSeconds-changed');
    changes.push({ field: 'durationSeconds', from: before.durationSeconds, to: after.durationSeconds });
  }
  return { words, changes };
}

/** The newer entry over the older one: a missing or unreadable field keeps its last good value. */
export function merge(before: ScheduledEvent | undefined, now: ScheduledEvent): ScheduledEvent {
  return {
    eventId: before?.eventId ?? now.eventId,
    eventStatus: spelled(now.eventStatus) ?? before?.eventStatus ?? null,
    eventType: now.eventType ?? before?.eventType ?? null,
    resourceType: now.resourceType ?? before?.resourceType ?? null,
    resources: now.resources ?? before?.resources ?? null,
    notBefore: now.notBefore ?? before?.notBefore ?? null,
    description: now.description ?? before?.description ?? null,
    eventSource: now.eventSource ?? before?.eventSource ?? null,
    durationSeconds: now.durationSeconds ?? before?.durationSeconds ?? null,
    raw: now.raw,
  };
}

const knownStatuses = ['Scheduled', 'Started', 'Completed', 'Canceled'];

/** Known statuses as Azure documents them, regardless of letter case; others as they are. */
const spelled = (status: string | null): string | null =>
  knownStatuses.find((known) => known.toLowerCase() === status?.toLowerCase()) ?? status;

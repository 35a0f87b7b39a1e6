import { isDeepStrictEqual } from 'node:util';
import { plural } from '../../../src/terminal/styled-text.ts';
import type { Finding } from '../step.ts';
import { sameId } from './checks.ts';
import type { Played } from './played.ts';
import { type PlayedView, viewOf } from './played-view.ts';
import type { Scenario } from './scenario.ts';

/** What a scenario shows of an assumption: null where it shows neither that it holds nor that it does not. */
type Judgement = { readonly holds: boolean; readonly evidence: string } | null;

interface Proof {
  readonly assumption: string;
  /** Ids of the scenarios that can show it. */
  readonly scenarios: readonly string[];
  readonly judge: (view: PlayedView) => Judgement;
}

const restarts = ['restart', 'restart-approved'];
const redeploys = ['redeploy', 'redeploy-approved'];
const ofSets = ['restart-uniform', 'restart-flexible'];
const deletions = ['uniform', 'flexible'].flatMap((set) => [`delete-${set}`, `delete-${set}-approved`]);
const announced = [...restarts, ...redeploys, ...ofSets, 'evict', ...deletions];

/** Of a documented notice. It is counted from the first poll that saw the event, which may be late, and `NotBefore` has whole seconds. */
const tolerated = (notice: number): number => Math.min(60, notice / 3);

/** Facts that the VM measured before and after the event, where it reported both. */
const beforeAndAfter = <Value>({ phase }: PlayedView, of: (record: PlayedView['records'][number]) => Value) => {
  const [before, after] = [phase('Scheduled'), phase('Completed')];
  return before === null || after === null ? null : { before: of(before), after: of(after) };
};

const kept =
  (what: string, of: (record: PlayedView['records'][number]) => string) =>
  (view: PlayedView): Judgement => {
    const facts = beforeAndAfter(view, of);
    if (facts === null) return null;
    return {
      holds: facts.before === facts.after,
      evidence: `${what} was ${facts.before} before and ${facts.after} after the event`,
    };
  };

const bootId = (view: PlayedView): Judgement => {
  const facts = beforeAndAfter(view, (record) => record.bootId);
  if (facts === null) return null;
  if (facts.before === null || facts.after === null) return null;
  return {
    holds: facts.before !== facts.after,
    evidence: `bootId was ${facts.before} before and ${facts.after} after the event`,
  };
};

/** The few minutes before a restart can only show that it does not hold. */
function bootTimeOfWindows({ records }: PlayedView): Judgement {
  const end = records.findIndex(({ phase }) => phase === 'Completed');
  const ids = new Set(records.slice(0, Math.max(0, end)).map((record) => record.bootId));
  return ids.size > 1 ? { holds: false, evidence: `bootId was ${[...ids].join(', then ')} within one boot` } : null;
}

/** Seconds of notice in the first record of the event; null if the event may have been announced before it. */
function announcedNotice({ phase }: PlayedView): number | null {
  const first = phase('Scheduled');
  if (first === null || first.notBefore === null) return null;
  if (first.evidence.some((word) => word === 'present-at-first-look' || word === 'observation-gap')) return null;
  return (Date.parse(first.notBefore) - Date.parse(first.observedAt)) / 1000 - (first.clockOffsetSeconds ?? 0);
}

function notice(view: PlayedView): Judgement {
  const seconds = announcedNotice(view);
  const least = view.scenario.noticeSeconds;
  if (seconds === null || least === null) return null;
  return {
    holds: seconds >= least - tolerated(least),
    evidence: `${view.scenario.event?.type} was seen ${seconds.toFixed(0)} s before its NotBefore; documented are ${least} s`,
  };
}

/** The notice, and that the VM could use it: its record was in the hub before NotBefore. */
function noticeInTime(view: PlayedView): Judgement {
  const given = notice(view);
  const first = view.played.records.find(({ record }) => record.phase === 'Scheduled');
  if (given?.holds !== true || first?.record.notBefore == null) return given;
  const left = (Date.parse(first.record.notBefore) - first.enqueuedAt.getTime()) / 1000;
  return left > 0
    ? { holds: true, evidence: `${given.evidence}; its record was in the hub ${left.toFixed(0)} s before it` }
    : null;
}

/** By Azure's clock; the VM takes its time from the host. */
function dateHeader({ records }: PlayedView): Judgement {
  const offsets = records.map(({ clockOffsetSeconds }) => clockOffsetSeconds);
  const known = offsets.filter((offset) => offset !== null);
  if (records.length === 0 || known.some((offset) => Math.abs(offset) > 2)) return null;
  return {
    holds: known.length > 0,
    evidence:
      known.length > 0 ? `the offsets of the clock were ${known.join(', ')} s` : 'no record has an offset of the clock',
  };
}

/** Type, source and VMs of the event, and its notice. */
function userEvent(view: PlayedView): Judgement {
  const { event } = view.scenario;
  const [first] = view.records;
  if (event === null || first === undefined) return null;
  const { eventType, eventSource, affectedResources, observerAffected } = first;
  const given = notice(view);
  const isOurs =
    eventType === event.type && eventSource === event.source && affectedResources.length === 1 && observerAffected;
  if (isOurs && given === null) return null;
  return {
    holds: isOurs && given?.holds === true,
    evidence: `${eventType} by ${eventSource} for ${plural(affectedResources.length, 'VM')}${given === null ? '' : `; ${given.evidence}`}`,
  };
}

function notBefore({ phase, listed }: PlayedView): Judgement {
  const [scheduled, started] = [phase('Scheduled'), phase('Started')];
  if (scheduled?.notBefore == null || started === null || phase('Approved') !== null) return null;
  const seconds =
    (Date.parse(started.observedAt) - Date.parse(scheduled.notBefore)) / 1000 + (started.clockOffsetSeconds ?? 0);
  const last = listed.findLast(({ EventStatus }) => EventStatus === 'Started');
  return {
    holds: seconds >= -2 && (last === undefined || last.NotBefore === ''),
    evidence: `Started was seen ${seconds.toFixed(1)} s after NotBefore${last === undefined ? '' : `, and its NotBefore is "${last.NotBefore}"`}`,
  };
}

function statuses({ listed, documents, played }: PlayedView): Judgement {
  if (listed.length === 0) return null;
  const names = [...new Set(listed.map(({ EventStatus }) => String(EventStatus)))];
  const areKnown = names.every((name) => name === 'Scheduled' || name === 'Started');
  const isGone = documents.at(-1)?.Events.every(({ EventId }) => EventId !== played.eventId) === true;
  if (areKnown && !isGone) return null;
  return {
    holds: areKnown,
    evidence: `the event was ${names.join(', then ')}, ${isGone ? 'then no longer listed' : 'and is still listed'}`,
  };
}

const documentedFields = [
  'EventId',
  'EventStatus',
  'EventType',
  'ResourceType',
  'Resources',
  'NotBefore',
  'Description',
  'EventSource',
  'DurationInSeconds',
];

function fields({ listed }: PlayedView): Judgement {
  if (listed.length === 0) return null;
  const missing = documentedFields.filter((field) => listed.some((event) => event[field] === undefined));
  return {
    holds: missing.length === 0,
    evidence: missing.length === 0 ? 'all documented fields are in the event' : `without ${missing.join(', ')}`,
  };
}

/** The event started under another id: it went while it was Scheduled, and another of its type and VMs was Started in its place. */
function successor({ listed, documents, played }: PlayedView): string | null {
  const isOurs = ({ EventId }: { readonly EventId: string }): boolean => sameId(EventId, played.eventId ?? '');
  const last = documents.findLastIndex(({ Events }) => Events.some(isOurs));
  const ours = listed.at(-1);
  if (ours?.EventStatus !== 'Scheduled') return null;
  const next = documents[last + 1]?.Events.find(
    (other) =>
      other.EventStatus === 'Started' &&
      other.EventType === ours.EventType &&
      isDeepStrictEqual(other.Resources, ours.Resources) &&
      !documents[last]?.Events.some(({ EventId }) => sameId(EventId, other.EventId)),
  );
  return next?.EventId ?? null;
}

function eventIds(view: PlayedView): Judgement {
  const other = successor(view);
  if (other !== null)
    return { holds: false, evidence: `${view.played.eventId} was Scheduled, and ${other} Started in its place` };
  const found = new Set(view.listed.map(({ EventStatus }) => EventStatus));
  if (!found.has('Scheduled') || !found.has('Started')) return null;
  return { holds: true, evidence: `${view.played.eventId} was Scheduled, and Started` };
}

function incarnationCounts({ documents }: PlayedView): Judgement {
  if (documents.length < 3) return null;
  const numbers = documents.map(({ DocumentIncarnation }) => DocumentIncarnation);
  const isRepeated = numbers.some((number, index) => number === numbers[index - 1]);
  return { holds: !isRepeated, evidence: `the incarnations of different documents were ${numbers.join(', ')}` };
}

function incarnationResets(view: PlayedView): Judgement {
  const hosts = beforeAndAfter(view, ({ physicalHost }) => physicalHost);
  if (hosts === null || hosts.before === null || hosts.after === null || hosts.before === hosts.after) return null;
  const numbers = view.documents.map(({ DocumentIncarnation }) => DocumentIncarnation);
  const isReset = numbers.some((number, index) => number < (numbers[index - 1] ?? 0));
  return { holds: isReset, evidence: `the incarnations before and after the move were ${numbers.join(', ')}` };
}

function physicalHost(view: PlayedView): Judgement {
  const hosts = beforeAndAfter(view, (record) => record.physicalHost);
  if (hosts === null) return null;
  const [before, after] = [hosts.before ?? 'unknown', hosts.after ?? 'unknown'];
  const isKnown = hosts.before !== null && hosts.after !== null;
  return {
    holds: isKnown && before !== after,
    evidence: `physicalHost was ${before} before and ${after} after the redeploy`,
  };
}

function approvalStarts({ phase }: PlayedView): Judgement {
  const [approved, started] = [phase('Approved'), phase('Started')];
  if (!approved?.evidence.includes('accepted') || !started?.startSeen) return null;
  const seconds = (Date.parse(started.observedAt) - Date.parse(approved.observedAt)) / 1000;
  return { holds: seconds <= 60, evidence: `Started was seen ${seconds.toFixed(1)} s after the approval` };
}

function approvalOnBehalf({ phase, played }: PlayedView): Judgement {
  const started = phase('Started');
  if (played.approvedAt === null || started?.notBefore == null) return null;
  if (played.approvalProblem !== null) return null;
  const seconds = (Date.parse(started.notBefore) - Date.parse(started.observedAt)) / 1000;
  return {
    holds: seconds > 60,
    evidence: `Started was seen ${seconds.toFixed(0)} s before NotBefore, after another VM had approved it`,
  };
}

/** The recording is the other VM's. */
const inGroup = (view: PlayedView): Judgement => {
  if (view.played.eventId === null || view.documents.length === 0) return null;
  const isListed = view.listed.length > 0;
  return {
    holds: isListed,
    evidence: `the document of the other VM of the scale set ${isListed ? 'lists' : 'does not list'} the event`,
  };
};

function resourceNames({ records }: PlayedView): Judgement {
  const [first] = records;
  if (first === undefined) return null;
  return {
    holds: first.observerAffected,
    evidence: `Resources are ${first.affectedResources.join(', ')}, and the VM is ${first.vmName}`,
  };
}

const proofs: readonly Proof[] = [
  { assumption: 'host-boot-id', scenarios: [...restarts, ...redeploys], judge: bootId },
  { assumption: 'host-os-disk', scenarios: redeploys, judge: kept('streamId', ({ streamId }) => streamId) },
  { assumption: 'host-physical-name', scenarios: redeploys, judge: physicalHost },
  { assumption: 'imds-approval-on-behalf', scenarios: ofSets, judge: approvalOnBehalf },
  { assumption: 'imds-approval-starts', scenarios: ['restart-approved', 'redeploy-approved'], judge: approvalStarts },
  { assumption: 'imds-date-header', scenarios: restarts, judge: dateHeader },
  { assumption: 'imds-event-id', scenarios: [...restarts, ...redeploys], judge: eventIds },
  { assumption: 'imds-fields', scenarios: announced, judge: fields },
  { assumption: 'imds-group-flexible', scenarios: ['restart-flexible'], judge: inGroup },
  { assumption: 'imds-group-uniform', scenarios: ['restart-uniform'], judge: inGroup },
  // On another host the numbers begin again, and may be the same by chance.
  { assumption: 'imds-incarnation-counts', scenarios: restarts, judge: incarnationCounts },
  { assumption: 'imds-incarnation-resets', scenarios: redeploys, judge: incarnationResets },
  { assumption: 'imds-minimum-notice', scenarios: announced, judge: notice },
  { assumption: 'imds-not-before', scenarios: ['restart', 'redeploy'], judge: notBefore },
  { assumption: 'imds-preempt', scenarios: ['evict'], judge: noticeInTime },
  { assumption: 'imds-resource-names', scenarios: [...restarts, ...ofSets, ...deletions], judge: resourceNames },
  { assumption: 'imds-statuses', scenarios: announced, judge: statuses },
  { assumption: 'imds-terminate', scenarios: deletions, judge: notice },
  { assumption: 'imds-user-redeploy', scenarios: redeploys, judge: userEvent },
  { assumption: 'imds-user-restart', scenarios: [...restarts, ...ofSets], judge: userEvent },
  { assumption: 'imds-vm-id', scenarios: redeploys, judge: kept('vmId', ({ vmId }) => String(vmId)) },
  { assumption: 'windows-boot-time', scenarios: ['windows-restart'], judge: bootTimeOfWindows },
];

/** Ids of the assumptions that a scenario can prove or refute. */
export const provedBy = ({ id }: Pick<Scenario, 'id'>): readonly string[] =>
  proofs.filter(({ scenarios }) => scenarios.includes(id)).map(({ assumption }) => assumption);

/** What a scenario that was played on Azure shows of its assumptions. */
export function findingsOf(scenario: Scenario, played: Played): readonly Finding[] {
  const view = viewOf(scenario, played);
  return proofs
    .filter(({ scenarios }) => scenarios.includes(scenario.id))
    .flatMap(({ assumption, judge }) => {
      const judgement = judge(view);
      if (judgement === null) return [];
      return [
        {
          assumption,
          verdict: judgement.holds ? ('proven' as const) : ('refuted' as const),
          evidence: judgement.evidence,
        },
      ];
    });
}

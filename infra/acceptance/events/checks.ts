import { isDeepStrictEqual } from 'node:util';
import type { EndEvidence, LifecycleRecord, Phase } from '../../../src/lifecycle/record.ts';
import { approvedFirst } from '../recordings/play.ts';
import type { EnqueuedRecord } from '../target.ts';
import { firstCopies, type Played, recordKey, rowKey } from './played.ts';
import type { ExpectedStep, Scenario, TimeLimits } from './scenario.ts';

/** Everything in which a scenario went otherwise than expected, each in one sentence; empty if nothing did. */
export function problemsOf(scenario: Pick<Scenario, 'event' | 'timeline'>, played: Played): readonly string[] {
  if (scenario.event !== null && played.eventId === null) {
    return [`No ${scenario.event.type} event of the VM arrived in the event hub.`];
  }
  const records = firstCopies(played.records).map(({ record }) => record);
  return [
    ...(played.approvalProblem === null ? [] : [`The event could not be approved: ${played.approvalProblem}`]),
    ...(scenario.event === null ? [] : wrongEvent(scenario.event, records)),
    ...(scenario.event === null ? [] : wrongPhases(scenario.timeline, records)),
    ...wrongTimes(scenario.timeline, records, played),
    ...wrongSequence(records),
    ...wrongCopies(played.records),
    ...wrongRows(scenario.timeline, played),
    ...records.flatMap((record) => unfoundedClaims(record, records)),
  ];
}

/** Copies beyond the first of each record. Delivery is at least once, so they are no problem. */
export function copiesOf({ records, rows }: Pick<Played, 'records' | 'rows'>): {
  readonly hub: number;
  readonly table: number;
} {
  return {
    hub: records.length - new Set(records.map(({ record }) => recordKey(record))).size,
    table: rows.length - new Set(rows.map(rowKey)).size,
  };
}

function wrongEvent({ type, source }: NonNullable<Scenario['event']>, records: readonly LifecycleRecord[]): string[] {
  return records.flatMap(({ phase, eventType, eventSource }) => [
    ...(eventType === type ? [] : [`${phase} names the type ${eventType}; expected ${type}.`]),
    ...(source === null || eventSource === source
      ? []
      : [`${phase} names the source ${eventSource}; expected ${source}.`]),
  ]);
}

/** Steps that are missing, and phases that no step expects at their position. */
function wrongPhases(timeline: readonly ExpectedStep[], records: readonly LifecycleRecord[]): string[] {
  const problems: string[] = [];
  let next = 0;
  for (const { phase } of approvedFirst(records)) {
    if (phase === 'Updated') continue;
    const at = timeline.findIndex((step, index) => index >= next && step.phase === phase);
    if (at < 0) {
      const expected = timeline.slice(next).map((step) => step.phase);
      problems.push(
        `${phase} was not expected${expected.length === 0 ? ' any more' : ` before ${expected.join(', ')}`}.`,
      );
      continue;
    }
    problems.push(...missing(timeline.slice(next, at)));
    next = at + 1;
  }
  return [...problems, ...missing(timeline.slice(next))];
}

const missing = (steps: readonly ExpectedStep[]): string[] =>
  steps.filter(({ required }) => required).map(({ phase }) => `${phase} is missing.`);

function wrongTimes(timeline: readonly ExpectedStep[], records: readonly LifecycleRecord[], played: Played): string[] {
  return timeline.flatMap(({ phase, within }) => {
    const index = records.findIndex((record) => record.phase === phase);
    const record = records[index];
    const from = record === undefined ? null : startOf(within, record, records[index - 1], played);
    if (record === undefined || from === null) return [];
    const seconds = (observedMs(record) - from) / 1000;
    if (seconds >= within.earliest && seconds <= within.latest) return [];
    const [bound, limit] = seconds < within.earliest ? ['earliest', within.earliest] : ['latest', within.latest];
    return [
      `${phase} was observed ${seconds.toFixed(1)} s after ${reference[within.after]}; expected at the ${bound} ${limit} s.`,
    ];
  });
}

const reference: Readonly<Record<TimeLimits['after'], string>> = {
  request: 'the request',
  notBefore: 'NotBefore',
  approval: 'the approval',
  previous: 'the record before it',
};

/** In milliseconds; null if it is not known. */
function startOf(
  { after }: TimeLimits,
  { notBefore }: LifecycleRecord,
  previous: LifecycleRecord | undefined,
  { requestedAt, approvedAt }: Played,
): number | null {
  if (after === 'request') return requestedAt.getTime();
  if (after === 'approval') return approvedAt?.getTime() ?? null;
  if (after === 'notBefore') return notBefore === null ? null : Date.parse(notBefore);
  return previous === undefined ? null : observedMs(previous);
}

/** By Azure's clock, as far as the VM knows it. */
const observedMs = ({ observedAt, clockOffsetSeconds }: LifecycleRecord): number =>
  Date.parse(observedAt) + 1000 * (clockOffsetSeconds ?? 0);

/** 1, 2, 3 … in each stream. */
function wrongSequence(records: readonly LifecycleRecord[]): string[] {
  const streams = Map.groupBy(records, ({ streamId }) => streamId);
  return [...streams].flatMap(([streamId, own]) => {
    const numbers = own.map(({ sequence }) => sequence);
    const isComplete = isDeepStrictEqual(
      numbers,
      numbers.map((_, index) => index + 1),
    );
    return isComplete
      ? []
      : [`The records of stream ${streamId} have the sequence ${numbers.join(', ')}: one is missing.`];
  });
}

function wrongCopies(records: readonly EnqueuedRecord[]): string[] {
  const copies = Map.groupBy(records, ({ record }) => recordKey(record));
  return [...copies.values()].flatMap(([first, ...others]) =>
    others.some(({ record }) => !isDeepStrictEqual(record, first?.record))
      ? [`Copies of ${first?.record.phase} in the event hub differ from each other.`]
      : [],
  );
}

/** Hub and table must hold the same records, except those that a VM sent to the hub at its end and could not send to the table any more. */
function wrongRows(timeline: readonly ExpectedStep[], { records, rows, eventId }: Played): string[] {
  const mayBeMissing = timeline.filter(({ required }) => !required).map(({ phase }) => phase);
  const byKey = new Map(rows.map((row) => [rowKey(row), row]));
  const inHub = new Set(records.map(({ record }) => recordKey(record)));
  const missingOrOther = firstCopies(records).flatMap(({ record }) => {
    const row = byKey.get(recordKey(record));
    if (row === undefined)
      return mayBeMissing.includes(record.phase) ? [] : [`${record.phase} is missing in the table.`];
    const isSame =
      row.Phase === record.phase && sameId(row.EventId, record.eventId) && row.Sequence === record.sequence;
    return isSame ? [] : [`${record.phase} is in the table as ${row.Phase} with sequence ${row.Sequence}.`];
  });
  const tableOnly = rows.filter((row) => eventId !== null && sameId(row.EventId, eventId) && !inHub.has(rowKey(row)));
  return [...missingOrOther, ...tableOnly.map(({ Phase }) => `${Phase} is in the table and missing in the event hub.`)];
}

export const sameId = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Phases that claim something which only their evidence supports: one of these words is enough. */
const grounds: Readonly<Partial<Record<Phase, readonly string[]>>> = {
  Completed: ['said-by-azure', 'left-after-started', 'boot-id-changed', 'physical-host-changed', 'pause-observed'],
  Canceled: ['said-by-azure', 'left-before-not-before'],
  Approved: ['accepted'],
};

/** Words of evidence that another field of the record, or an earlier record, has to bear out. */
const measured: readonly (readonly [EndEvidence, (record: LifecycleRecord, first: LifecycleRecord) => boolean])[] = [
  ['boot-id-changed', (record, first) => record.bootId !== null && record.bootId !== first.bootId],
  [
    'physical-host-changed',
    ({ physicalHost, previousPhysicalHost }) => previousPhysicalHost !== null && previousPhysicalHost !== physicalHost,
  ],
  ['pause-observed', ({ observedPauseMs }) => (observedPauseMs ?? 0) > 0],
  ['left-after-started', ({ startedAt }) => startedAt !== null],
  ['not-before-passed', (record) => record.notBefore !== null && observedMs(record) >= Date.parse(record.notBefore)],
];

/** What a record claims without a reason in it, or against what else is known. */
function unfoundedClaims(record: LifecycleRecord, records: readonly LifecycleRecord[]): string[] {
  const { phase, evidence } = record;
  if (evidence.length === 0) return [`${phase} has no evidence.`];
  const first = records.find(({ streamId }) => streamId === record.streamId) ?? record;
  const needed = grounds[phase];
  const isApproved = records.some((other) => other.phase === 'Approved' && other.evidence.includes('accepted'));
  return [
    ...(needed === undefined || needed.some((word) => evidence.includes(word))
      ? []
      : [`${phase} has only the evidence ${evidence.join(', ')}.`]),
    ...(evidence.includes('approved') && !isApproved ? [`${phase} says approved, and no Approved was sent.`] : []),
    ...measured
      .filter(([word, holds]) => evidence.includes(word) && !holds(record, first))
      .map(([word]) => `${phase} says ${word}, which its other fields do not show.`),
  ];
}

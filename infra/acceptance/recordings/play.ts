import { isDeepStrictEqual } from 'node:util';
import type { Recording } from '../../../src/azure-simulator/recording/read-recording.ts';
import type { LifecycleRecord } from '../../../src/lifecycle/record.ts';
import type { RecordedAnswer } from '../../../src/recording/format.ts';
import { chain, type EventCourse, eventCourses, type Shown } from './event-course.ts';
import { formOf } from './forms.ts';

/** One play of a scenario, as one VM saw it. */
export interface Play {
  /** Of the documents of that VM (`readRecording`). */
  readonly recording: Recording;
  /** Those that the bridge on that VM sent about the events of the scenario, in any order. */
  readonly records: readonly LifecycleRecord[];
  /** How many times faster than in reality it was played. Default 1. */
  readonly speed?: number;
}

/** A play without what differs from run to run. */
export interface Course {
  /** In the order in which they were first listed. */
  readonly events: readonly EventCourse[];
  /** Phases with their evidence, by event id in lower case. */
  readonly records: ReadonlyMap<string, readonly Step[]>;
  /** Number of documents, not counting one that repeats the one before. */
  readonly documents: number;
  /** From document to document: `+1`, `+2`, `the same`, `back`. */
  readonly incarnations: readonly string[];
  /** Every other answer, once each, in alphabetical order. */
  readonly answers: readonly string[];
  /** Fields of the document itself. */
  readonly fields: ReadonlyMap<string, string | null>;
}

export interface Step {
  readonly phase: string;
  readonly evidence: readonly string[];
}

export function courseOf({ recording: { header, changes }, records }: Play): Course {
  const all = changes.flatMap(({ atSeconds, seen }): Shown[] =>
    'document' in seen ? [{ atSeconds, document: seen.document }] : [],
  );
  // After another answer the same document is not a new one.
  const shown = all.filter(({ document }, index) => !isDeepStrictEqual(document, all[index - 1]?.document));
  const numbers = shown.map(({ document }) => document.DocumentIncarnation);
  return {
    events: eventCourses(shown, { begunAt: header.begunAt, vm: header.vm?.name ?? null }),
    records: stepsByEvent(records),
    documents: shown.length,
    incarnations: numbers.slice(1).map((number, index) => stepBetween(numbers[index] ?? 0, number)),
    answers: [...new Set(changes.flatMap(({ seen }) => answerForm(seen) ?? []))].sort(),
    fields: documentFields(shown),
  };
}

function stepBetween(before: number, after: number): string {
  if (after === before) return 'the same';
  return after < before ? 'back' : `+${after - before}`;
}

function answerForm(seen: RecordedAnswer): string | null {
  if ('document' in seen) return null;
  if ('failure' in seen) return seen.failure.kind === 'no-answer' ? 'no answer in time' : 'connection broken';
  const { status, headers, body } = seen.answer;
  const retryAfter = Object.entries(headers).find(([name]) => name.toLowerCase() === 'retry-after')?.[1];
  const retry =
    retryAfter === undefined ? '' : ` with Retry-After (${/^\d+$/.test(retryAfter) ? 'seconds' : 'a date'})`;
  return `status ${status}${status === 200 ? ` without a document (${body === '' ? 'empty' : 'other content'})` : ''}${retry}`;
}

function documentFields(shown: readonly Shown[]): ReadonlyMap<string, string | null> {
  const fields = new Map<string, string | null>();
  for (const { document } of shown) {
    for (const [name, value] of Object.entries(document)) if (name !== 'Events') fields.set(name, formOf(value));
  }
  return new Map([...fields].sort());
}

/** Resent copies count once, test records and snapshots, which are about no event, do not count. */
function stepsByEvent(records: readonly LifecycleRecord[]): Course['records'] {
  const known = new Map(records.map((record) => [`${record.streamId} ${record.recordId}`, record]));
  const inOrder = [...known.values()]
    .filter(({ isTest, phase }) => !isTest && phase !== 'Snapshot')
    .sort(
      (one, other) =>
        (one.observedAt < other.observedAt ? -1 : 1) * Number(one.observedAt !== other.observedAt) ||
        one.position - other.position,
    );
  const steps = new Map<string, Step[]>();
  for (const { eventId, phase, evidence } of inOrder) {
    const id = eventId.toLowerCase();
    steps.set(id, [...(steps.get(id) ?? []), { phase, evidence: [...evidence].sort() }]);
  }
  return new Map([...steps].map(([id, own]) => [id, approvedFirst(own)]));
}

/**
 * With `Approved` before `Started` where it follows at once: an approved event may start before the answer to the approval has arrived, so
 * that their order means nothing.
 */
export function approvedFirst<One extends { readonly phase: string }>(steps: readonly One[]): readonly One[] {
  const ordered = [...steps];
  steps.forEach((step, index) => {
    const next = steps[index + 1];
    if (step.phase === 'Started' && next?.phase === 'Approved') ordered.splice(index, 2, next, step);
  });
  return ordered;
}

/** Phases as they are written in a difference. */
export const phasesOf = (steps: readonly Step[]): string => chain(steps.map(({ phase }) => phase)) || 'none';

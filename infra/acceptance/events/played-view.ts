import { isDeepStrictEqual } from 'node:util';
import type { LifecycleRecord, Phase } from '../../../src/lifecycle/record.ts';
import { isObject, type RecordedDocument } from '../../../src/recording/format.ts';
import { sameId } from './checks.ts';
import { firstCopies, type Played } from './played.ts';
import type { Scenario } from './scenario.ts';

/** A played scenario in a form that is easy to judge. */
export interface PlayedView {
  readonly scenario: Scenario;
  readonly played: Played;
  /** Of the event, the first copy of each, in the order of the VM. */
  readonly records: readonly LifecycleRecord[];
  /** In the recording, in their order; empty if there is none. */
  readonly documents: readonly RecordedDocument[];
  /** The event in each document that lists it. */
  readonly listed: readonly ListedEvent[];
  readonly phase: (phase: Phase) => LifecycleRecord | null;
}

export type ListedEvent = Readonly<Record<string, unknown>>;

export function viewOf(scenario: Scenario, played: Played): PlayedView {
  const records = firstCopies(played.records).map(({ record }) => record);
  const documents = documentsIn(played.recording ?? '');
  const { eventId } = played;
  return {
    scenario,
    played,
    records,
    documents,
    listed: documents.flatMap(({ Events }) =>
      Events.filter(({ EventId }) => eventId !== null && sameId(EventId, eventId)),
    ),
    phase: (phase) => records.find((record) => record.phase === phase) ?? null,
  };
}

function documentsIn(recording: string): readonly RecordedDocument[] {
  const documents = recording.split('\n').flatMap((line) => {
    const change: unknown = line === '' ? null : JSON.parse(line);
    return isObject(change) && isObject(change.document) ? [change.document as unknown as RecordedDocument] : [];
  });
  // After a poll without an answer the same one is recorded again.
  return documents.filter((document, index) => !isDeepStrictEqual(document, documents[index - 1]));
}

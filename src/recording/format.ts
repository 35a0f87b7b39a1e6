import { isDeepStrictEqual } from 'node:util';

/**
 * A recording is a file of JSON lines: a header, then one line for each change of what the endpoint answered. A change is
 * written when it is seen, so a recording whose recorder was killed can be replayed. This file is all that the bridge, which records, and the
 * simulator, which replays, have in common.
 */
export interface Header {
  /** By the clock of the recorder. */
  readonly begunAt: Date;
  readonly endpoint: string;
  readonly apiVersion: string;
  /** The VM that the endpoint belongs to; null where its metadata names none. */
  readonly vm: RecordedVm | null;
}

/** What identifies the VM; written with all other fields that `vm-of-instance.ts` found. */
export interface RecordedVm {
  readonly name: string;
  /** Null for a VM outside of any scale set. */
  readonly scaleSet?: string | null;
}

export interface Change {
  /** Since the start of the recording. */
  readonly atSeconds: number;
  readonly seen: RecordedAnswer;
}

/** What one poll of the endpoint gave. */
export type RecordedAnswer =
  /** As it came, unknown fields included. */
  | { readonly document: RecordedDocument }
  /** An answer that is no document. */
  | { readonly answer: Answer }
  | { readonly failure: PollFailure };

/** A document in the words of the wire. Only what is needed to list its events again is known of it. */
export interface RecordedDocument {
  readonly DocumentIncarnation: number;
  readonly Events: readonly { readonly EventId: string; readonly [field: string]: unknown }[];
}

export interface Answer {
  readonly status: number;
  /** Only those that control the next request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The first 64 KB. */
  readonly body: string;
}

export interface PollFailure {
  /** `no-answer`: none came in time. `broken`: the connection could not be made, or it broke. */
  readonly kind: 'no-answer' | 'broken';
  /** One sentence without its stop. */
  readonly reason: string;
}

export const format = 'scheduled-events-recording';
export const version = 1;

/** Whether its events can be listed again: each is an object with an id. Anything else is recorded as an answer. */
export function isDocument(value: unknown): value is RecordedDocument {
  if (!isObject(value) || !Number.isSafeInteger(value.DocumentIncarnation) || !Array.isArray(value.Events))
    return false;
  return value.Events.every((event) => isObject(event) && typeof event.EventId === 'string');
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a second poll gave nothing new. Of errors only the status counts, since their text may hold a time or an id. */
export function isSame(one: RecordedAnswer, other: RecordedAnswer): boolean {
  if ('document' in one && 'document' in other) return isDeepStrictEqual(one.document, other.document);
  if ('answer' in one && 'answer' in other) return one.answer.status === other.answer.status;
  return 'failure' in one && 'failure' in other && one.failure.kind === other.failure.kind;
}

export function writeHeader({ begunAt, ...rest }: Header): string {
  return line({ format, version, begunAt, ...rest });
}

export function writeChange({ atSeconds, seen }: Change): string {
  return line({ atSeconds, ...seen });
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;

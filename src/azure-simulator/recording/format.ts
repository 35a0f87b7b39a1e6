import type { VmDefinition } from '../imds/vm.ts';
import type { WireDocument } from '../imds/wire.ts';
import {
  isObject,
  type Kind,
  Misfit,
  name,
  number,
  oneOf,
  orNull,
  readFields,
  text,
  texts,
  wholeNumber,
} from '../read-fields.ts';
import { readVm } from '../vm-fields.ts';

/**
 * A recording is a file of JSON lines: first how it came about, then one line for each change of what the endpoint
 * answered. A change is written when it is seen, so a recording that was killed is a recording.
 */
export interface Recording {
  readonly beginning: Beginning;
  readonly changes: readonly Change[];
}

export interface Beginning {
  /** By the clock of who recorded. */
  readonly begunAt: Date;
  readonly endpoint: string;
  readonly apiVersion: string;
  /** Whom the endpoint belongs to; null where it did not say. */
  readonly vm: VmDefinition | null;
}

export interface Change {
  /** Since the beginning. */
  readonly atSeconds: number;
  readonly seen: Seen;
}

/** What one look at the endpoint gave. */
export type Seen =
  /** As it came, unknown fields included. */
  | { readonly document: WireDocument }
  /** An answer that is no document. */
  | { readonly answer: Answer }
  | { readonly failure: Failure };

export interface Answer {
  readonly status: number;
  /** Only those that tell a client what to do next. */
  readonly headers: Readonly<Record<string, string>>;
  /** At most 64 KB of it. */
  readonly body: string;
}

export interface Failure {
  /** `no-answer`: none came in time. `broken`: the connection could not be made, or it broke. */
  readonly kind: 'no-answer' | 'broken';
  /** One sentence without its stop. */
  readonly reason: string;
}

const format = 'scheduled-events-recording';
const version = 1;

/** A document whose entries are objects with an id: anything else cannot be listed again, only answered again. */
export function isDocument(value: unknown): value is WireDocument {
  if (!isObject(value) || !Number.isSafeInteger(value.DocumentIncarnation) || !Array.isArray(value.Events))
    return false;
  return value.Events.every((event) => isObject(event) && typeof event.EventId === 'string');
}

export function writeBeginning({ begunAt, ...rest }: Beginning): string {
  return line({ format, version, begunAt, ...rest });
}

export function writeChange({ atSeconds, seen }: Change): string {
  return line({ atSeconds, ...seen });
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;

const anObject: Kind<object> = { expected: 'an object', fits: isObject };
const moment: Kind<string> = {
  expected: 'a time as 2026-11-21T09:00:00.000Z',
  fits: (value): value is string => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
};
const beginningKinds = {
  format: oneOf(format),
  version: wholeNumber(version, version),
  begunAt: moment,
  endpoint: text,
  apiVersion: name,
  vm: orNull(anObject),
};
const document: Kind<WireDocument> = { expected: 'a document with its incarnation and its events', fits: isDocument };
const answerKinds = { status: wholeNumber(100, 599), headers: texts, body: text };
const failureKinds = { kind: oneOf('no-answer', 'broken'), reason: text };
const changeKinds = {
  atSeconds: number('a number of seconds', 0, Number.MAX_SAFE_INTEGER),
  document,
  answer: anObject,
  failure: anObject,
};

/** @param file as a sentence names it. @throws {Misfit} with file, line and what is wrong. */
export function readRecording(file: string, content: string): Recording {
  const [first = '', ...rest] = content.replace(/\n$/, '').split('\n');
  const beginning = readBeginning(`${file}, line 1`, first);
  const changes = rest.map((json, index) => readChange(`${file}, line ${index + 2}`, json));
  const back = changes.findIndex(({ atSeconds }, index) => atSeconds < (changes[index - 1]?.atSeconds ?? 0));
  if (back >= 0) throw new Misfit(`${file}, line ${back + 2} is earlier than the line before it`);
  if (changes.length === 0) throw new Misfit(`${file} holds no change: there is nothing to replay`);
  return { beginning, changes };
}

function readBeginning(where: string, json: string): Beginning {
  const value = parsed(json);
  if (!isObject(value) || value.format !== format) {
    throw new Misfit(`${where} is not the beginning of a recording; expected a file that simulate --record wrote`);
  }
  const { begunAt, endpoint = '', apiVersion, vm } = readFields(where, value, beginningKinds);
  if (begunAt === undefined || apiVersion === undefined) throw new Misfit(`${where} lacks begunAt or apiVersion`);
  return { begunAt: new Date(begunAt), endpoint, apiVersion, vm: vm ? readVm(`vm in ${where}`, vm) : null };
}

function readChange(where: string, json: string): Change {
  const value = parsed(json);
  if (value === undefined) {
    throw new Misfit(`${where} is not JSON; where a power cut ended the recording, remove the last line`);
  }
  const { atSeconds, document, answer, failure } = readFields(where, value, changeKinds);
  if (atSeconds === undefined) throw new Misfit(`${where} lacks atSeconds`);
  if (document) return { atSeconds, seen: { document } };
  if (answer) {
    const { status, headers = {}, body = '' } = readFields(`answer in ${where}`, answer, answerKinds);
    if (status === undefined) throw new Misfit(`answer in ${where} lacks a status`);
    return { atSeconds, seen: { answer: { status, headers, body } } };
  }
  if (!failure) throw new Misfit(`${where} holds no document, no answer and no failure`);
  const { kind, reason = '' } = readFields(`failure in ${where}`, failure, failureKinds);
  if (kind === undefined) throw new Misfit(`failure in ${where} lacks its kind`);
  return { atSeconds, seen: { failure: { kind, reason } } };
}

/** Undefined when it is no JSON. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

import {
  type Change,
  format,
  type Header,
  isDocument,
  type RecordedDocument,
  version,
} from '../../recording/format.ts';
import type { VmDefinition } from '../imds/vm.ts';
import {
  InvalidInput,
  isObject,
  type Kind,
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

export interface Recording {
  readonly header: Omit<Header, 'vm'> & { readonly vm: VmDefinition | null };
  readonly changes: readonly Change[];
}

const anObject: Kind<object> = { expected: 'an object', fits: isObject };
const time: Kind<string> = {
  expected: 'a time as 2026-11-21T09:00:00.000Z',
  fits: (value): value is string => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
};
const headerKinds = {
  format: oneOf(format),
  version: wholeNumber(version, version),
  begunAt: time,
  endpoint: text,
  apiVersion: name,
  vm: orNull(anObject),
};
const document: Kind<RecordedDocument> = {
  expected: 'a document with its incarnation and its events',
  fits: isDocument,
};
const answerKinds = { status: wholeNumber(100, 599), headers: texts, body: text };
const failureKinds = { kind: oneOf('no-answer', 'broken'), reason: text };
const changeKinds = {
  atSeconds: number('a number of seconds', 0, Number.MAX_SAFE_INTEGER),
  document,
  answer: anObject,
  failure: anObject,
};

/** @param file as a sentence names it. @throws {InvalidInput} with file, line and the problem. */
export function readRecording(file: string, content: string): Recording {
  const [first = '', ...rest] = content.replace(/\n$/, '').split('\n');
  const header = readHeader(`${file}, line 1`, first);
  const changes = rest.map((json, index) => readChange(`${file}, line ${index + 2}`, json));
  const back = changes.findIndex(({ atSeconds }, index) => atSeconds < (changes[index - 1]?.atSeconds ?? 0));
  if (back >= 0) throw new InvalidInput(`${file}, line ${back + 2} is earlier than the line before it`);
  if (changes.length === 0) throw new InvalidInput(`${file} holds no change: there is nothing to replay`);
  return { header, changes };
}

function readHeader(where: string, json: string): Recording['header'] {
  const value = parsed(json);
  if (!isObject(value) || value.format !== format) {
    throw new InvalidInput(
      `${where} is not the header of a recording; expected a file that scheduled-events-bridge record wrote`,
    );
  }
  const { begunAt, endpoint = '', apiVersion, vm } = readFields(where, value, headerKinds);
  if (begunAt === undefined || apiVersion === undefined) throw new InvalidInput(`${where} lacks begunAt or apiVersion`);
  return { begunAt: new Date(begunAt), endpoint, apiVersion, vm: vm ? readVm(`vm in ${where}`, vm) : null };
}

function readChange(where: string, json: string): Change {
  const value = parsed(json);
  if (value === undefined) {
    throw new InvalidInput(`${where} is not JSON; where a power cut ended the recording, remove the last line`);
  }
  const { atSeconds, document, answer, failure } = readFields(where, value, changeKinds);
  if (atSeconds === undefined) throw new InvalidInput(`${where} lacks atSeconds`);
  if (document) return { atSeconds, seen: { document } };
  if (answer) {
    const { status, headers = {}, body = '' } = readFields(`answer in ${where}`, answer, answerKinds);
    if (status === undefined) throw new InvalidInput(`answer in ${where} lacks a status`);
    return { atSeconds, seen: { answer: { status, headers, body } } };
  }
  if (!failure) throw new InvalidInput(`${where} holds no document, no answer and no failure`);
  const { kind, reason = '' } = readFields(`failure in ${where}`, failure, failureKinds);
  if (kind === undefined) throw new InvalidInput(`failure in ${where} lacks its kind`);
  return { atSeconds, seen: { failure: { kind, reason } } };
}

/** Undefined when it is not JSON. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

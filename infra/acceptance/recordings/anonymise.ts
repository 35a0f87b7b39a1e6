import { readRecording } from '../../../src/azure-simulator/recording/read-recording.ts';
import { type RecordedAnswer, type RecordedDocument, writeChange, writeHeader } from '../../../src/recording/format.ts';
import { createStrictMask, createTextMask, type TextMask } from './mask-text.ts';
import type { KnownName } from './names.ts';
import { createPseudonyms, type Pseudonyms } from './pseudonyms.ts';
import { type Shift, shiftFrom } from './shift-dates.ts';
import { isAzureWord, isShortNumber } from './vocabulary.ts';

export interface Anonymised {
  /** A recording with the same structure and times, for `simulate --replay`. */
  readonly text: string;
  /** How many different originals were replaced, by kind. */
  readonly replaced: Readonly<Record<string, number>>;
  /** What was left out: headers of answers, tags. */
  readonly removed: readonly string[];
}

/**
 * A recording without what identifies a subscription or a person in it. What is kept is listed, not what is replaced: Azure's own words,
 * short numbers, and the fields of a document. Every other text gets a pseudonym, the same for equal texts, and every date is moved by the
 * same time.
 * @param known names of the run, so that their pseudonyms show their kinds. @throws {InvalidInput} if the text is no recording.
 */
export function anonymise(text: string, known: readonly KnownName[] = []): Anonymised {
  const { header, changes } = readRecording('the recording', text);
  const { vm } = header;
  const names = distinct([
    ...(vm?.scaleSet ? [{ kind: 'scale-set', name: vm.scaleSet } as const] : []),
    ...(vm ? [{ kind: 'vm', name: vm.name } as const] : []),
    ...(vm?.resourceGroup ? [{ kind: 'resource-group', name: vm.resourceGroup } as const] : []),
    ...known,
    ...changes.flatMap(({ seen }) => vmsIn(seen)),
  ]);
  const pseudonyms = createPseudonyms(names);
  const shift = shiftFrom(header.begunAt);
  const maskNames = createTextMask(names);
  const tools: Tools = {
    pseudonyms,
    shift,
    mask: createStrictMask(names, pseudonyms, shift),
    isKnown: (text) => maskNames(text) !== text,
    removed: new Set(),
  };
  const lines = [
    writeHeader({
      begunAt: shift.date(header.begunAt),
      endpoint: 'http://169.254.169.254',
      apiVersion: /^\d{4}-\d\d-\d\d$/.test(header.apiVersion) ? header.apiVersion : tools.mask(header.apiVersion),
      vm: vm === null ? null : { ...vmFields(vm, tools), name: pseudonyms.name('vm', vm.name) },
    }),
    ...changes.map(({ atSeconds, seen }) => writeChange({ atSeconds, seen: answerOf(seen, tools) })),
  ];
  return { text: lines.join(''), replaced: pseudonyms.replaced, removed: [...tools.removed].sort() };
}

function distinct(names: readonly KnownName[]): readonly KnownName[] {
  // The first of equal names decides about its kind.
  const byName = new Map(names.map((known) => [known.name.toLowerCase(), known]).reverse() as [string, KnownName][]);
  return [...byName.values()].reverse();
}

function vmsIn(seen: RecordedAnswer): readonly KnownName[] {
  const events = 'document' in seen ? seen.document.Events : [];
  const resources = events.flatMap(({ Resources }) => (Array.isArray(Resources) ? (Resources as unknown[]) : []));
  return resources.flatMap((name) =>
    typeof name === 'string' && name !== '' ? [{ kind: 'vm', name: name.replace(/^_+(?=.)/, '') }] : [],
  );
}

interface Tools {
  readonly pseudonyms: Pseudonyms;
  readonly shift: Shift;
  readonly mask: TextMask;
  /** Whether one of the known names is in it. */
  readonly isKnown: (text: string) => boolean;
  readonly removed: Set<string>;
}

/** What the header says of the VM; sizes, images and regions are Azure's, and show nothing of whose VM it is. */
function vmFields(vm: object, tools: Tools): Readonly<Record<string, unknown>> {
  const { pseudonyms, mask } = tools;
  const fields = Object.entries(vm).flatMap(([field, value]): (readonly [string, unknown])[] => {
    if (field === 'tags') {
      tools.removed.add('vm.tags');
      return [];
    }
    if (field === 'image') return [[field, imageOf(value, tools)]];
    if (typeof value !== 'string' || value === '') return [[field, valueIn(value, field, tools)]];
    if (field === 'scaleSet') return [[field, pseudonyms.name('scale-set', value)]];
    if (field === 'resourceGroup') return [[field, pseudonyms.name('resource-group', value)]];
    const isKept = vmShapes[field]?.test(value) ?? false;
    return [[field, isKept ? value : mask(value)]];
  });
  return Object.fromEntries(fields);
}

const vmShapes: Readonly<Record<string, RegExp>> = {
  location: /^[a-z]+\d?$/,
  physicalZone: /^[a-z]+\d?-az\d$/,
  vmSize: /^(Standard|Basic)_[A-Z]{1,3}\d{1,3}[a-z]*(-\d{1,3}[a-z]*)?(_[A-Z]{1,3}\d{1,3})*(_v\d)?(_Promo)?$/,
};

function imageOf(image: object, { mask }: Tools): Readonly<Record<string, string>> {
  const parts = Object.entries(image).map(([part, value]: [string, string]) => {
    const isVersion = part === 'version' && /^[\d.]{1,30}$/.test(value);
    return [part, isVersion ? value : mask(value)];
  });
  return Object.fromEntries(parts);
}

function answerOf(seen: RecordedAnswer, tools: Tools): RecordedAnswer {
  if ('document' in seen) return { document: documentOf(seen.document, tools) };
  if ('failure' in seen) {
    return { failure: { kind: seen.failure.kind, reason: tools.mask(seen.failure.reason) } };
  }
  const { status, headers, body } = seen.answer;
  return { answer: { status, headers: headersOf(headers, tools), body: bodyOf(body, tools) } };
}

function headersOf(
  headers: Readonly<Record<string, string>>,
  { mask, removed }: Tools,
): Readonly<Record<string, string>> {
  const kept = Object.entries(headers).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    if (lower === 'location') return [[name, 'http://host-0.invalid/'] as const];
    if (['retry-after', 'date', 'content-type', 'content-length'].includes(lower))
      return [[name, mask(value)] as const];
    removed.add(isAzureWord(name) || /^x-ms-[a-z-]+$/i.test(name) ? `header ${lower}` : 'another header');
    return [];
  });
  return Object.fromEntries(kept);
}

/** JSON stays JSON. */
function bodyOf(body: string, tools: Tools): string {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return tools.mask(body);
  }
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? JSON.stringify(tools.mask(value)) : body;
  return JSON.stringify(valueIn(value, '', tools));
}

function documentOf(document: RecordedDocument, tools: Tools): RecordedDocument {
  const fields = Object.entries(document).map(([name, value]): readonly [string, unknown] => {
    if (name === 'DocumentIncarnation') return [name, value];
    if (name === 'Events') return [name, document.Events.map((event) => eventOf(event, tools))];
    return [fieldName(name, tools), valueIn(value, name, tools)];
  });
  return Object.fromEntries(fields) as unknown as RecordedDocument;
}

function eventOf(event: RecordedDocument['Events'][number], tools: Tools): RecordedDocument['Events'][number] {
  const fields = Object.entries(event).map(([name, value]) => [fieldName(name, tools), fieldOf(name, value, tools)]);
  return Object.fromEntries(fields);
}

function fieldOf(name: string, value: unknown, tools: Tools): unknown {
  const { pseudonyms } = tools;
  if (name === 'EventId' && typeof value === 'string') {
    return isGuid(value) ? pseudonyms.guid(value) : pseudonyms.numbered('event', value.toLowerCase());
  }
  if (name === 'Resources' && Array.isArray(value)) {
    return value.map((entry) =>
      typeof entry === 'string' ? pseudonyms.name('vm', entry) : valueIn(entry, name, tools),
    );
  }
  // A new word of Azure's is a finding: it stays if it is one word.
  if (enumerations.includes(name) && typeof value === 'string' && isWord(value, tools)) return value;
  if (name === 'DurationInSeconds' && typeof value === 'number') return value;
  return valueIn(value, name, tools);
}

const enumerations = ['EventType', 'EventStatus', 'EventSource', 'ResourceType'];

/** Any value of a field that no document describes. */
function valueIn(value: unknown, field: string, tools: Tools): unknown {
  const { pseudonyms, shift, mask, removed } = tools;
  if (typeof value === 'number') return numberIn(value, tools);
  if (typeof value === 'string') return isGuid(value) ? pseudonyms.guid(value) : (shift.text(value) ?? mask(value));
  if (/^tags?(list)?$/i.test(field) && value !== null && typeof value === 'object') {
    removed.add(`contents of ${field}`);
    return Array.isArray(value) ? [] : {};
  }
  if (Array.isArray(value)) return value.map((entry) => valueIn(entry, field, tools));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([name, entry]) => [
    isAzureWord(name) ? name : pseudonyms.numbered('field', name),
    valueIn(entry, name, tools),
  ]);
  return Object.fromEntries(entries);
}

/** A long number may be an id: its last digits become its number among such numbers. */
function numberIn(value: number, { pseudonyms, shift }: Tools): number {
  const moved = shift.number(value);
  if (moved !== value || !Number.isInteger(value) || isShortNumber(String(Math.abs(value)))) return moved;
  return Math.sign(value) * (1_000_000_000 + Number(pseudonyms.numbered('number', String(value)).split('-').at(-1)));
}

/** The names of fields of a document and its events are Azure's. */
const fieldName = (name: string, tools: Tools): string =>
  isWord(name, tools) ? name : tools.pseudonyms.numbered('field', name);

const isWord = (text: string, { isKnown }: Tools): boolean =>
  isAzureWord(text) || (/^[A-Za-z]{1,40}$/.test(text) && !isKnown(text));

const isGuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);

import { converted, textOf } from '../convert.ts';
import { jsonText, parseJson } from '../json.ts';
import { elementAt, stepsOf } from '../path.ts';
import { regexOf } from '../regex.ts';
import type { Call, ScalarFunction, ScalarFunctions } from '../scope.ts';
import { unsupported } from '../unsupported.ts';
import { isArray, type TypeName, type Value } from '../values.ts';
import { textAt } from './text.ts';

/** `typeof(int)` arrives as the text of the type. */
const typeArgument = (value: Value | undefined): TypeName | undefined =>
  typeof value === 'string' ? value : undefined;

function extract(args: readonly Value[], call: Call): Value {
  const [, group = null, , type] = args;
  if (typeof group !== 'bigint') return unsupported('extract() of a group that is no number');
  const found = regexOf(textAt(args, 0, call)).exec(textAt(args, 2, call));
  const text = found?.[Number(group)];
  const target = typeArgument(type) ?? 'string';
  if (text === undefined) return target === 'string' ? '' : null;
  return target === 'string' ? text : converted(text, 'string', target);
}

function extractAll(args: readonly Value[], call: Call): Value {
  const regex = regexOf(textAt(args, 0, call), 'g');
  const groups = args.length > 2 ? args[1] : undefined;
  const text = textAt(args, args.length - 1, call);
  const matches = [...text.matchAll(regex)];
  const count = countGroups(regex);
  if (count === 0) return unsupported('extract_all() without groups');
  if (matches.length === 0) return null;
  const wanted = groups === undefined ? Array.from({ length: count }, (_, index) => BigInt(index + 1)) : groups;
  if (!isArray(wanted)) return unsupported('extract_all() of groups that are no array');
  const picked = matches.map((match) => wanted.map((group) => groupOf(match, group)));
  return wanted.length === 1 ? picked.map(([only]) => only ?? '') : picked;
}

const countGroups = (regex: RegExp): number => (new RegExp(`${regex.source}|`, regex.flags).exec('')?.length ?? 1) - 1;

function groupOf(match: RegExpMatchArray, group: Value): Value {
  if (typeof group === 'bigint') return match[Number(group)] ?? '';
  return (typeof group === 'string' ? match.groups?.[group] : undefined) ?? '';
}

/** `\1` in a replacement is the first group, `\0` all that was found. */
function replaceRegex(args: readonly Value[], call: Call): Value {
  const replacement = textAt(args, 2, call);
  if (/\\[^0-9]/.test(replacement)) return unsupported(`the replacement ${replacement}`);
  const regex = regexOf(textAt(args, 1, call), 'g');
  return textAt(args, 0, call).replace(regex, (...match) =>
    replacement.replace(/\\(\d)/g, (_, group) => String(match[Number(group)] ?? '')),
  );
}

/** Cuts one match from the start, the end or both. */
const trim =
  (ends: 'start' | 'end' | 'both'): ScalarFunction =>
  (args, call) => {
    const pattern = textAt(args, 0, call);
    let text = textAt(args, 1, call);
    if (ends !== 'end') text = text.replace(regexOf(`^(?:${pattern})`), '');
    if (ends !== 'start') text = text.replace(regexOf(`(?:${pattern})$`), '');
    return text;
  };

function countOf(args: readonly Value[], call: Call): Value {
  const [text, search] = [textAt(args, 0, call), textAt(args, 1, call)];
  const kind = args.length > 2 ? textAt(args, 2, call) : 'normal';
  if (search === '') return unsupported('countof() nothing');
  if (kind === 'regex') return BigInt([...text.matchAll(regexOf(search, 'g'))].length);
  if (kind !== 'normal') return unsupported(`countof() of kind ${kind}`);
  let count = 0n;
  for (let at = text.indexOf(search); at >= 0; at = text.indexOf(search, at + 1)) count++;
  return count;
}

/** `indexof(text, search, start, length, occurrence)`: a place counted from the beginning of the text, or -1. */
function indexOf(args: readonly Value[], call: Call): Value {
  const [text, search] = [textAt(args, 0, call), textAt(args, 1, call)];
  const [, , start = 0n, length = -1n, occurrence = 1n] = args;
  if (search === '') return null;
  if (typeof start !== 'bigint' || typeof length !== 'bigint' || typeof occurrence !== 'bigint') {
    return unsupported('indexof() with what is no whole number');
  }
  if (length !== -1n && occurrence !== 1n) return unsupported('a later occurrence in a part of the text');
  if (length < -1n || occurrence < 1n || -start > BigInt(text.length)) return unsupported('indexof() of no place');
  if (text.length !== [...text].length) return unsupported('indexof() in text beyond the basic plane');
  const from = start < 0n ? text.length + Number(start) : Number(start);
  const part = length === -1n ? text : text.slice(0, from + Number(length));
  let at = part.indexOf(search, from);
  for (let count = 1n; count < occurrence && at >= 0; count++) at = part.indexOf(search, at + 1);
  return BigInt(at);
}

function extractJson(args: readonly Value[], call: Call): Value {
  const path = textAt(args, 0, call);
  const type = typeArgument(args[2]) ?? 'string';
  const document = parseJson(textAt(args, 1, call));
  if (document === undefined) return type === 'string' ? '' : null;
  const found = stepsOf(path).reduce<Value>((holder, step) => elementAt(holder, step), document);
  if (type === 'string' && typeof found !== 'string') return found === null ? '' : jsonText(found);
  return converted(found, 'dynamic', type);
}

export const textSearchFunctions: ScalarFunctions = {
  extract,
  extract_all: extractAll,
  extract_json: extractJson,
  extractjson: extractJson,
  replace_regex: replaceRegex,
  trim: trim('both'),
  trim_start: trim('start'),
  trim_end: trim('end'),
  countof: countOf,
  indexof: indexOf,
  has_any_index: (args, call) => {
    const [, terms = null] = args;
    if (!isArray(terms)) return unsupported('has_any_index() without an array');
    const text = textAt(args, 0, call).toLowerCase();
    if (!/^[a-z0-9 ]*$/.test(text)) return unsupported('has_any_index() in text with more than letters');
    const words = text.split(' ');
    return BigInt(terms.findIndex((term) => words.includes(textOf(term, 'dynamic').toLowerCase())));
  },
};

import { createHash } from 'node:crypto';
import { textOf } from '../convert.ts';
import type { Call, ScalarFunction, ScalarFunctions } from '../scope.ts';
import { unsupported } from '../unsupported.ts';
import { isArray, isBag, type Value } from '../values.ts';

/** The argument as text; what is none is converted as `tostring` does. */
export const textAt = (args: readonly Value[], index: number, call: Call): string =>
  textOf(args[index] ?? null, call.types[index] ?? 'unknown');

/** A function of the text of its first argument. */
const ofText =
  (calculate: (text: string) => Value): ScalarFunction =>
  (args, call) =>
    calculate(textAt(args, 0, call));

/** Text is counted in code points. */
const points = (text: string): string[] => [...text];

function substring(args: readonly Value[], call: Call): Value {
  const characters = points(textAt(args, 0, call));
  const [, start = null, length] = args;
  if (typeof start !== 'bigint' || (length !== undefined && typeof length !== 'bigint')) {
    return unsupported('substring() without whole numbers');
  }
  const from = start < 0n ? characters.length + Number(start) : Number(start);
  if (from < 0) {
    const isNothing = length !== undefined || characters.length === 0;
    return isNothing ? '' : unsupported('the end of a text from before its beginning');
  }
  const to = length === undefined ? characters.length : from + Number(length);
  return characters.slice(from, Math.max(0, to)).join('');
}

function concatenated(texts: readonly string[], separator = ''): string {
  return texts.join(separator);
}

const allTexts = (args: readonly Value[], call: Call, from = 0): string[] =>
  args.slice(from).map((_, index) => textAt(args, index + from, call));

function split(args: readonly Value[], call: Call): Value {
  const [text, separator] = [textAt(args, 0, call), textAt(args, 1, call)];
  if (separator === '') return unsupported('split() at nothing');
  const parts = text.split(separator);
  const [, , index] = args;
  if (index === undefined) return parts;
  if (typeof index !== 'bigint' || index < 0n) return unsupported('split() with an index that is no count');
  const found = parts[Number(index)];
  return found === undefined ? null : [found];
}

function repeated(args: readonly Value[], call: Call): Value {
  const [, times = null] = args;
  if (typeof times !== 'bigint' || times < 0n || times > 1024n) return unsupported('strrep() of no count up to 1024');
  return Array.from({ length: Number(times) }, () => textAt(args, 0, call)).join(
    args.length > 2 ? textAt(args, 2, call) : '',
  );
}

function joinedArray(args: readonly Value[], call: Call): Value {
  const [items = null] = args;
  if (!isArray(items)) return items === null ? '' : unsupported('strcat_array() of no array');
  return items.map((item) => textOf(item, 'dynamic')).join(textAt(args, 1, call));
}

type Piece = { readonly text: string; readonly isDone: boolean };

/**
 * `replace_strings`: the lookups one after the other, each in what no lookup before it has found. A replacement that is
 * no string leaves what was found as it is.
 */
function replacedAll(args: readonly Value[], call: Call): Value {
  const [, lookups = null, replacements = null] = args;
  if (!isArray(lookups) || !isArray(replacements) || lookups.length !== replacements.length) {
    return unsupported('replace_strings() without two arrays of one length');
  }
  const whole: Piece[] = [{ text: textAt(args, 0, call), isDone: false }];
  const pieces = lookups.reduce<Piece[]>((before, lookup, index) => {
    if (typeof lookup !== 'string' || lookup === '') return unsupported('replace_strings() of what is no text');
    const replacement = replacements[index] ?? null;
    const done: Piece = { text: typeof replacement === 'string' ? replacement : lookup, isDone: true };
    return before.flatMap((piece) => (piece.isDone ? [piece] : between(piece.text.split(lookup), done)));
  }, whole);
  return pieces.map(({ text }) => text).join('');
}

const between = (texts: readonly string[], separator: Piece): Piece[] =>
  texts.flatMap((text, index): Piece[] => [...(index > 0 ? [separator] : []), { text, isDone: false }]);

function decoded(text: string): string {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) return unsupported('base64 that is not canonical');
  return bytes.toString('utf8');
}

export const textFunctions: ScalarFunctions = {
  strlen: ofText((text) => BigInt(points(text).length)),
  string_size: ofText((text) => BigInt(Buffer.byteLength(text))),
  tolower: ofText((text) => text.toLowerCase()),
  toupper: ofText((text) => points(text).map(upper).join('')),
  reverse: ofText((text) => points(text).reverse().join('')),
  substring,
  strcat: (args, call) => concatenated(allTexts(args, call)),
  strcat_delim: (args, call) => concatenated(allTexts(args, call, 1), textAt(args, 0, call)),
  strcat_array: joinedArray,
  strrep: repeated,
  strcmp: (args, call) => {
    const [a, b] = [textAt(args, 0, call), textAt(args, 1, call)];
    return a < b ? -1n : a > b ? 1n : 0n;
  },
  split,
  replace_string: (args, call) => {
    const lookup = textAt(args, 1, call);
    const text = textAt(args, 0, call);
    return lookup === '' ? text : text.replaceAll(lookup, () => textAt(args, 2, call));
  },
  replace_strings: replacedAll,
  base64_encode_tostring: ofText((text) => Buffer.from(text).toString('base64')),
  base64_decode_tostring: ofText(decoded),
  url_decode: ofText((text) => {
    try {
      return text.includes('+') ? unsupported('url_decode() of a plus') : decodeURIComponent(text);
    } catch {
      return unsupported('url_decode() of text that is not encoded');
    }
  }),
  hash_sha256: (args, call) => {
    const [value = null] = args;
    if (typeof value !== 'string' || isBag(value)) return unsupported('hash_sha256() of what is no text');
    return createHash('sha256')
      .update(textAt(args, 0, call))
      .digest('hex');
  },
};

/** One character stays one: .NET does not make `SS` of `ß`. */
const upper = (character: string): string => {
  const raised = character.toUpperCase();
  return points(raised).length === 1 ? raised : character;
};

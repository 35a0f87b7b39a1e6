import type { KindNames, SyntaxNode } from './language-service.ts';
import { listOf, part, tokensOf } from './syntax.ts';
import { momentOf, parseDatetime, parseTimespan } from './time-text.ts';
import { unsupported } from './unsupported.ts';
import { guid, isInt, isLong, type Value } from './values.ts';

/** The value of a literal, or `undefined` when the node is no literal. */
export function literalOf(node: SyntaxNode, kinds: KindNames): Value | undefined {
  const kind = kinds.syntax(node);
  const read = literals[kind];
  if (kind === 'DynamicExpression') return jsonOf(part(node, 'Expression'), kinds);
  if (!read) return undefined;
  if (kind === 'StringLiteralExpression' || kind === 'CompoundStringLiteralExpression')
    return String(node.LiteralValue);
  const text = insideOf(tokensOf(node));
  return text === 'null' ? null : read(text);
}

/** `long(5)` and `5` are the same text. */
const insideOf = (text: string): string =>
  (/^[a-zA-Z]+\s*\((.*)\)$/s.exec(text)?.[1] ?? text).trim().replace(/^(["'])(.*)\1$/s, '$2');

const literals: Readonly<Record<string, (text: string) => Value>> = {
  StringLiteralExpression: (text) => text,
  CompoundStringLiteralExpression: (text) => text,
  NullLiteralExpression: () => null,
  BooleanLiteralExpression: (text) => {
    const known = booleans.get(text.toLowerCase());
    return known ?? unsupported(`the literal bool(${text})`);
  },
  IntLiteralExpression: (text) => whole(text, isInt),
  LongLiteralExpression: (text) => whole(text, isLong),
  RealLiteralExpression: (text) => reals.get(text.toLowerCase()) ?? real(text),
  DateTimeLiteralExpression: (text) => {
    const parts = /^(\d{4}),\s*(\d+),\s*(\d+)$/.exec(text);
    if (parts) return momentOf([Number(parts[1]), Number(parts[2]), Number(parts[3])]);
    const year = /^\d{4}$/.test(text) ? `${text}-01-01` : /^\d{4}-\d{2}$/.test(text) ? `${text}-01` : text;
    return parseDatetime(year) ?? unsupported(`the literal datetime(${text})`);
  },
  TimespanLiteralExpression: (text) => parseTimespan(text) ?? unsupported(`the literal timespan(${text})`),
  TypeOfLiteralExpression: (text) => typeNames[text] ?? text,
  GuidLiteralExpression: (text) =>
    /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) ? guid(text) : unsupported(`the literal guid(${text})`),
};

/** Other names of the scalar types. */
const typeNames: Readonly<Record<string, string>> = {
  double: 'real',
  boolean: 'bool',
  date: 'datetime',
  time: 'timespan',
  uniqueid: 'guid',
};

const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
]);

const reals: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['+inf', Number.POSITIVE_INFINITY],
  ['inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
]);

function whole(text: string, isInRange: (value: bigint) => boolean): Value {
  const digits = /^(-)?(0x[0-9a-f]+|\d+)$/i.exec(text);
  if (!digits) return unsupported(`the number ${text}`);
  const value = BigInt(digits[2] ?? '');
  const signed = digits[1] ? -value : value;
  return isInRange(signed) ? signed : unsupported(`the number ${text}, which is out of range`);
}

function real(text: string): number {
  return /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : unsupported(`the number ${text}`);
}

/** The value inside `dynamic(…)`: JSON, and literals of Kusto's own types. */
function jsonOf(node: SyntaxNode, kinds: KindNames): Value {
  const kind = kinds.syntax(node);
  if (kind === 'JsonArrayExpression') return listOf(node, 'Values').map((each) => jsonOf(each, kinds));
  if (kind === 'JsonObjectExpression') {
    return new Map(
      listOf(node, 'Pairs').map((pair) => {
        return [
          part(pair, 'Name').ValueText ?? unsupported('a property without a name'),
          jsonOf(part(pair, 'Value'), kinds),
        ];
      }),
    );
  }
  if (kind === 'UnaryMinusExpression') {
    const value = jsonOf(part(node, 'Expression'), kinds);
    if (typeof value === 'bigint' || typeof value === 'number') return -value;
  }
  return literalOf(node, kinds) ?? nullOrUnsupported(kind);
}

const nullOrUnsupported = (kind: string): Value =>
  kind.endsWith('LiteralExpression') ? null : unsupported(`${kind} inside dynamic()`);

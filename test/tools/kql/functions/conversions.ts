import { boolOf, datetimeOf, guidOf, intOf, longOf, parsed, realOf, textOf, timespanOf } from '../convert.ts';
import { jsonText } from '../json.ts';
import type { SyntaxNode } from '../language-service.ts';
import type { Evaluate, ScalarFunction, ScalarFunctions, Scope } from '../scope.ts';
import { argumentsOf, typeOf } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { isArray, isBag, typeOfValue, type Value } from '../values.ts';

const first = ([value]: readonly Value[]): Value => value ?? null;
const of =
  (convert: (value: Value) => Value): ScalarFunction =>
  (args) =>
    convert(first(args));

/** Property bags with their names in order, all the way down. */
function inOrder(value: Value): Value {
  if (isArray(value)) return value.map(inOrder);
  if (!isBag(value)) return value;
  const pairs = [...value].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(pairs.map(([name, each]) => [name, inOrder(each)]));
}

const isEmpty = (value: Value): boolean => value === null || value === '';

/** `gettype` gives the JSON type of a dynamic value; of another the static type. */
function typeName(value: Value, type: string): string {
  if (type !== 'dynamic') return type;
  const own = typeOfValue(value);
  return { bag: 'dictionary', real: 'double' }[own] ?? own;
}

export const conversionFunctions: ScalarFunctions = {
  toint: of(intOf),
  tolong: of(longOf),
  toreal: of(realOf),
  todouble: of(realOf),
  tobool: of(boolOf),
  toboolean: of(boolOf),
  todatetime: of(datetimeOf),
  totimespan: of(timespanOf),
  toguid: of(guidOf),
  tostring: (args, { types }) => textOf(first(args), types[0] ?? 'unknown'),
  todynamic: of(parsed),
  parse_json: of(parsed),
  parsejson: of(parsed),
  dynamic_to_json: of((value) => (value === null ? '' : jsonText(inOrder(value)))),
  gettype: (args, { types }) => typeName(first(args), types[0] ?? 'unknown'),
  isempty: of(isEmpty),
  isnotempty: of((value) => !isEmpty(value)),
  notempty: of((value) => !isEmpty(value)),
  tohex: ([value = null, width = null], { types }) => {
    if (value === null) return '';
    if (typeof value !== 'bigint') return unsupported('tohex() of no whole number');
    const length = typeof width === 'bigint' ? Number(width) : 0;
    return BigInt.asUintN(types[0] === 'int' ? 32 : 64, value)
      .toString(16)
      .padStart(length, '0');
  },
};

/** A string is never null. */
export function compileIsNull(node: SyntaxNode, scope: Scope): Evaluate {
  const [argument] = argumentsOf(node);
  if (!argument) return unsupported('isnull() of nothing');
  const value = scope.engine.compile(argument, scope);
  return typeOf(argument) === 'string' ? () => false : (frame) => value(frame) === null;
}

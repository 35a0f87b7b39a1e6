import { converted } from '../convert.ts';
import { constantOf } from '../expression.ts';
import { unnamed } from '../functions/special-forms.ts';
import type { SyntaxNode } from '../language-service.ts';
import { type Evaluate, type Frame, frames, over, type Row, type Scope, type Table } from '../scope.ts';
import {
  type Column,
  listOf,
  nameOf,
  parametersOf,
  part,
  partIfAny,
  simpleName,
  tableColumns,
  tokensOf,
  typeOf,
} from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { cellOf, isArray, isBag, type TypeName, type Value } from '../values.ts';

/** What `mv-expand` and `mv-apply` make rows of. */
export type Expansion = {
  readonly name: string | undefined;
  readonly value: Evaluate;
  /** The type to convert to, `dynamic` when none is said. */
  readonly type: TypeName;
};

export type ExpandedRow = {
  readonly source: Row;
  /** One value for each expansion. */
  readonly values: readonly Value[];
  readonly index: bigint;
};

/** `mv-expand`: a row for each item of an array or each property of a bag; several are walked side by side. */
export function mvExpand(node: SyntaxNode, input: Table, scope: Scope): Table {
  const columns = tableColumns(node);
  const { expansions, indexName, limit, isBagArray } = readExpansions(node, input, scope);
  const names = namesOf(expansions, columns, input.columns, indexName);
  const places = columns.map((column): ((row: ExpandedRow) => Value) => {
    if (column.name === indexName) return (row) => row.index;
    const at = names.lastIndexOf(column.name);
    if (at >= 0) return (row) => cellOf(row.values[at] ?? null, column.type);
    const source = input.columns.findIndex((each) => each.name === column.name);
    return source < 0 ? unsupported(`the column ${column.name} of mv-expand`) : (row) => row.source[source] ?? null;
  });
  const rows = frames(input.rows).flatMap((frame) =>
    expandRow(frame, expansions, isBagArray)
      .slice(0, limit)
      .map((row) => places.map((place) => place(row))),
  );
  return { columns, rows, serialized: input.serialized };
}

export function readExpansions(node: SyntaxNode, input: Table, scope: Scope) {
  const parameters = parametersOf(node);
  for (const name of parameters.keys()) {
    if (!/^(kind|bagexpansion|with_itemindex)$/.test(name)) return unsupported(`${name}= of mv-expand`);
  }
  const kind = parameters.get('kind') ?? parameters.get('bagexpansion');
  const index = parameters.get('with_itemindex');
  const limitClause = partIfAny(node, 'RowLimitClause');
  const limit = limitClause ? constantOf(part(limitClause, 'RowLimit'), scope) : undefined;
  const expansions = listOf(node, 'Expressions').map((each): Expansion => {
    const expression = part(each, 'Expression');
    const value = unnamed(expression);
    if (typeOf(value) !== 'dynamic') return unsupported(`the expansion of a ${typeOf(value)}`);
    const toType = partIfAny(each, 'ToTypeOf');
    const target = toType ? constantOf(part(toType, 'TypeOf'), scope) : 'dynamic';
    return {
      name: value === expression ? simpleName(expression) : nameOf(part(expression, 'Name')),
      value: scope.engine.compile(value, over(input, scope)),
      type: typeof target === 'string' ? target : unsupported('a type that is no name'),
    };
  });
  return {
    expansions,
    indexName: index && tokensOf(index),
    limit: typeof limit === 'bigint' ? Number(limit) : undefined,
    isBagArray: kind !== undefined && tokensOf(kind) === 'array',
  };
}

function namesOf(
  expansions: readonly Expansion[],
  columns: readonly Column[],
  before: readonly Column[],
  indexName: string | undefined,
): string[] {
  const known = new Set([...before.map(({ name }) => name), ...expansions.map(({ name }) => name), indexName]);
  const invented = columns.filter(({ name }) => !known.has(name)).map(({ name }) => name);
  return expansions.map(({ name }) => name ?? invented.shift() ?? unsupported('an expansion without a name'));
}

/** The rows of one row. An empty array alone gives none, a null gives one. */
export function expandRow(frame: Frame, expansions: readonly Expansion[], isBagArray: boolean): ExpandedRow[] {
  const held = expansions.map(({ value }) => value(frame));
  const items = held.map((value) => itemsOf(value, isBagArray));
  const length = Math.max(...items.map((each) => each.length));
  // Whether a single value is repeated beside an array is not verified.
  const isSingle = (value: Value) => value !== null && !isArray(value) && !isBag(value);
  if (length > 1 && held.some(isSingle)) return unsupported('an array expanded beside a single value');
  return Array.from({ length }, (_, index) => ({
    source: frame.row,
    values: expansions.map(({ type }, at) => converted(items[at]?.[index] ?? null, 'dynamic', type)),
    index: BigInt(index),
  }));
}

function itemsOf(value: Value, isBagArray: boolean): readonly Value[] {
  if (isArray(value)) return value;
  if (isBag(value)) return [...value].map(([name, each]) => (isBagArray ? [name, each] : new Map([[name, each]])));
  return [value];
}

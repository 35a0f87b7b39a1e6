import { unnamed } from '../functions/special-forms.ts';
import type { SyntaxNode } from '../language-service.ts';
import { arrival, type Frame, frames, over, type Row, type Scope, type Table, withArrival } from '../scope.ts';
import { type Column, hasColumns, listOf, nameOf, part, partIfAny, simpleName, tableColumns } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { isArray } from '../values.ts';

/** `project`: one column for each expression, named by the binder. */
export function project(node: SyntaxNode, input: Table, scope: Scope): Table {
  const columns = tableColumns(node);
  const inner = over(input, scope);
  const values = compileColumns(listOf(node, 'Expressions'), inner, columns.length);
  return { columns, rows: frames(input.rows).map(values), serialized: input.serialized };
}

/** The columns of `project` or `print`; an expression may give several: `array_sort_asc(a, b)`. */
export function compileColumns(nodes: readonly SyntaxNode[], scope: Scope, count: number): (frame: Frame) => Row {
  const values = nodes.map((each) => {
    const value = scope.engine.compile(unnamed(each), scope);
    return { value, isTuple: hasColumns(unnamed(each)) };
  });
  const isPlain = values.every(({ isTuple }) => !isTuple);
  return (frame) => {
    const row = isPlain
      ? values.map(({ value }) => value(frame))
      : values.flatMap(({ value, isTuple }) => {
          const found = value(frame);
          return isTuple && isArray(found) ? found : [found];
        });
    return row.length === count ? row : unsupported('other columns than the language service sees');
  };
}

/** `extend` and `serialize`: new columns at the end, or in the place of the one with that name. */
export function extend(node: SyntaxNode, input: Table, scope: Scope): Table {
  const columns = tableColumns(node);
  const inner = over(input, scope);
  const expressions = listOf(node, 'Expressions');
  const targets = targetsOf(expressions, columns, input.columns);
  const values = expressions.map((each) => scope.engine.compile(unnamed(each), inner));
  const places = columns.map((column) => {
    const index = targets.lastIndexOf(column.name);
    return { value: values[index], source: input.columns.findIndex((each) => each.name === column.name) };
  });
  if (places.some(({ value, source }) => !value && source < 0)) return unsupported('an extension of several columns');
  const arrivedAt = input.columns.findIndex(({ name }) => name === arrival);
  const kept = arrivedAt < 0 ? [] : [{ value: undefined, source: arrivedAt }];
  const all = [...places, ...kept];
  const rows = frames(input.rows).map((frame) =>
    all.map(({ value, source }) => (value ? value(frame) : (frame.row[source] ?? null))),
  );
  return { columns: arrivedAt < 0 ? columns : withArrival(columns), rows, serialized: input.serialized };
}

/** The column each expression writes: as it says, or as the binder names what has no name. */
function targetsOf(
  expressions: readonly SyntaxNode[],
  columns: readonly Column[],
  before: readonly Column[],
): string[] {
  const said = expressions.map((each) => (unnamed(each) === each ? simpleName(each) : nameOf(part(each, 'Name'))));
  const known = new Set([...before.map((column) => column.name), ...said]);
  const invented = columns.filter((column) => !known.has(column.name)).map((column) => column.name);
  return said.map((name) => name ?? invented.shift() ?? unsupported('an expression whose column has no name'));
}

/** `project-away`, `-keep`, `-reorder`: the binder says which columns are left, in which order. */
export function selectColumns(node: SyntaxNode, input: Table): Table {
  const columns = tableColumns(node);
  const sources = columns.map((column) => input.columns.findIndex((each) => each.name === column.name));
  if (sources.includes(-1)) return unsupported('columns that were not there before');
  return { ...input, columns, rows: input.rows.map((row) => sources.map((source) => row[source] ?? null)) };
}

/** `project-rename`: every column keeps its position. */
export function renameColumns(node: SyntaxNode, input: Table): Table {
  const columns = tableColumns(node);
  const isSame = columns.every((column, index) => column.type === input.columns[index]?.type);
  if (columns.length !== input.columns.length || !isSame) return unsupported('a renaming that moves columns');
  return { ...input, columns };
}

/** `getschema`: the columns as rows. */
export function schemaOf(node: SyntaxNode, input: Table): Table {
  if (partIfAny(node, 'KindParameter')) return unsupported('getschema with a kind');
  const rows = input.columns.map((column, index): Row => {
    const system = systemTypes[column.type] ?? unsupported(`getschema of a column of type ${column.type}`);
    return [column.name, BigInt(index), system, column.type];
  });
  return { columns: tableColumns(node), rows, serialized: true };
}

const systemTypes: Readonly<Record<string, string>> = {
  bool: 'System.SByte',
  int: 'System.Int32',
  long: 'System.Int64',
  real: 'System.Double',
  string: 'System.String',
  datetime: 'System.DateTime',
  timespan: 'System.TimeSpan',
  guid: 'System.Guid',
  dynamic: 'System.Object',
};

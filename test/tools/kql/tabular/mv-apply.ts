import type { SyntaxNode } from '../language-service.ts';
import { frames, type Row, type Scope, type Table } from '../scope.ts';
import { type Column, part, partIfAny, tableColumns } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import type { Value } from '../values.ts';
import { type Expansion, expandRow, readExpansions } from './mv-expand.ts';

/** `mv-apply`: each row is expanded, a query is run over the result, and its rows are joined with the row's columns. */
export function mvApply(node: SyntaxNode, input: Table, scope: Scope): Table {
  if (partIfAny(node, 'ContextIdClause')) return unsupported('mv-apply with an id');
  const columns = tableColumns(node);
  const { expansions, indexName, limit, isBagArray } = readExpansions(node, input, scope);
  const inner = innerColumns(expansions, input.columns, indexName);
  const subquery = part(part(node, 'Subquery'), 'Expression');
  const rows = frames(input.rows).flatMap((frame) => {
    const expanded = expandRow(frame, expansions, isBagArray).slice(0, limit);
    const before: Table = {
      columns: inner.map(({ column }) => column),
      rows: expanded.map((row) => inner.map(({ read }) => read(row.source, row.values, row.index))),
      serialized: true,
    };
    const after = scope.engine.table(subquery, { ...scope, input: before });
    return beside(frame.row, input.columns, after, columns, inner);
  });
  return { columns, rows, serialized: false };
}

type InnerColumn = {
  readonly column: Column;
  readonly isOuter: boolean;
  readonly read: (source: Row, values: readonly Value[], index: bigint) => Value;
};

/** The columns the inner query sees: the row's own, hidden by the expanded ones of the same name. */
function innerColumns(
  expansions: readonly Expansion[],
  outer: readonly Column[],
  indexName: string | undefined,
): InnerColumn[] {
  const expanded = expansions.map(({ name, type }, at): InnerColumn => {
    if (name === undefined) return unsupported('mv-apply of an expression without a name');
    return { column: { name, type }, isOuter: false, read: (_, values) => values[at] ?? null };
  });
  const index: InnerColumn[] =
    indexName === undefined
      ? []
      : [{ column: { name: indexName, type: 'long' }, isOuter: false, read: (_, __, at) => at }];
  const own = new Set([...expanded, ...index].map(({ column }) => column.name));
  const others = outer.flatMap((column, at): InnerColumn[] =>
    own.has(column.name) ? [] : [{ column, isOuter: true, read: (source) => source[at] ?? null }],
  );
  return [...others, ...expanded, ...index];
}

/** The outer row repeated beside each inner row; a column of both is the inner one where it was made inside. */
function beside(
  row: Row,
  outer: readonly Column[],
  after: Table,
  columns: readonly Column[],
  inner: readonly InnerColumn[],
): Row[] {
  const isUntouched = (name: string) => inner.some(({ column, isOuter }) => isOuter && column.name === name);
  const places = columns.map((column): ((made: Row) => Value) => {
    const made = after.columns.findIndex((each) => each.name === column.name);
    const source = outer.findIndex((each) => each.name === column.name);
    if (source >= 0 && (made < 0 || isUntouched(column.name))) return () => row[source] ?? null;
    return made < 0 ? unsupported(`the column ${column.name} of mv-apply`) : (each) => each[made] ?? null;
  });
  return after.rows.map((made) => places.map((place) => place(made)));
}

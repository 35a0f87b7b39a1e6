import type { SyntaxNode } from '../language-service.ts';
import type { Row, Scope, Table } from '../scope.ts';
import {
  type Column,
  calledBody,
  listOf,
  nameOf,
  parametersOf,
  part,
  partIfAny,
  simpleName,
  tableColumns,
  tokensOf,
} from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { nothingOf, type Value } from '../values.ts';

type Leg = { readonly table: Table; readonly name: string };

/** `union`: the rows of all legs under the columns the binder gives; what a leg does not have is null there. */
export function union(node: SyntaxNode, scope: Scope): Table {
  const parameters = parametersOf(node);
  for (const name of parameters.keys()) {
    if (!/^(kind|withsource|isfuzzy)$/.test(name)) return unsupported(`union ${name}=`);
  }
  const source = parameters.get('withsource');
  const sourceName = source && tokensOf(source);
  const { input: before, ...outside } = scope;
  if (source && parameters.has('isfuzzy')) return unsupported('union withsource= and isfuzzy=');
  if (source && before) return unsupported('union withsource= after a bar');
  const isFuzzy = parameters.has('isfuzzy') && tokensOf(part(node, 'Parameters')).includes('isfuzzy=true');
  const present = listOf(node, 'Expressions').filter((each) => !isFuzzy || !isUnknownTable(each));
  const legs = present.map(
    (each, index): Leg => ({
      table: scope.engine.table(each, outside),
      name: source ? nameOfLeg(each, index, scope) : '',
    }),
  );
  const all: Leg[] = before ? [{ table: before, name: '' }, ...legs] : legs;
  const columns = tableColumns(node);
  const rows = all.flatMap((leg) => rowsOf(leg, columns, sourceName, all));
  return { columns, rows, serialized: false };
}

/** Only a table of the workspace is known by its name; what `let` declares is numbered. */
function nameOfLeg(node: SyntaxNode, index: number, scope: Scope): string {
  const { kinds } = scope.engine;
  const numbered = `union_arg${index}`;
  const said = nameByAs(node, scope);
  if (said !== undefined) return said;
  if (kinds.syntax(node) !== 'NameReference') return numbered;
  if (calledBody(node)) return unsupported('union withsource= of functions');
  return scope.names.find(nameOf(node)) ? numbered : nameOf(node);
}

/** With `isfuzzy=true` a leg that names an unknown table is left out. */
function isUnknownTable(node: SyntaxNode): boolean {
  const first = partIfAny(node, 'Expression');
  return first && simpleName(node) === undefined
    ? isUnknownTable(first)
    : simpleName(node) !== undefined && !node.ReferencedSymbol;
}

/** `(T | where x | as Y)` is called Y. */
function nameByAs(node: SyntaxNode, scope: Scope): string | undefined {
  const kind = scope.engine.kinds.syntax(node);
  if (kind === 'ParenthesizedExpression') return nameByAs(part(node, 'Expression'), scope);
  if (kind !== 'PipeExpression') return undefined;
  const last = part(node, 'Operator');
  return scope.engine.kinds.syntax(last) === 'AsOperator' ? nameOf(part(last, 'Name')) : undefined;
}

function rowsOf(leg: Leg, columns: readonly Column[], source: string | undefined, all: readonly Leg[]): Row[] {
  const places = columns.map((column): ((row: Row) => Value) => {
    if (column.name === source) return () => leg.name;
    const index = leg.table.columns.findIndex((each) => nameIn(each, all) === column.name && each.type === column.type);
    return index < 0 ? () => nothingOf(column.type) : (row) => row[index] ?? null;
  });
  return leg.table.rows.map((row) => places.map((place) => place(row)));
}

/** A column that has different types in different legs is kept apart by its type: `x_long`, `x_string`. */
function nameIn(column: Column, all: readonly Leg[]): string {
  const types = new Set(
    all.flatMap((leg) => leg.table.columns.filter((each) => each.name === column.name).map((each) => each.type)),
  );
  return types.size > 1 ? `${column.name}_${column.type}` : column.name;
}

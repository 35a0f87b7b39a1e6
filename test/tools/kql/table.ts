import type { SyntaxNode } from './language-service.ts';
import { type Scope, type Table, withoutArrival } from './scope.ts';
import { calledBody, nameOf, part } from './syntax.ts';
import { operators } from './tabular/index.ts';
import { ofNoRows } from './tabular/no-rows.ts';
import { datatable, print, range } from './tabular/sources.ts';
import { union } from './tabular/union.ts';
import { unsupported } from './unsupported.ts';
import { tableOfFunction } from './user-function.ts';

/** Evaluates a tabular expression to its rows. */
export function evaluateTable(node: SyntaxNode, scope: Scope): Table {
  const kind = scope.engine.kinds.syntax(node);
  const source = sources[kind];
  if (source) return source(node, scope);
  const operator = operators[kind];
  if (!operator) return unsupported(kind);
  const input = scope.input ?? unsupported(`${kind} without rows before it`);
  const given = keepingArrival.has(kind) ? input : withoutArrival(input);
  return (given.rows.length === 0 ? ofNoRows(node, kind, given) : undefined) ?? operator(node, given, scope);
}

/** After these a row is still the row of its table. */
const keepingArrival: ReadonlySet<string> = new Set([
  'FilterOperator',
  'ExtendOperator',
  'ProjectOperator',
  'SummarizeOperator',
  'SortOperator',
  'TopOperator',
  'TakeOperator',
]);

const sources: Readonly<Record<string, (node: SyntaxNode, scope: Scope) => Table>> = {
  PipeExpression: (node, scope) => {
    const input = evaluateTable(part(node, 'Expression'), scope);
    return evaluateTable(part(node, 'Operator'), { ...scope, input });
  },
  ParenthesizedExpression: (node, scope) => evaluateTable(part(node, 'Expression'), scope),
  MaterializeExpression: (node, scope) => evaluateTable(part(node, 'Expression'), scope),
  NameReference: tableByName,
  FunctionCallExpression: tableOfFunction,
  DataTableExpression: datatable,
  PrintOperator: print,
  RangeOperator: range,
  UnionOperator: union,
};

function tableByName(node: SyntaxNode, scope: Scope): Table {
  const name = nameOf(node);
  const bound = scope.names.find(name);
  if (bound?.kind === 'table') return bound.value();
  if (calledBody(node)) return tableOfFunction(node, scope);
  if (bound) return unsupported(`${name} as a table`);
  return (
    scope.engine.named.get(name) ??
    scope.engine.rowsOf(name) ??
    unsupported(`the table ${name}, of which no rows are given`)
  );
}

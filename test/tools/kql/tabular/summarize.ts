import { compileSummary } from '../aggregates/index.ts';
import { unnamed } from '../functions/special-forms.ts';
import type { SyntaxNode } from '../language-service.ts';
import { type Frame, frames, over, type Row, type Scope, type Table } from '../scope.ts';
import { elements, listOf, partIfAny, simpleName, tableColumns } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { cellOf, keyOfAll, type Value } from '../values.ts';

export type Group = { readonly key: Row; readonly frames: Frame[] };

/** Rows that agree in all keys, in the order the first of each is met. */
export function groupsOf(all: readonly Frame[], keys: readonly ((frame: Frame) => Value)[]): Group[] {
  const groups = new Map<string, Group>();
  for (const frame of all) {
    const key = keys.map((evaluate) => evaluate(frame));
    const name = keyOfAll(key);
    const group = groups.get(name);
    if (group) group.frames.push(frame);
    else groups.set(name, { key, frames: [frame] });
  }
  return [...groups.values()];
}

export function summarize(node: SyntaxNode, input: Table, scope: Scope): Table {
  const inner = over(input, scope);
  const byClause = partIfAny(node, 'ByClause');
  if (byClause && partIfAny(byClause, 'BinClause')) return unsupported('summarize … by … bin=');
  const by = byClause ? listOf(byClause, 'Expressions') : [];
  const keys = by.map((each) => scope.engine.compile(unnamed(each), inner));
  const keyNames = new Set(by.flatMap((each) => simpleName(each) ?? []));
  const summaries = listOf(node, 'Aggregates').map((each) => compileSummary(unnamed(each), inner, keyNames));
  const columns = tableColumns(node);
  const all = frames(input.rows);
  const groups = by.length === 0 ? [{ key: [], frames: all }] : groupsOf(all, keys);
  const rows = groups.map((group) => {
    const row = [...group.key, ...summaries.flatMap((summary) => summary(group.frames))];
    if (row.length !== columns.length)
      return unsupported('a summary with other columns than the language service sees');
    return row.map((value, index) => cellOf(value, columns[index]?.type ?? 'unknown'));
  });
  return { columns, rows, serialized: false };
}

/** `distinct`: the first row of each kind. */
export function distinct(node: SyntaxNode, input: Table, scope: Scope): Table {
  const columns = tableColumns(node);
  const expressions = elements(partIfAny(node, 'Expressions'));
  const isStar = expressions.some((each) => scope.engine.kinds.syntax(each) === 'StarExpression');
  const values = isStar
    ? input.columns.map((_, index) => (frame: Frame) => frame.row[index] ?? null)
    : expressions.map((each) => scope.engine.compile(unnamed(each), over(input, scope)));
  const rows = groupsOf(frames(input.rows), values).map((group) => group.key);
  return { columns, rows, serialized: false };
}

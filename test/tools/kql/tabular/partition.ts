import type { SyntaxNode } from '../language-service.ts';
import { frames, over, type Scope, type Table } from '../scope.ts';
import { parametersOf, part, partIfAny, tableColumns } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { groupsOf } from './summarize.ts';

/** `partition by k (query)`: the query is run over the rows of each key. */
export function partition(node: SyntaxNode, input: Table, scope: Scope): Table {
  if ([...parametersOf(node).keys()].some((name) => !name.startsWith('hint.')))
    return unsupported('partition with more');
  const subquery = partIfAny(part(node, 'Operand'), 'Subquery') ?? unsupported('partition of rows made inside');
  if (partIfAny(node, 'Scope')) return unsupported('partition with a scope');
  const key = scope.engine.compile(part(node, 'ByExpression'), over(input, scope));
  const columns = tableColumns(node);
  const rows = groupsOf(frames(input.rows), [key]).flatMap((group) => {
    const members = group.frames.map(({ row }) => row);
    return scope.engine.table(subquery, { ...scope, input: { ...input, rows: members, serialized: false } }).rows;
  });
  return { columns, rows, serialized: false };
}

import type { SyntaxNode } from '../language-service.ts';
import { arrival, type Table, withArrival } from '../scope.ts';
import { parametersOf, partIfAny, tableColumns, tokensOf } from '../syntax.ts';

/** What an operator gives of no rows, where it is no rows again: its expressions and its right side are not evaluated then. */
export function ofNoRows(node: SyntaxNode, kind: string, input: Table): Table | undefined {
  switch (kind) {
    case 'FilterOperator':
      return input;
    case 'SortOperator':
      return { ...input, serialized: true };
    case 'ExtendOperator': {
      const columns = tableColumns(node);
      return { ...input, columns: input.columns.some(({ name }) => name === arrival) ? withArrival(columns) : columns };
    }
    case 'ProjectOperator':
      return { ...input, columns: tableColumns(node) };
    case 'SummarizeOperator':
      return partIfAny(node, 'ByClause') && nothingOf(node);
    case 'JoinOperator':
    case 'LookupOperator': {
      const joinKind = parametersOf(node).get('kind');
      return !joinKind || ofTheLeft.has(tokensOf(joinKind).toLowerCase()) ? nothingOf(node) : undefined;
    }
  }
  return undefined;
}

/** Kinds of joins that give rows of the left side only, or with them. */
const ofTheLeft: ReadonlySet<string> = new Set(['inner', 'innerunique', 'leftouter', 'leftsemi', 'leftanti']);

const nothingOf = (node: SyntaxNode): Table => ({ columns: tableColumns(node), rows: [], serialized: false });

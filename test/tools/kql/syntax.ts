import { itemsOf, type KustoSymbol, type SyntaxNode } from './language-service.ts';
import { unsupported } from './unsupported.ts';
import type { TypeName } from './values.ts';

/** The part of a node that the grammar calls `name` (`Left`, `ByClause`), if this node has it. */
export function partIfAny(node: SyntaxNode, name: string): SyntaxNode | undefined {
  const part: SyntaxNode | null | undefined = Reflect.get(node, name);
  return part ?? undefined;
}

/** The part of a node that the grammar calls `name`; not to have it is a fault of ours. */
export function part(node: SyntaxNode, name: string): SyntaxNode {
  return partIfAny(node, name) ?? unsupported(`a query without its ${name}`);
}

/** The elements of a list, their separators left out. */
export function elements(list: SyntaxNode | undefined): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let index = 0; index < (list?.ChildCount ?? 0); index++) {
    const child = list?.GetChild(index);
    if (child) found.push(partIfAny(child, 'Element') ?? child);
  }
  return found;
}

export const listOf = (node: SyntaxNode, name: string): SyntaxNode[] => elements(part(node, name));

/** The arguments of a call or the members of `in (…)`. */
export const argumentsOf = (node: SyntaxNode, name = 'ArgumentList'): SyntaxNode[] =>
  listOf(part(node, name), 'Expressions');

/** `kind=inner hint.strategy=shuffle` as pairs. The text of a value is read from its tokens. */
export function parametersOf(node: SyntaxNode): Map<string, SyntaxNode> {
  const parameters = partIfAny(node, 'Parameters');
  return new Map(elements(parameters).map((each) => [nameOf(part(each, 'Name')), part(each, 'Expression')]));
}

export const nameOf = (node: SyntaxNode): string => node.SimpleName ?? unsupported('a name that is an expression');

/** The text of all tokens under a node, without white space. */
export function tokensOf(node: SyntaxNode): string {
  if (node.ChildCount === 0) return node.Text ?? '';
  return Array.from({ length: node.ChildCount }, (_, index) => {
    const child = node.GetChild(index);
    return child ? tokensOf(child) : '';
  }).join('');
}

/** The scalar type of an expression, as the binder sees it. */
export const typeOf = (node: SyntaxNode): TypeName => node.ResultType?.Name ?? 'unknown';

export type Column = { readonly name: string; readonly type: TypeName };

/** The columns of a tabular expression or of a tuple (`arg_max(x, *)`), as the binder sees them; none for a scalar. */
export function columnsOf(type: KustoSymbol | null | undefined): Column[] | undefined {
  if (!type?.Columns) return undefined;
  return itemsOf(type.Columns).map((column) => ({ name: column.Name, type: column.Type?.Name ?? 'unknown' }));
}

/** The columns a tabular expression gives; names and types are the binder's, never our own idea of them. */
export const tableColumns = (node: SyntaxNode): Column[] =>
  columnsOf(node.ResultType) ?? unsupported('an expression that gives no table');

/** Visits a node and all under it. */
export function walk(node: SyntaxNode, visit: (node: SyntaxNode) => void): void {
  visit(node);
  for (let index = 0; index < node.ChildCount; index++) {
    const child = node.GetChild(index);
    if (child) walk(child, visit);
  }
}

import { itemsOf, type KustoSymbol, type SyntaxNode } from './language-service.ts';
import { unsupported } from './unsupported.ts';
import type { TypeName } from './values.ts';

/** Reads something of a node once: the tree never changes, and its accessors are slow. */
export function cached<T>(read: (node: SyntaxNode) => T): (node: SyntaxNode) => T {
  const known = new WeakMap<SyntaxNode, { readonly value: T }>();
  return (node) => {
    const found = known.get(node);
    if (found) return found.value;
    const value = read(node);
    known.set(node, { value });
    return value;
  };
}

const partsOf = cached(() => new Map<string, SyntaxNode | undefined>());

/** The part of a node that the grammar calls `name` (`Left`, `ByClause`), if this node has it. */
export function partIfAny(node: SyntaxNode, name: string): SyntaxNode | undefined {
  const parts = partsOf(node);
  if (parts.has(name)) return parts.get(name);
  const found: SyntaxNode | null | undefined = Reflect.get(node, name);
  parts.set(name, found ?? undefined);
  return found ?? undefined;
}

/** The part of a node that the grammar calls `name`; not to have it is a fault of ours. */
export function part(node: SyntaxNode, name: string): SyntaxNode {
  return partIfAny(node, name) ?? unsupported(`a query without its ${name}`);
}

/** The elements of a list, their separators left out. */
export const elements = (list: SyntaxNode | undefined): readonly SyntaxNode[] => (list ? elementsOf(list) : []);

const elementsOf = cached((list) => childrenOf(list).map((child) => partIfAny(child, 'Element') ?? child));

const childrenOf = cached((node): readonly SyntaxNode[] =>
  Array.from({ length: node.ChildCount }, (_, index) => node.GetChild(index)).filter((child) => child !== null),
);

export const listOf = (node: SyntaxNode, name: string): readonly SyntaxNode[] => elements(part(node, name));

/** The arguments of a call or the members of `in (…)`. */
export const argumentsOf = (node: SyntaxNode, name = 'ArgumentList'): readonly SyntaxNode[] =>
  listOf(part(node, name), 'Expressions');

/** `kind=inner hint.strategy=shuffle` as pairs. The text of a value is read from its tokens. */
export function parametersOf(node: SyntaxNode): Map<string, SyntaxNode> {
  const parameters = partIfAny(node, 'Parameters');
  return new Map(elements(parameters).map((each) => [nameOf(part(each, 'Name')), part(each, 'Expression')]));
}

/** The name that a node is; undefined where it is none. */
export const simpleName = cached((node) => node.SimpleName);

export const nameOf = (node: SyntaxNode): string => simpleName(node) ?? unsupported('a name that is an expression');

/** The text of all tokens under a node, without white space. */
export const tokensOf: (node: SyntaxNode) => string = cached((node) =>
  node.ChildCount === 0 ? (node.Text ?? '') : childrenOf(node).map(tokensOf).join(''),
);

/** The scalar type of an expression, as the binder sees it. */
export const typeOf = cached((node): TypeName => node.ResultType?.Name ?? 'unknown');

/** Whether an expression gives a table, or several values: `arg_max(x, *)`. */
export const hasColumns = cached((node) => node.ResultType?.Columns != null);

/** The body of a function that is declared in the query or the workspace, bound for this call. */
export const calledBody = cached((node) => node.GetCalledFunctionBody?.() ?? undefined);

export type Column = { readonly name: string; readonly type: TypeName };

/** The columns of a tabular expression or of a tuple (`arg_max(x, *)`), as the binder sees them; none for a scalar. */
export function columnsOf(type: KustoSymbol | null | undefined): Column[] | undefined {
  if (!type?.Columns) return undefined;
  return itemsOf(type.Columns).map((column) => ({ name: column.Name, type: column.Type?.Name ?? 'unknown' }));
}

/** The columns a tabular expression gives; names and types are the binder's, never our own idea of them. */
export const tableColumns = cached(
  (node): readonly Column[] => columnsOf(node.ResultType) ?? unsupported('an expression that gives no table'),
);

/** Visits a node and all under it. */
export function walk(node: SyntaxNode, visit: (node: SyntaxNode) => void): void {
  visit(node);
  for (const child of childrenOf(node)) walk(child, visit);
}

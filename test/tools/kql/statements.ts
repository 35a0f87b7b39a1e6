import type { SyntaxNode } from './language-service.ts';
import { type Binding, noFrame, type Scope, withNames, withoutRows } from './scope.ts';
import { hasColumns, nameOf, part } from './syntax.ts';
import { unsupported } from './unsupported.ts';

/** The scope after some `let` statements. Values are found when first asked for, and once. */
export function declare(statements: readonly SyntaxNode[], scope: Scope): Scope {
  let { names } = scope;
  for (const statement of statements) {
    const kind = scope.engine.kinds.syntax(statement);
    if (kind !== 'LetStatement') return unsupported(kind);
    const binding = bindingOf(part(statement, 'Expression'), { ...scope, names });
    names = withNames(names, new Map([[nameOf(part(statement, 'Name')), binding]]));
  }
  return { ...scope, names };
}

function bindingOf(node: SyntaxNode, scope: Scope): Binding {
  if (scope.engine.kinds.syntax(node) === 'FunctionDeclaration') return { kind: 'function', declared: scope.names };
  const outside = withoutRows(scope);
  if (hasColumns(node)) return { kind: 'table', value: once(() => scope.engine.table(node, outside)) };
  return { kind: 'scalar', value: once(() => scope.engine.compile(node, outside)(noFrame)) };
}

function once<T>(find: () => T): () => T {
  let found: { readonly value: T } | undefined;
  return () => {
    found ??= { value: find() };
    return found.value;
  };
}

import { isOfArgumentsAlone } from './call.ts';
import type { KindNames, SyntaxNode } from './language-service.ts';
import { literalOf } from './literals.ts';
import type { Scope } from './scope.ts';
import { argumentsOf, calledBody, hasColumns, nameOf, part, partIfAny } from './syntax.ts';
import { unsupported } from './unsupported.ts';

const known = new WeakMap<SyntaxNode, boolean>();

/** Whether an expression reads nothing but columns of its row and the clock: no other rows, no name of the query, no table. */
export function isOfColumnsAlone(node: SyntaxNode, kinds: KindNames): boolean {
  const found = known.get(node);
  if (found !== undefined) return found;
  const isSo = readsColumnsAlone(node, kinds);
  known.set(node, isSo);
  return isSo;
}

function readsColumnsAlone(node: SyntaxNode, kinds: KindNames): boolean {
  const kind = kinds.syntax(node);
  if (kind === 'NameReference') return node.ReferencedSymbol ? kinds.symbol(node.ReferencedSymbol) === 'Column' : false;
  if (literalOf(node, kinds) !== undefined) return true;
  return !hasColumns(node) && (operandsOf(node, kind)?.every((each) => isOfColumnsAlone(each, kinds)) ?? false);
}

/** What an expression is calculated from; undefined for a kind that may read more. */
function operandsOf(node: SyntaxNode, kind: string): readonly SyntaxNode[] | undefined {
  switch (kind) {
    case 'ParenthesizedExpression':
    case 'SimpleNamedExpression':
    case 'UnaryMinusExpression':
    case 'PathExpression':
      return [part(node, 'Expression')];
    case 'FunctionCallExpression':
      return !calledBody(node) && isOfArgumentsAlone(nameOf(part(node, 'Name'))) ? argumentsOf(node) : undefined;
    case 'InExpression':
    case 'NotInExpression':
    case 'InCsExpression':
    case 'NotInCsExpression':
      return [part(node, 'Left'), ...argumentsOf(node, 'Right')];
  }
  const [left, right] = [partIfAny(node, 'Left'), partIfAny(node, 'Right')];
  return left && right ? [left, right] : undefined;
}

/** The scope of an expression of columns alone: it holds on to no rows, and to read more is refused. */
export const scopeOfColumns = ({ columns, engine: { kinds, compile, clock } }: Scope): Scope => ({
  columns,
  serialized: false,
  names: { find: () => undefined },
  engine: {
    kinds,
    compile,
    table: () => unsupported('a table in an expression of columns'),
    clock,
    rowsOf: () => undefined,
    named: new Map(),
    answered: new Map(),
  },
});

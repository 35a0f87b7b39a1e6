import { argumentsByName } from './call-arguments.ts';
import type { SyntaxNode } from './language-service.ts';
import { type Binding, type Evaluate, type Frame, type Scope, type Table, withNames, withoutRows } from './scope.ts';
import { declare } from './statements.ts';
import { calledBody, elements, hasColumns, nameOf, part, partIfAny, simpleName } from './syntax.ts';
import { unsupported } from './unsupported.ts';
import { keyOfAll, type Value } from './values.ts';

/** A parameter whose value changes from row to row; to read it where no row is given is refused. */
type Cell = { value: Value | undefined; readonly evaluate: Evaluate };

function bindArguments(node: SyntaxNode, scope: Scope): { names: Map<string, Binding>; cells: Cell[] } {
  const names = new Map<string, Binding>();
  const cells: Cell[] = [];
  for (const { name, node: argument, isDefault } of argumentsByName(node)) {
    if (hasColumns(argument)) {
      const table = scope.engine.table(argument, withoutRows(scope));
      names.set(name, { kind: 'table', value: () => table });
    } else if (isDefault || argument.IsConstant) {
      const evaluate = scope.engine.compile(argument, withoutRows(scope));
      names.set(name, { kind: 'scalar', value: () => evaluate({ row: [], rows: [], index: 0 }) });
    } else {
      const cell: Cell = { value: undefined, evaluate: scope.engine.compile(argument, scope) };
      cells.push(cell);
      const read = () =>
        cell.value === undefined ? unsupported(`the parameter ${name} where its row is out of scope`) : cell.value;
      names.set(name, { kind: 'scalar', value: read });
    }
  }
  return { names, cells };
}

/** A function without parameters may be called by its name alone. */
const calledName = (node: SyntaxNode): string => simpleName(node) ?? nameOf(part(node, 'Name'));

/** The scope of the body: the names where the function was declared, then its parameters. */
function bodyScope(node: SyntaxNode, scope: Scope, parameters: ReadonlyMap<string, Binding>): Scope {
  const declared = scope.names.find(calledName(node));
  const outer = declared?.kind === 'function' ? declared.declared : { find: () => undefined };
  return { ...withoutRows(scope), names: withNames(outer, parameters) };
}

const statementsOf = (body: SyntaxNode): readonly SyntaxNode[] => elements(partIfAny(body, 'Statements'));

/** A scalar function declared by `let` or stored in the workspace. */
export function compileUserFunction(node: SyntaxNode, body: SyntaxNode, scope: Scope): Evaluate {
  const { names, cells } = bindArguments(node, scope);
  const inner = declare(statementsOf(body), bodyScope(node, scope, names));
  const evaluate = scope.engine.compile(part(body, 'Expression'), inner);
  return (frame: Frame) => {
    for (const cell of cells) cell.value = cell.evaluate(frame);
    return evaluate({ row: [], rows: [], index: 0 });
  };
}

/** A tabular function declared by `let` or stored in the workspace. */
export function tableOfFunction(node: SyntaxNode, scope: Scope): Table {
  const body = calledBody(node) ?? unsupported(`the table function ${calledName(node)}()`);
  const { names, cells } = bindArguments(node, scope);
  for (const cell of cells) cell.value = cell.evaluate({ row: [], rows: [], index: 0 });
  const answer = (): Table => {
    const inner = declare(statementsOf(body), bodyScope(node, scope, names));
    return scope.engine.table(part(body, 'Expression'), inner);
  };
  const given = [...names.values()].flatMap((each) => (each.kind === 'scalar' ? each.value() : []));
  const isOfWorkspace = scope.names.find(calledName(node)) === undefined;
  if (!isOfWorkspace || given.length < names.size) return answer();
  const { answered } = scope.engine;
  const call = `${calledName(node)} ${keyOfAll(given)}`;
  const known = answered.get(call) ?? answer();
  answered.set(call, known);
  return known;
}

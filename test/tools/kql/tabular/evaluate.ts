import type { SyntaxNode } from '../language-service.ts';
import type { Row, Scope, Table } from '../scope.ts';
import { argumentsOf, nameOf, part, partIfAny, simpleName } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { isBag, type TypeName, typeOfValue } from '../values.ts';

/**
 * `evaluate bag_unpack(column)`: the properties of a bag become columns after the others, in the order of their names.
 * The binder does not know them, so nothing may stand after it.
 */
export function evaluatePlugin(node: SyntaxNode, input: Table, scope: Scope): Table {
  const call = part(node, 'FunctionCall');
  const [bag, ...options] = argumentsOf(call);
  if (nameOf(part(call, 'Name')) !== 'bag_unpack' || !bag || options.length > 0 || partIfAny(node, 'Schema')) {
    return unsupported(`evaluate ${nameOf(part(call, 'Name'))}() with these arguments`);
  }
  const at = input.columns.findIndex((column) => column.name === simpleName(bag));
  if (at < 0 || scope.engine.kinds.syntax(bag) !== 'NameReference') return unsupported('bag_unpack() of no column');
  const bags = input.rows.map((row) => {
    const value = row[at] ?? null;
    return isBag(value) ? value : unsupported('bag_unpack() of what is no bag');
  });
  const names = [...new Set(bags.flatMap((each) => [...each.keys()]))].sort();
  const others = input.columns.toSpliced(at, 1);
  if (input.columns.some((column) => names.includes(column.name)))
    return unsupported('bag_unpack() of a name there is already');
  const added = names.map((name) => ({ name, type: typeOfAll(bags.map((each) => each.get(name) ?? null)) }));
  const rows = input.rows.map((row, index): Row => {
    const values = bags[index];
    return [...row.toSpliced(at, 1), ...names.map((name) => values?.get(name) ?? null)];
  });
  return { columns: [...others, ...added], rows, serialized: false };
}

function typeOfAll(values: readonly Parameters<typeof typeOfValue>[0][]): TypeName {
  const types = new Set(values.filter((value) => value !== null).map(typeOfValue));
  const [only] = types;
  if (types.size !== 1 || only === undefined) return unsupported('bag_unpack() of a property of several types');
  return only === 'array' || only === 'bag' ? 'dynamic' : only;
}

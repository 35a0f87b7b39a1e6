import { constantOf } from '../expression.ts';
import type { SyntaxNode } from '../language-service.ts';
import type { Evaluate, Row, Scope, Table } from '../scope.ts';
import { type Column, elements, listOf, nameOf, part, partIfAny, tableColumns, tokensOf } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { cellOf, nothingOf, type Value } from '../values.ts';

type Assignment = { readonly column: number; readonly value: Evaluate };

/**
 * `scan declare (…) with (step s: condition => x = …;)` of a single step: each row that meets the condition is given
 * out with what is assigned; `s.x` is what the row before it has, and the declared default before there is one.
 * Sequences of steps are refused.
 */
export function scan(node: SyntaxNode, input: Table, scope: Scope): Table {
  if (!input.serialized) return unsupported('scan of rows in no order');
  const [step, ...more] = listOf(node, 'Steps');
  const isPlain = !partIfAny(node, 'OrderByClause') && !partIfAny(node, 'PartitionByClause');
  if (!step || more.length > 0 || !isPlain || elements(partIfAny(node, 'Parameters')).length > 0) {
    return unsupported('scan with more than one step');
  }
  if (partIfAny(step, 'OptionalKeyword') || partIfAny(step, 'ScanStepOutput')) return unsupported('scan with options');
  const declared = declaredColumns(node, scope);
  const columns = [...input.columns, ...declared.map(({ column }) => column)];
  const state = stateColumns(nameOf(part(step, 'Name')), columns);
  const inner: Scope = { ...scope, columns: [...columns, ...state], serialized: false };
  const condition = scope.engine.compile(part(step, 'Condition'), inner);
  const clause = partIfAny(step, 'ComputationClause');
  const assignments = elements(clause && part(clause, 'Assignments')).map((each): Assignment => {
    const column = columns.findIndex(({ name }) => name === nameOf(part(each, 'Name')));
    return { column, value: scope.engine.compile(part(each, 'Expression'), inner) };
  });
  const defaults = declared.map(({ otherwise }) => otherwise);
  let last: Row = [...input.columns.map(({ type }) => nothingOf(type)), ...defaults];
  const rows = input.rows.flatMap((row): Row[] => {
    const before = [...row, ...defaults];
    const frame = { row: [...before, ...last], rows: [], index: 0 };
    if (condition(frame) !== true) return [];
    const after = [...before];
    for (const { column, value } of assignments)
      after[column] = cellOf(value(frame), columns[column]?.type ?? 'unknown');
    last = after;
    return [after];
  });
  return { columns: withoutMatchId(node, columns), rows, serialized: true };
}

/** The binder adds a `match_id` that is given out only where `with_match_id` says so. */
function withoutMatchId(node: SyntaxNode, columns: readonly Column[]): Column[] {
  const bound = tableColumns(node).filter(({ name }) => name !== 'match_id');
  const isSame = bound.length === columns.length && bound.every(({ name }, index) => name === columns[index]?.name);
  return isSame ? bound : unsupported('scan with other columns than the language service sees');
}

function declaredColumns(node: SyntaxNode, scope: Scope): { column: Column; otherwise: Value }[] {
  const clause = partIfAny(node, 'DeclareClause');
  return elements(clause && part(clause, 'Declarations')).map((each) => {
    const declaration = part(each, 'NameAndType');
    const type = tokensOf(part(declaration, 'Type'));
    const value = partIfAny(each, 'DefaultValue');
    return {
      column: { name: nameOf(part(declaration, 'Name')), type },
      otherwise: value ? cellOf(constantOf(part(value, 'Value'), scope), type) : nothingOf(type),
    };
  });
}

/** The columns of the row before are found under `step.column`. */
const stateColumns = (step: string, columns: readonly Column[]): Column[] =>
  columns.map(({ name, type }) => ({ name: `${step}.${name}`, type }));

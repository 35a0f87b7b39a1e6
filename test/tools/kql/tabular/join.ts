import type { SyntaxNode } from '../language-service.ts';
import type { Evaluate, Frame, Row, Scope, Table } from '../scope.ts';
import { frames, over, withoutArrival, withoutRows } from '../scope.ts';
import { type Column, listOf, nameOf, parametersOf, part, partIfAny, tableColumns, tokensOf } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { keyOfAll, nothingOf } from '../values.ts';

type Keys = { readonly left: readonly Evaluate[]; readonly right: readonly Evaluate[]; readonly names: Set<string> };

/** `join`: nulls match nulls. Without a kind the left side is first cut down to one row for each key. */
export function join(node: SyntaxNode, left: Table, scope: Scope): Table {
  const right = withoutArrival(scope.engine.table(part(node, 'Expression'), withoutRows(scope)));
  const kindNode = parametersOf(node).get('kind');
  const kind = kindNode ? tokensOf(kindNode).toLowerCase() : 'innerunique';
  const keys = keysOf(part(node, 'ConditionClause'), left, right, scope);
  const rows = rowsOf(kind, left, right, keys);
  return checked({ columns: tableColumns(node), rows, serialized: false });
}

/** `lookup`: like a join, but the columns of the key come from the left alone. */
export function lookup(node: SyntaxNode, left: Table, scope: Scope): Table {
  const right = withoutArrival(scope.engine.table(part(node, 'Expression'), withoutRows(scope)));
  const kindNode = parametersOf(node).get('kind');
  const kind = kindNode ? tokensOf(kindNode).toLowerCase() : 'leftouter';
  if (kind !== 'leftouter' && kind !== 'inner') return unsupported(`lookup kind=${kind}`);
  const keys = keysOf(part(node, 'LookupClause'), left, right, scope);
  const kept = right.columns.flatMap((column, index) => (keys.names.has(column.name) ? [] : [index]));
  const rows = rowsOf(kind, left, right, keys).map((row) => {
    const [ours, theirs] = [row.slice(0, left.columns.length), row.slice(left.columns.length)];
    return [...ours, ...kept.map((index) => theirs[index] ?? null)];
  });
  return checked({ columns: tableColumns(node), rows, serialized: false });
}

function checked(table: Table): Table {
  const isWhole = table.rows.every((row) => row.length === table.columns.length);
  return isWhole ? table : unsupported('a join with other columns than the language service sees');
}

function rowsOf(kind: string, left: Table, right: Table, keys: Keys): Row[] {
  const [lefts, rights] = [keyed(left, keys.left), keyed(right, keys.right)];
  const rightByKey = Map.groupBy(rights, ({ key }) => key);
  const leftKeys = new Set(lefts.map(({ key }) => key));
  const matches = (side: Keyed[]) =>
    side.flatMap(({ row, key }) => (rightByKey.get(key) ?? []).map((other): Row => [...row, ...other.row]));
  const leftOnly = lefts.filter(({ key }) => !rightByKey.has(key)).map(({ row }) => row);
  const rightOnly = rights.filter(({ key }) => !leftKeys.has(key)).map(({ row }) => row);
  const withNothing = leftOnly.map((row): Row => [...row, ...nothing(right.columns)]);
  const afterNothing = rightOnly.map((row): Row => [...nothing(left.columns), ...row]);
  switch (kind) {
    case 'inner':
      return matches(lefts);
    case 'innerunique':
      return matches([...new Map(lefts.toReversed().map((each) => [each.key, each])).values()].reverse());
    case 'leftouter':
      return [...matches(lefts), ...withNothing];
    case 'rightouter':
      return [...matches(lefts), ...afterNothing];
    case 'fullouter':
      return [...matches(lefts), ...withNothing, ...afterNothing];
    case 'leftanti':
    case 'anti':
    case 'leftantisemi':
      return leftOnly;
    case 'rightanti':
    case 'rightantisemi':
      return rightOnly;
    case 'leftsemi':
      return lefts.filter(({ key }) => rightByKey.has(key)).map(({ row }) => row);
    case 'rightsemi':
      return rights.filter(({ key }) => leftKeys.has(key)).map(({ row }) => row);
    default:
      return unsupported(`join kind=${kind}`);
  }
}

const nothing = (columns: readonly Column[]): Row => columns.map((column) => nothingOf(column.type));

type Keyed = { readonly row: Row; readonly key: string };

const keyed = (table: Table, keys: readonly Evaluate[]): Keyed[] =>
  frames(table.rows).map((frame) => ({ row: frame.row, key: keyOfAll(keys.map((key) => key(frame))) }));

/** `on a, $left.b == $right.c`: what each side is matched by. */
function keysOf(clause: SyntaxNode, left: Table, right: Table, scope: Scope): Keys {
  const pairs = listOf(clause, 'Expressions').flatMap((each) => conditionsOf(each, scope));
  return {
    left: pairs.map(({ ours }) => columnReader(ours, left, scope)),
    right: pairs.map(({ theirs }) => columnReader(theirs, right, scope)),
    names: new Set(pairs.map(({ theirs }) => theirs)),
  };
}

function columnReader(name: string, table: Table, scope: Scope): Evaluate {
  const index = over(table, scope).columns.findIndex((column) => column.name === name);
  if (index < 0) return unsupported(`a join on ${name}, which is no column`);
  if (table.columns[index]?.type === 'dynamic') return unsupported('a join on a dynamic column');
  return ({ row }: Frame) => row[index] ?? null;
}

function conditionsOf(node: SyntaxNode, scope: Scope): { ours: string; theirs: string }[] {
  const kind = scope.engine.kinds.syntax(node);
  if (kind === 'NameReference') return [{ ours: nameOf(node), theirs: nameOf(node) }];
  if (kind === 'ParenthesizedExpression') return conditionsOf(part(node, 'Expression'), scope);
  const [left, right] = [partIfAny(node, 'Left'), partIfAny(node, 'Right')];
  if (!left || !right) return unsupported('a join on an expression');
  if (kind === 'AndExpression') return [...conditionsOf(left, scope), ...conditionsOf(right, scope)];
  if (kind !== 'EqualExpression') return unsupported('a join on something other than equality');
  const sides = new Map([sideOf(left), sideOf(right)]);
  const [ours, theirs] = [sides.get('$left'), sides.get('$right')];
  return ours !== undefined && theirs !== undefined ? [{ ours, theirs }] : unsupported('a join within one side');
}

function sideOf(node: SyntaxNode): [string, string] {
  const side = partIfAny(node, 'Expression')?.SimpleName;
  const column = partIfAny(node, 'Selector')?.SimpleName;
  return side !== undefined && column !== undefined ? [side, column] : unsupported('a join on an expression');
}

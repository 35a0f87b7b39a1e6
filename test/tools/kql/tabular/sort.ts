import { sortOrder } from '../comparison.ts';
import { constantOf } from '../expression.ts';
import { unnamed } from '../functions/special-forms.ts';
import type { SyntaxNode } from '../language-service.ts';
import { frames, over, type Row, type Scope, type Table } from '../scope.ts';
import { listOf, part, partIfAny, typeOf } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import type { Value } from '../values.ts';

/** `sort by`: descending unless said, nulls at the small end; rows that are equal keep their order. */
export function sort(node: SyntaxNode, input: Table, scope: Scope): Table {
  return sorted(listOf(node, 'Expressions'), input, scope);
}

/** `top 5 by x`. */
export function top(node: SyntaxNode, input: Table, scope: Scope): Table {
  const count = countOf(part(node, 'Expression'), scope);
  const whole = sorted([part(node, 'ByExpression')], input, scope);
  return { ...whole, rows: whole.rows.slice(0, count) };
}

export function take(node: SyntaxNode, input: Table, scope: Scope): Table {
  return { ...input, rows: input.rows.slice(0, countOf(part(node, 'Expression'), scope)) };
}

function countOf(node: SyntaxNode, scope: Scope): number {
  const count = constantOf(node, scope);
  return typeof count === 'bigint' && count >= 0n ? Number(count) : unsupported('a number of rows that is no count');
}

type Criterion = { readonly value: (index: number) => Value; readonly compare: (a: Value, b: Value) => number };

function sorted(expressions: readonly SyntaxNode[], input: Table, scope: Scope): Table {
  const all = frames(input.rows);
  const criteria = expressions.map((each): Criterion => {
    const { expression, compare } = criterionOf(each, scope);
    const evaluate = scope.engine.compile(unnamed(expression), over(input, scope));
    const values = all.map(evaluate);
    return { value: (index) => values[index] ?? null, compare };
  });
  const indexes = input.rows.map((_, index) => index);
  indexes.sort((a, b) => {
    for (const { value, compare } of criteria) {
      const order = compare(value(a), value(b));
      if (order !== 0) return order;
    }
    return 0;
  });
  return { ...input, rows: indexes.map((index): Row => input.rows[index] ?? []), serialized: true };
}

function criterionOf(node: SyntaxNode, scope: Scope) {
  const isOrdered = scope.engine.kinds.syntax(node) === 'OrderedExpression';
  const expression = isOrdered ? part(node, 'Expression') : node;
  const ordering = isOrdered ? partIfAny(node, 'Ordering') : undefined;
  const direction = ordering && partIfAny(ordering, 'AscOrDescKeyword')?.Text;
  const nulls = ordering && partIfAny(ordering, 'NullsClause');
  const isAscending = direction === 'asc' || direction === 'granny-asc';
  const isNullsFirst = nulls ? part(nulls, 'FirstOrLastKeyword').Text === 'first' : isAscending;
  if (typeOf(expression) === 'dynamic') return unsupported('sorting by a dynamic column');
  if (direction?.startsWith('granny')) return unsupported(`the order ${direction}`);
  return { expression, compare: sortOrder(isAscending, isNullsFirst) };
}

import { order } from '../comparison.ts';
import type { SyntaxNode } from '../language-service.ts';
import type { Frame } from '../scope.ts';
import { type Column, columnsOf } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import type { Value } from '../values.ts';
import type { Aggregate, AggregateCall, Aggregates } from './aggregate.ts';

/** The row with the extreme value; nulls lose, NaN wins, then the first of equals; among nulls alone any row will do. */
function extremeFrame(group: readonly Frame[], call: AggregateCall, isBetter: (order: number) => boolean) {
  const [measure] = call.args;
  if (!measure) return unsupported(`${call.name}() of nothing`);
  let best: { readonly frame: Frame; readonly value: Value } | undefined;
  for (const frame of group) {
    const value = measure(frame);
    if (typeof value === 'number' && Number.isNaN(value)) return { frame, value };
    const isFirst = best === undefined || (best.value === null && value !== null);
    if (isFirst || (value !== null && best?.value != null && isBetter(order(value, best.value)))) {
      best = { frame, value };
    }
  }
  return best;
}

const argExtreme =
  (isBetter: (order: number) => boolean): Aggregate =>
  (group, call) => {
    const best = extremeFrame(group, call, isBetter);
    const picks = call.args.slice(1);
    return [best?.value ?? null, ...picks.map((pick) => (best ? pick(best.frame) : null))];
  };

export const argAggregates: Aggregates = {
  arg_max: argExtreme((by) => by > 0),
  argmax: argExtreme((by) => by > 0),
  arg_min: argExtreme((by) => by < 0),
  argmin: argExtreme((by) => by < 0),
};

/**
 * `arg_max(x, *)` and `take_any(*)` with the star spelled out: every column that the binder's tuple names, save the
 * ones grouped by.
 */
export function withoutStar(call: AggregateCall, node: SyntaxNode, keys: ReadonlySet<string>): AggregateCall {
  const star = call.nodes.findIndex((each) => call.scope.engine.kinds.syntax(each) === 'StarExpression');
  if (star < 0) return call;
  if (star !== call.nodes.length - 1) return unsupported(`${call.name}() with something after the *`);
  const tuple = columnsOf(node.ResultType) ?? unsupported(`${call.name}(*)`);
  const named = tuple.slice(star).filter((column) => !keys.has(column.name));
  return { ...call, args: [...call.args.slice(0, star), ...named.map((column) => reader(column, call))] };
}

function reader(column: Column, { scope }: AggregateCall) {
  const index = scope.columns.findIndex((each) => each.name === column.name);
  if (index < 0) return unsupported(`the column ${column.name} of a *`);
  return ({ row }: Frame): Value => row[index] ?? null;
}

import type { SyntaxNode } from '../language-service.ts';
import type { Evaluate, Frame, Scope } from '../scope.ts';
import { hasColumns, nameOf, part, typeOf } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { cellOf, isArray, type Value } from '../values.ts';
import { type AggregateCall, type Aggregates, aggregateCall } from './aggregate.ts';
import { argAggregates, withoutStar } from './arg-extremes.ts';
import { listAggregates } from './lists.ts';
import { numberAggregates } from './numbers.ts';

const aggregates: Aggregates = { ...numberAggregates, ...listAggregates, ...argAggregates };

export const isAggregate = (name: string): boolean => Object.hasOwn(aggregates, name);

/** Makes one value of a group. */
type OfGroup = (group: readonly Frame[]) => Value;

/** An expression of `summarize`: aggregates, and what is calculated from their results. */
export type Summary = (group: readonly Frame[]) => readonly Value[];

/** Compiles one expression of `summarize`; `keys` are the names of the columns grouped by. */
export function compileSummary(node: SyntaxNode, scope: Scope, keys: ReadonlySet<string>): Summary {
  if (hasColumns(node)) return compileTuple(node, scope, keys);
  const slots: OfGroup[] = [];
  const calls = {
    add: (call: SyntaxNode) => {
      slots.push(compileAggregate(call, scope));
      return slots.length - 1;
    },
  };
  const result: Evaluate = scope.engine.compile(node, { ...scope, columns: [], aggregates: calls });
  return (group) => {
    const row = slots.map((slot) => slot(group));
    return [result({ row, rows: [row], index: 0 })];
  };
}

function compileAggregate(node: SyntaxNode, scope: Scope): OfGroup {
  const call = firstArguments(aggregateCall(node, scope), scope);
  const aggregate = aggregates[call.name] ?? unsupported(`the aggregate ${call.name}()`);
  const isTuple = /^(arg_?max|arg_?min|percentiles)$/.test(call.name);
  return (group) => {
    const value = aggregate(group, call);
    const isSeveral = isTuple && isArray(value);
    return cellOf(isSeveral ? (value[0] ?? null) : value, typeOf(node));
  };
}

/** Of `arg_max(x, *)` the binder makes a single column where nothing is left for the star. */
function firstArguments(call: AggregateCall, scope: Scope): AggregateCall {
  const count = call.nodes.findIndex((each) => scope.engine.kinds.syntax(each) === 'StarExpression');
  return count < 0 ? call : { ...call, args: call.args.slice(0, count) };
}

/** `arg_max`, `percentiles` and `take_any` of several: as many columns as results. */
function compileTuple(node: SyntaxNode, scope: Scope, keys: ReadonlySet<string>): Summary {
  if (scope.engine.kinds.syntax(node) !== 'FunctionCallExpression')
    return unsupported('calculating with several columns');
  const name = nameOf(part(node, 'Name'));
  const call = withoutStar(aggregateCall(node, scope), node, keys);
  if (name === 'take_any' || name === 'any') {
    return (group) => call.args.map((value) => (group[0] ? value(group[0]) : null));
  }
  const aggregate = aggregates[name] ?? unsupported(`the aggregate ${name}()`);
  return (group) => {
    const value = aggregate(group, call);
    return isArray(value) ? value : unsupported(`${name}() with one result for several columns`);
  };
}

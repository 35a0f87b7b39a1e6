import { compileSummary, type Summary } from '../aggregates/index.ts';
import { calculate } from '../arithmetic.ts';
import { order } from '../comparison.ts';
import { constantOf } from '../expression.ts';
import { unnamed } from '../functions/special-forms.ts';
import type { SyntaxNode } from '../language-service.ts';
import { type Frame, frames, over, type Scope, type Table } from '../scope.ts';
import { listOf, parametersOf, part, partIfAny, tableColumns, tokensOf, typeOf } from '../syntax.ts';
import { floorDivide } from '../time-text.ts';
import { unsupported } from '../unsupported.ts';
import { cellOf, isDatetime, isTimespan, keyOf, type Value } from '../values.ts';
import { groupsOf } from './summarize.ts';

type Series = { readonly summary: Summary; readonly otherwise: Value };

/** `make-series … on t from a to b step s by k`: one row for each key met between the ends, an array with one value for each step. */
export function makeSeries(node: SyntaxNode, input: Table, scope: Scope): Table {
  const columns = tableColumns(node);
  const parameters = parametersOf(node);
  const kind = parameters.get('kind');
  const isNonempty = kind !== undefined && tokensOf(kind) === 'nonempty';
  if (parameters.size > (isNonempty ? 1 : 0)) return unsupported('make-series with a parameter');
  const inner = over(input, scope);
  const axisOf = scope.engine.compile(unnamed(part(part(node, 'OnClause'), 'Expression')), inner);
  const axis = stepsOf(part(node, 'RangeClause'), scope);
  const byClause = partIfAny(node, 'ByClause');
  const by = byClause ? listOf(byClause, 'Expressions') : [];
  const keys = by.map((each) => scope.engine.compile(unnamed(each), inner));
  const series = listOf(node, 'Aggregates').map((each) => seriesOf(each, inner));
  const known = new Set(axis.points.map(keyOf));
  const all = frames(input.rows).filter((frame) => known.has(stepBefore(axisOf(frame), axis)));
  const met = groupsOf(all, keys);
  const groups = isNonempty && by.length === 0 && met.length === 0 ? [{ key: [], frames: [] }] : met;
  const rows = groups.map(({ key, frames: members }) => {
    const bins = Map.groupBy(members, (frame) => stepBefore(axisOf(frame), axis));
    const values = series.map((each) => axis.points.map((point) => valueAt(each, bins.get(keyOf(point)))));
    return [...key, ...values, axis.points];
  });
  const isWhole = rows.every((row) => row.length === columns.length);
  return isWhole ? { columns, rows, serialized: false } : unsupported('make-series with columns of another number');
}

function seriesOf(node: SyntaxNode, scope: Scope): Series {
  const aggregate = unnamed(part(node, 'Expression'));
  const clause = partIfAny(node, 'DefaultExpression');
  const zero: Value = typeOf(aggregate) === 'real' ? 0 : 0n;
  return {
    summary: compileSummary(aggregate, scope, new Set()),
    otherwise: clause ? cellOf(constantOf(part(clause, 'Expression'), scope), 'dynamic') : zero,
  };
}

function valueAt({ summary, otherwise }: Series, members: readonly Frame[] | undefined): Value {
  return members ? (summary(members)[0] ?? null) : otherwise;
}

type Axis = { readonly points: readonly Value[]; readonly from: Value; readonly step: Value };

/** From the first step up to, and without, the end. */
function stepsOf(clause: SyntaxNode, scope: Scope): Axis {
  const [fromClause, toClause] = [partIfAny(clause, 'MakeSeriesFromClause'), partIfAny(clause, 'MakeSeriesToClause')];
  if (!fromClause || !toClause) return unsupported('make-series without from and to');
  const [from, to] = [fromClause, toClause].map((each) => constantOf(part(each, 'Expression'), scope));
  const step = constantOf(part(part(clause, 'MakeSeriesStepClause'), 'Expression'), scope);
  if (from === undefined || to === undefined || from === null || to === null || step === null) {
    return unsupported('make-series from or to null');
  }
  const points: Value[] = [];
  for (let point: Value = from; point !== null && order(point, to) < 0; point = calculate('+', point, step)) {
    points.push(point);
    if (points.length > 100_000) return unsupported('make-series without an end');
  }
  return { points, from, step };
}

/** The key of the step that a value falls into. */
function stepBefore(value: Value, { from, step }: Axis): string {
  if (value === null) return '';
  if (typeof value === 'bigint' && typeof from === 'bigint' && typeof step === 'bigint') {
    return keyOf(from + floorDivide(value - from, step) * step);
  }
  if (isDatetime(value) && isDatetime(from) && isTimespan(step)) {
    const ticks = from.ticks + floorDivide(value.ticks - from.ticks, step.ticks) * step.ticks;
    return keyOf({ kind: 'datetime', ticks });
  }
  return unsupported('make-series on values of these types');
}

import { calculate } from '../arithmetic.ts';
import { order } from '../comparison.ts';
import type { Frame } from '../scope.ts';
import { unsupported } from '../unsupported.ts';
import { isDatetime, isNumeric, isTimespan, keyOf, timespan, type Value } from '../values.ts';
import { type Aggregate, type AggregateCall, type Aggregates, constantAt, presentValues, where } from './aggregate.ts';

const zeroOf: Readonly<Record<string, Value>> = { long: 0n, int: 0n, real: 0, timespan: timespan(0n) };

/** Nothing sums up to zero. */
const sum: Aggregate = (group, call) => {
  const zero = zeroOf[call.type] ?? unsupported(`the sum of ${call.types[0]}`);
  return presentValues(group, call).reduce<Value>((total, value) => calculate('+', total, value), zero);
};

/** The mean of nothing is NaN, not null. */
const avg: Aggregate = (group, call) => {
  const values = presentValues(group, call);
  if (call.type === 'timespan') {
    if (values.length === 0) return null;
    const ticks = values.reduce<bigint>((total, value) => total + (isTimespan(value) ? value.ticks : 0n), 0n);
    return timespan(ticks / BigInt(values.length));
  }
  if (call.type !== 'real') return unsupported(`the mean of ${call.types[0]}`);
  const total = values.reduce<Value>((sum, value) => calculate('+', sum, value), call.types[0] === 'real' ? 0 : 0n);
  return numberOf(total) / values.length;
};

const numberOf = (value: Value): number => (isNumeric(value) ? Number(value) : unsupported('a sum of no numbers'));

const isNoNumber = (value: Value): boolean => typeof value === 'number' && Number.isNaN(value);

const extreme =
  (isBetter: (order: number) => boolean): Aggregate =>
  (group, call) => {
    const values = presentValues(group, call);
    if (call.types[0] === 'dynamic') return unsupported(`${call.name}() of dynamic values`);
    if (values.includes('')) return unsupported(`${call.name}() of texts, one of them empty`);
    if (values.some(isNoNumber)) return Number.NaN;
    return values.reduce<Value>((best, each) => (best === null || isBetter(order(each, best)) ? each : best), null);
  };

/** The variance of a sample or of a whole population; of one value or none it is 0. */
const variance =
  (isSample: boolean): Aggregate =>
  (group, call) => {
    const numbers = presentValues(group, call).map(numberOf);
    const count = numbers.length - (isSample ? 1 : 0);
    if (count <= 0) return 0;
    const mean = numbers.reduce((total, value) => total + value, 0) / numbers.length;
    return numbers.reduce((total, value) => total + (value - mean) ** 2, 0) / count;
  };

const root =
  (of: Aggregate): Aggregate =>
  (group, call) =>
    Math.sqrt(numberOf(of(group, call)));

const [sampleVariance, populationVariance] = [variance(true), variance(false)];

/** Nearest rank, as the service has it for the small numbers of values that tests have. */
function percentile(values: readonly Value[], rank: Value): Value {
  if (!isNumeric(rank)) return unsupported('a percentile at no number');
  const place = Math.ceil((Number(rank) / 100) * values.length) - 1;
  return values[Math.max(0, place)] ?? null;
}

function inOrder(group: readonly Frame[], call: AggregateCall): Value[] {
  const values = presentValues(group, call);
  if (!values.every((value) => isNumeric(value) || isDatetime(value) || isTimespan(value)) || values.some(isNoNumber)) {
    return unsupported('percentiles of what has no order');
  }
  return values.sort(order);
}

const count: Aggregate = (group) => BigInt(group.length);

/** Exact, where the service estimates once there are many. */
const distinctCount: Aggregate = (group, call) => BigInt(new Set(presentValues(group, call).map(keyOf)).size);

const [min, max] = [extreme((by) => by < 0), extreme((by) => by > 0)];

export const numberAggregates: Aggregates = {
  /** `count(x)` counts rows, regardless of x. */
  count,
  countif: where(count, 0),
  dcount: distinctCount,
  dcountif: where(distinctCount),
  count_distinct: distinctCount,
  count_distinctif: where(distinctCount),
  sum,
  sumif: where(sum),
  avg,
  avgif: where(avg),
  min,
  minif: where(min),
  max,
  maxif: where(max),
  variance: sampleVariance,
  varianceif: where(sampleVariance),
  variancep: populationVariance,
  stdev: root(sampleVariance),
  stdevif: where(root(sampleVariance)),
  stdevp: root(populationVariance),
  percentile: (group, call) => percentile(inOrder(group, call), constantAt(1, group, call) ?? null),
  percentiles: (group, call) => {
    const values = inOrder(group, call);
    return call.args.slice(1).map((_, index) => percentile(values, constantAt(index + 1, group, call) ?? null));
  },
  percentiles_array: (group, call) => {
    const values = inOrder(group, call);
    const ranks = call.args.slice(1).flatMap((_, index) => constantAt(index + 1, group, call) ?? null);
    return ranks.map((rank) => percentile(values, rank));
  },
};

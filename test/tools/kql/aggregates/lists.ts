import { merged } from '../functions/bags.ts';
import { distinctOf } from '../functions/sets.ts';
import type { Frame } from '../scope.ts';
import { unsupported } from '../unsupported.ts';
import { isArray, type Value } from '../values.ts';
import {
  type Aggregate,
  type AggregateCall,
  type Aggregates,
  constantAt,
  presentValues,
  valuesOf,
  where,
} from './aggregate.ts';

/** Arrays are flattened, one level; nulls that are not dynamic left out; at most as many as the second argument says. */
const list: Aggregate = (group, call) => {
  const values = call.types[0] === 'dynamic' ? valuesOf(group, call) : presentValues(group, call);
  return limited(flat(values), group, call);
};

const flat = (values: readonly Value[]): Value[] => values.flatMap((value) => (isArray(value) ? value : [value]));

function limited(values: Value[], group: readonly Frame[], call: AggregateCall): Value[] {
  const size = constantAt(1, group, call);
  if (size === undefined) return values;
  return typeof size === 'bigint' && size > 0n ? values.slice(0, Number(size)) : unsupported('a list of no size');
}

const set: Aggregate = (group, call) => {
  const values = presentValues(group, call);
  if (call.types[0] === 'dynamic' && values.length < group.length) return unsupported('make_set() of a dynamic null');
  return limited(distinctOf(flat(values)), group, call);
};

const bag: Aggregate = (group, call) => {
  if (call.args.length > 1) return unsupported('make_bag() of a size');
  return merged(valuesOf(group, call));
};

/** Any non-null value is correct; the service returns the first in practice. */
const any: Aggregate = (group, call) => {
  const values = presentValues(group, call);
  return values.find((value) => value !== '') ?? values[0] ?? null;
};

export const listAggregates: Aggregates = {
  make_list: list,
  makelist: list,
  make_list_if: where(list),
  make_list_with_nulls: (group, call) => flat(valuesOf(group, call)),
  make_set: set,
  makeset: set,
  make_set_if: where(set),
  make_bag: bag,
  make_bag_if: where(bag),
  take_any: any,
  any,
  take_anyif: where(any),
  anyif: where(any),
};

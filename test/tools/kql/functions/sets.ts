import type { ScalarFunction, ScalarFunctions } from '../scope.ts';
import { unsupported } from '../unsupported.ts';
import { isArray, keyOf, type Value } from '../values.ts';

/** The members of a set in the order they are met first. */
export function distinctOf(values: readonly Value[]): Value[] {
  const byKey = new Map(values.toReversed().map((value) => [keyOf(value), value]));
  return values.filter((value) => byKey.get(keyOf(value)) !== undefined && byKey.delete(keyOf(value)) !== false);
}

const arraysOf = (args: readonly Value[]): (readonly Value[])[] =>
  args.map((arg) => (isArray(arg) ? arg : unsupported('a set that is no array')));

const keysOf = (values: readonly Value[]): Set<string> => new Set(values.map(keyOf));

const ofSets =
  (calculate: (first: readonly Value[], ...rest: (readonly Value[])[]) => Value): ScalarFunction =>
  (args) => {
    if (args.some((arg) => arg === null)) return unsupported('a set that is null');
    const [first, ...rest] = arraysOf(args);
    return first ? calculate(first, ...rest) : unsupported('no set at all');
  };

export const setFunctions: ScalarFunctions = {
  set_union: ofSets((...sets) => distinctOf(sets.flat())),
  set_intersect: ofSets((first, ...rest) =>
    distinctOf(first.filter((value) => rest.every((other) => keysOf(other).has(keyOf(value))))),
  ),
  set_difference: ofSets((first, ...rest) =>
    distinctOf(first.filter((value) => !rest.some((other) => keysOf(other).has(keyOf(value))))),
  ),
  set_has_element: ([set = null, wanted = null]) =>
    isArray(set) ? keysOf(set).has(keyOf(wanted)) : unsupported('set_has_element() of no array'),
  jaccard_index: ofSets((first, second = []) => {
    const [a, b] = [keysOf(first), keysOf(second)];
    return [...a].filter((key) => b.has(key)).length / new Set([...a, ...b]).size;
  }),
};

import { stepsOf } from '../path.ts';
import type { ScalarFunctions } from '../scope.ts';
import { unsupported } from '../unsupported.ts';
import { type Bag, isArray, isBag, type Value } from '../values.ts';

/** `bag_pack("name", value, …)`; given columns alone their names are the binder's business, so they are refused. */
function packed(args: readonly Value[]): Value {
  if (args.length % 2 === 1) return unsupported('bag_pack() of a name without a value');
  const pairs = new Map<string, Value>();
  for (let index = 0; index < args.length; index += 2) {
    const name = args[index];
    if (typeof name !== 'string') return unsupported('bag_pack() with a name that is no text');
    pairs.set(name, args[index + 1] ?? null);
  }
  return pairs;
}

/** The first bag to have a property wins. */
export function merged(bags: readonly Value[]): Value {
  const pairs = new Map<string, Value>();
  for (const bag of bags) {
    if (!isBag(bag)) continue;
    for (const [name, value] of bag) if (!pairs.has(name)) pairs.set(name, value);
  }
  return pairs;
}

/** A key is a name, or a path that begins with `$.`. */
function pathOf(key: Value): string[] {
  if (typeof key !== 'string') return unsupported('a key that is no text');
  if (!key.startsWith('$')) return [key];
  return stepsOf(key).map((step) =>
    typeof step === 'string' ? step : unsupported(`the path ${key} through an array`),
  );
}

function hasPath(bag: Value, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  return isBag(bag) && bag.has(name) && hasPath(bag.get(name) ?? null, rest);
}

function without(bag: Value, [name, ...rest]: readonly string[]): Value {
  if (!isBag(bag) || name === undefined || !bag.has(name)) return bag;
  const pairs = new Map(bag);
  if (rest.length === 0) pairs.delete(name);
  else pairs.set(name, without(bag.get(name) ?? null, rest));
  return pairs;
}

function withKey(bag: Value, [name, ...rest]: readonly string[], value: Value): Value {
  if (name === undefined) return value;
  const pairs: Bag = isBag(bag) ? bag : new Map();
  return new Map([...pairs, [name, withKey(pairs.get(name) ?? null, rest, value)]]);
}

export const bagFunctions: ScalarFunctions = {
  bag_pack: packed,
  pack: packed,
  pack_dictionary: packed,
  bag_keys: ([bag = null]) => (isBag(bag) ? [...bag.keys()] : null),
  bag_merge: merged,
  bag_has_key: ([bag = null, key = null]) => (isBag(bag) ? hasPath(bag, pathOf(key)) : false),
  bag_remove_keys: ([bag = null, keys = null]) => {
    if (!isBag(bag) || !isArray(keys)) return unsupported('bag_remove_keys() of no bag or no keys');
    return keys.reduce<Value>((left, key) => without(left, pathOf(key)), bag);
  },
  bag_set_key: ([bag = null, key = null, value = null]) =>
    isBag(bag) ? withKey(bag, pathOf(key), value) : unsupported('bag_set_key() of no bag'),
  treepath: ([value = null]) => treePaths(value),
};

/** Every path through a dynamic value, as Kusto spells it: `['a']`, `['b'][0]`. */
function treePaths(value: Value, path = ''): Value {
  if (!isBag(value)) return unsupported('treepath() of what is no bag');
  return [...value].flatMap(([name, each]) => {
    const here = `${path}['${name}']`;
    if (isBag(each)) return [here, ...asArray(treePaths(each, here))];
    if (!isArray(each)) return [here];
    return each.some((item) => isArray(item) || isBag(item))
      ? unsupported('treepath() through an array of bags')
      : [here, `${here}[0]`];
  });
}

const asArray = (value: Value): readonly Value[] => (isArray(value) ? value : []);

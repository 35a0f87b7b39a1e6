import { unsupported } from './unsupported.ts';
import { isArray, isBag, type Value } from './values.ts';

/** `bag.name`: null where there is no such property or no bag. */
export function memberOf(holder: Value, name: string): Value {
  return isBag(holder) ? (holder.get(name) ?? null) : null;
}

/** `array[0]`, `array[-1]`, `bag["name"]`. */
export function elementAt(holder: Value, selector: Value): Value {
  if (selector === null) return unsupported('an element at null');
  if (typeof selector === 'string') return memberOf(holder, selector);
  if (typeof selector !== 'bigint') return unsupported('an element at what is neither a name nor a whole number');
  return isArray(holder) ? (holder.at(Number(selector)) ?? null) : null;
}

/** The steps of a path such as `$.key2.prop1[0]['x']`. */
export function stepsOf(path: string): (string | bigint)[] {
  const steps: (string | bigint)[] = [];
  const step = /\.([\w-]+)|\[(\d+)\]|\[(['"])(.*?)\3\]/y;
  if (!path.startsWith('$')) return unsupported(`the path ${path}`);
  step.lastIndex = 1;
  while (step.lastIndex < path.length) {
    const found = step.exec(path);
    if (!found) return unsupported(`the path ${path}`);
    steps.push(found[2] === undefined ? (found[1] ?? found[4] ?? '') : BigInt(found[2]));
  }
  return steps;
}

import type { Random } from '../../fleet-model/random.ts';

/** What parsers stumble over. */
const fragments = [
  ...['', ' ', '\0', '\ufeff', '"', '\\', '\\u', '"\\ud800"', '{', '}', '[', ']', ',', ':', '-', '0', '1e999', '-0'],
  ...[
    'null',
    'true',
    'NaN',
    '9007199254740993',
    '99999999999999999999',
    '"__proto__"',
    '/*',
    '%',
    '[[[[[[[[[[',
    '\xff',
  ],
];

/** A text with some bytes changed, as a bad disk, a proxy or a hand leaves it. */
export function mutatedBytes(text: string, random: Random): Buffer {
  let bytes: Buffer = Buffer.from(text);
  for (let n = random.int(1, 4); n > 0; n -= 1) {
    const at = random.int(0, bytes.length);
    const end = Math.min(bytes.length, at + random.int(0, random.chance(0.1) ? bytes.length : 12));
    const [head, tail] = [bytes.subarray(0, at), bytes.subarray(end)];
    const middle = bytes.subarray(at, end);
    bytes = random.pick<() => Buffer>([
      () => Buffer.concat([head, Buffer.from(middle.map((byte) => byte ^ (1 << random.int(0, 7)))), tail]),
      () => Buffer.concat([head, tail]),
      () => Buffer.concat([head, middle, middle, tail]),
      () => Buffer.concat([head, Buffer.from(random.pick(fragments), 'latin1'), tail]),
      () => Buffer.concat([head, Buffer.from(random.pick(fragments).repeat(random.int(1, 300)), 'latin1'), tail]),
      () => Buffer.from(random.chance(0.2) ? head : Buffer.concat([head, middle])),
    ])();
  }
  return bytes;
}

const names = [
  'Events',
  'EventId',
  'events',
  '__proto__',
  'constructor',
  'toString',
  '',
  '\ud800',
  'x'.repeat(200),
  'a.b',
];

const values: readonly ((random: Random) => unknown)[] = [
  () => null,
  () => true,
  () => '',
  () => [],
  () => ({}),
  () => 'Started',
  () => '\ud800',
  () => 'x'.repeat(70_000),
  () => 'Sat, 31 Feb 2026 99:00:00 GMT',
  () => '2026-03-01T12:00:00Z',
  (random) => random.int(-3, 3),
  (random) => random.pick([1.5, -0, 2 ** 53, 1e300, -1e300, 2 ** 31, 86_400_000 * 1e9]),
  (random) => Array.from({ length: random.int(1, 40) }, (_, n) => random.pick<unknown>([n, `web_${n}`, null, {}])),
  (random) => nested(random.int(1, 1200)),
  (random) => Object.fromEntries(names.map((name) => [name, random.int(0, 9)])),
];

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let n = 0; n < depth; n += 1) value = n % 2 === 0 ? [value] : { below: value };
  return value;
}

/** A copy of a JSON value in which some parts are other values, missing, repeated, renamed or new. */
export function mutatedValue(value: unknown, random: Random): unknown {
  const copy: { root: unknown } = { root: JSON.parse(JSON.stringify(value) ?? 'null') };
  for (let n = random.int(1, 4); n > 0; n -= 1) change(copy, random);
  return copy.root;
}

function change(holder: object, random: Random): void {
  const places: (readonly [object: object, key: string])[] = [];
  const visit = (object: object, depth: number): void => {
    for (const [key, below] of Object.entries(object)) {
      places.push([object, key]);
      if (typeof below === 'object' && below !== null && depth < 12) visit(below, depth + 1);
    }
  };
  visit(holder, 0);
  const [object, key] = random.pick(places) as unknown as readonly [Record<string, unknown>, string];
  const other = random.pick(values)(random);
  const isRoot = object === holder;
  if (isRoot && random.chance(0.9)) return;
  const how = random.pick(['replace', 'delete', 'add', 'rename', 'repeat']);
  if (how === 'delete' && !isRoot) Array.isArray(object) ? object.splice(Number(key), 1) : delete object[key];
  else if (how === 'add' && Array.isArray(object)) object.push(other);
  else if (how === 'add' && !isRoot) define(object, random.pick(names), other);
  else if (how === 'rename' && !isRoot && !Array.isArray(object)) {
    const held = object[key];
    delete object[key];
    define(object, random.chance(0.5) ? key.toUpperCase() : random.pick(names), held);
  } else if (how === 'repeat' && Array.isArray(object)) object.push(object[Number(key)]);
  else define(object, key, other);
}

/** As `JSON.parse` does it: `__proto__` is a key like any other. */
const define = (object: object, key: string, value: unknown): void => {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
};

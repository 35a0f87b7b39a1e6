import { any, type ObjectShape, type Property, type Shape } from './shape.ts';

/**
 * Reads the short notation of an object's properties: `name! tags sku(name! capacity) rules[action!] endpoints{url!} =id`.
 * `!` is required, `=` read-only; `(…)` is an object, `[…]` a list of objects, `{…}` objects under free names; the rest
 * may be anything.
 */
export function shapeOfNotation(notation: string): ObjectShape {
  const words = notation.match(/=?\$?[\w.]+!?|[([{}\])]/g) ?? [];
  let at = 0;

  function properties(): ReadonlyMap<string, Property> {
    const found = new Map<string, Property>();
    while (at < words.length && !/^[)\]}]$/.test(words[at] ?? '')) {
      const word = words[at] ?? '';
      at += 1;
      const name = word.replace(/^=|!$/g, '');
      found.set(name, { shape: inside(), required: word.endsWith('!'), readOnly: word.startsWith('=') });
    }
    at += 1;
    return found;
  }

  function inside(): Shape {
    const open = words[at] ?? '';
    if (!/^[([{]$/.test(open)) return any;
    at += 1;
    const object = objectWith(properties());
    if (open === '(') return object;
    return open === '[' ? { kind: 'array', of: object } : { ...objectWith(new Map()), rest: object };
  }

  return objectWith(properties());
}

const objectWith = (properties: ReadonlyMap<string, Property>): ObjectShape => ({
  kind: 'object',
  name: 'the known properties',
  properties,
  rest: null,
});

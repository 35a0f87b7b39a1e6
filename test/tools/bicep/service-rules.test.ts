import { expect, test } from 'vitest';
import { knownResource } from './known-resources.ts';
import { breach } from './rule-breach.ts';
import { type Must, serviceRules } from './service-rules.ts';

const rows = serviceRules.map((rule, n) => ({ ...rule, n }));

test.for(rows)('rule $n on $path of $type has a source, and its type is used here', ({ type, source }) => {
  expect(source).toMatch(/^https:\/\/(learn\.microsoft\.com|github\.com)\/\S+$/);
  expect(knownResource(type), `${type} is not used here: drop the rule`).not.toBeNull();
});

/** A value that is right, one that is wrong, and the resource around both. */
function values(must: Must): { right: unknown; wrong: unknown; body: unknown } {
  const body = { other: 5, list: [{ name: 'a' }], gap: 'PT10M' };
  if ('is' in must) return { right: must.is, wrong: '«location»', body };
  if ('isNot' in must) return { right: '«only Azure knows»', wrong: must.isNot, body };
  if ('oneOf' in must) return { right: must.oneOf[0], wrong: `${must.oneOf[0]}s`, body };
  if ('matches' in must) return { right: must.matches === '_CL$' ? 'Records_CL' : '1.20.3', wrong: '1.0.0-rc1', body };
  if ('contains' in must) return { right: must.contains.join('/'), wrong: must.contains.slice(1).join('/'), body };
  if ('maxLength' in must)
    return { right: 'x'.repeat(must.maxLength), wrong: `«name»${'x'.repeat(must.maxLength)}`, body };
  if ('min' in must) return { right: must.min, wrong: must.min - 1, body };
  if ('max' in must) return { right: must.max, wrong: must.max + 1, body };
  if ('hasOneOf' in must) return { right: { [must.hasOneOf[0] ?? '']: 'x' }, wrong: { other: 'x' }, body };
  if ('atLeast' in must) return { right: 'PT10M', wrong: 'PT5M', body: at(must.atLeast, 'PT10M') };
  return { right: 'a', wrong: 'b', body: at(must.among[0] ?? '', 'a') };
}

/** `a.b[].c` and a value, as the resource that has it there. */
const at = (path: string, value: unknown): unknown =>
  path.split('.').reduceRight<unknown>((inner, part) => {
    const key = part.replace(/\[\]$/, '');
    return { [key]: part.endsWith('[]') ? [inner] : inner };
  }, value);

test.for(rows)('rule $n on $path of $type refuses the wrong value and nothing else', ({ must }) => {
  const { right, wrong, body } = values(must);
  expect(breach(right, must, body)).toBeNull();
  expect(breach(wrong, must, body)).not.toBeNull();
});

test.each([
  [30, 400, false],
  [400, 400, true],
  ['PT5M', 'PT1H', false],
  ['P1D', 'PT6H', true],
] as const)('%s is at least %s: %s', (value, other, isEnough) => {
  expect(breach(value, { atLeast: 'other' }, { other }) === null).toBe(isEnough);
});

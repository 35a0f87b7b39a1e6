import { expect, test } from 'vitest';
import { isRefusal } from '../../src/health/refusal.ts';
import { readTree } from '../support/source-tree.ts';

/** Every code that is passed to `retry` with this cause, as a text in the source. */
function codesOf(cause: string): readonly string[] {
  const call = new RegExp(`retry\\(\\s*'${cause}',\\s*'([a-z0-9-]+)'`, 'g');
  const calls = [...readTree('src/azure/*.ts', 'src/sinks/**/*.ts').values()].flatMap((text) => [
    ...text.matchAll(call),
  ]);
  return calls.map(([, code = '']) => code);
}

test('a configuration error of a sink is a refusal, and a transient error is not', () => {
  const [configuration, transient, throttled] = ['configuration', 'transient', 'throttled'].map(codesOf);
  expect(configuration?.length).toBeGreaterThan(8);
  expect(configuration?.filter((code) => !isRefusal(code))).toEqual([]);
  expect([...(transient ?? []), ...(throttled ?? [])].filter(isRefusal)).toEqual([]);
});

test.for([
  ['http-401', true],
  ['http-403', true],
  ['http-404', true],
  ['http-400', true],
  ['http-302', true],
  ['http-408', false],
  ['http-413', false],
  ['http-429', false],
  ['http-503', false],
  [null, false],
] as const)('%s is a refusal: %s', ([code, expected]) => {
  expect(isRefusal(code)).toBe(expected);
});

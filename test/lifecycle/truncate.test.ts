import { expect, test } from 'vitest';
import { truncateValue } from '../../src/lifecycle/truncate.ts';

test.for([
  ['a text is cut', 'abcdefghijkl', 'abcde…'],
  ['a list loses its last elements', ['abc', 'def', 'ghi'], ['abc']],
  ['an object becomes null', { a: 'abcdefghijkl' }, null],
  ['a value that fits is left as it is', 'abcd', 'abcd'],
] as const)('of a value that is too large, %s', ([, value, expected]) => {
  expect(truncateValue(value, 10)).toEqual(expected);
});

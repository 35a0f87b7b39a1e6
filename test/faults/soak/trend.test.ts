import { expect, test } from 'vitest';
import { slopePerHour } from './trend.ts';

const at = (...pairs: readonly (readonly [hours: number, value: number])[]) =>
  pairs.map(([hours, value]) => ({ hours, value }));

test('a figure that rises by 2 in half an hour rises by 4 in an hour', () => {
  expect(slopePerHour(at([0, 10], [0.5, 12]))).toBeCloseTo(4);
});

// Calculated without a program: means 1.5 and 3.5, sum of products 4.5, sum of squares 5.
test('of scattered figures it is the line of least squares', () => {
  expect(slopePerHour(at([0, 2], [1, 3], [2, 4.5], [3, 4.5]))).toBeCloseTo(0.9);
});

test('one moment shows no trend', () => {
  expect(slopePerHour(at([1, 5]))).toBeNaN();
});

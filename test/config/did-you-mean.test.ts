import { expect, test } from 'vitest';
import { closest } from '../../src/config/did-you-mean.ts';

const candidates = ['run', 'simulate', 'status', 'pollIntervalSeconds'];

test.for([
  ['rnu', 'run'],
  ['RUN', 'run'],
  ['simulat', 'simulate'],
  ['simluate', 'simulate'],
  ['stauts', 'status'],
  ['pollInterval', 'pollIntervalSeconds'],
  ['pollIntervallSecond', 'pollIntervalSeconds'],
  ['something', undefined],
] as const)('%s is taken for %s', ([word, meant]) => {
  expect(closest(word, candidates)).toBe(meant);
});

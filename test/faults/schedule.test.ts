import { expect, test } from 'vitest';
import { estimatedSeconds, nextToStart } from './schedule.ts';
import { faultTests } from './tests.ts';

const loaded = (id: string, seconds: number, processors: number) => ({ id, load: { seconds, processors } });
const computes = loaded('computes', 60, 1);
const waits = loaded('waits', 90, 0.3);
const short = loaded('short', 10, 0.1);
const heavy = loaded('heavy', 50, 1.8);

test.for([
  ['the longest is first', [short, computes, waits], [], 2, 'waits'],
  ['the longest that fits beside those that run', [short, computes, waits, heavy], [heavy], 2, 'short'],
  ['none fits', [computes, waits], [heavy], 2, undefined],
  ['none is left', [], [short], 2, undefined],
  ['a test that takes more than there is runs alone', [heavy], [], 1, 'heavy'],
  ['without processors one runs at a time: the first', [short], [], 0, 'short'],
  ['without processors one runs at a time: the second', [short], [waits], 0, undefined],
  ['ten tenths are one processor', [short], Array.from({ length: 9 }, () => short), 1, 'short'],
] as const)('the next test to start: %s', ([, waiting, running, processors, expected]) => {
  expect(nextToStart(waiting, running, processors)?.id).toBe(expected);
});

test.for([
  // From 0 to 90: waits; from 0 to 60: computes; from 0 to 10: short; from 90 to 140: heavy.
  [[short, heavy, computes, waits], 2, 140],
  [[short, heavy], 2, 50],
  [[computes, waits], 2, 90],
  [[computes, computes, computes], 2, 120],
  [[computes, waits], 0, 150],
  [[], 2, 0],
] as const)('the estimate of a run: case %#', ([tests, processors, seconds]) => {
  expect(estimatedSeconds(tests, processors)).toBe(seconds);
});

test('by their loads the quick cases of all tests take less than five minutes on two processors', () => {
  expect(estimatedSeconds(faultTests, 2)).toBeLessThan(300);
});

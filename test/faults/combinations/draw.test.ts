import { expect, test } from 'vitest';
import { createRandom } from '../../fleet-model/random.ts';
import { combinations } from '../tests/combinations.ts';
import { drawCombinations, pairsWithout, plainer } from './draw.ts';

test('the combinations of a quick run have every pair of values, and fewer do not', () => {
  const drawn = drawCombinations(createRandom(7), combinations.cases.quick);
  expect(pairsWithout(drawn)).toBe(0);
  expect(pairsWithout(drawn.slice(0, 30))).toBeGreaterThan(0);
});

test('a plainer combination differs in one value, and the plainest one has none', () => {
  const [plain] = drawCombinations(createRandom(7), 1).map(
    (one) => ({ ...one, backlog: 'a record', restarts: 1 }) as const,
  );
  if (!plain) throw new Error('nothing was drawn');
  expect(plainer(plain)).toContainEqual({ ...plain, backlog: 'nothing' });
  expect(plainer(plain).some(({ backlog, restarts }) => backlog === 'a record' && restarts !== 1)).toBe(false);
});

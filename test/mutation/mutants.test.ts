import { expect, test } from 'vitest';
import { equivalents, isListed } from './equivalents.ts';
import { filesOf, listMutants, sample } from './mutants.ts';

test('every mutant that is listed as equivalent is still made of the sources', async () => {
  const mutants = [...(await listMutants([...new Set(equivalents.map(({ file }) => file))])).values()];
  expect(equivalents.filter((each) => !mutants.some((mutant) => isListed(each, mutant)))).toEqual([]);
});

test('the mutants of a file name the line and the text that they replace', async () => {
  const mutants = [...(await listMutants(['src/relay/backoff.ts'])).values()];
  expect(mutants).toContainEqual({
    file: 'src/relay/backoff.ts',
    line: expect.any(Number),
    mutator: 'ArithmeticOperator',
    original: '2 * shortest',
    replacement: '2 / shortest',
  });
});

test('a sample is the same for the same seed, and another for another', () => {
  const keys = Array.from({ length: 1000 }, (_, index) => `mutant ${index}`);
  expect(sample(keys, 10, 1)).toEqual(sample(keys.toReversed(), 10, 1));
  expect(sample(keys, 10, 1)).not.toEqual(sample(keys, 10, 2));
  expect(new Set(sample(keys, 2000, 1))).toEqual(new Set(keys));
});

test('each area has sources', () => {
  expect(filesOf('relay')).toContain('src/relay/relay.ts');
});

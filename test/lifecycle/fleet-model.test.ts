import { expect, test } from 'vitest';
import { cases } from '../fleet-model/cases.ts';
import { brokenKinds, countWorlds, examplesOf, tableOf } from '../fleet-model/count.ts';
import { describeRecords, describeWorld } from '../fleet-model/describe.ts';
import { judgeCase } from '../fleet-model/judge-case.ts';
import { runs } from '../support/runs.ts';

test.each(cases)('$title', { timeout: 120_000 }, (one) => {
  const { verdict, problems } = judgeCase(one);
  expect(problems, `${describeWorld(one.world)}\nrecords\n${describeRecords(verdict)}`).toEqual([]);
});

test('an event that reappeared on a VM that then lost its state does not stay open', { timeout: 120_000 }, () => {
  // Its second end has the recordId of the first: folded by recordId alone, EVENT-5047-1 never ends.
  expect(brokenKinds(countWorlds(5047, 1))).toEqual([]);
});

/** The first of the worlds that `npm run test:fleet` plays. */
const worlds = runs('fleets', { quick: 10, full: 200 });

test('the records of random fleets are true', { timeout: 120_000 }, () => {
  const counts = countWorlds(1, worlds);
  const broken = brokenKinds(counts);
  expect(counts.records).toBeGreaterThan(10 * worlds);
  expect(broken, [tableOf(counts), examplesOf(counts, broken)].join('\n\n')).toEqual([]);
});

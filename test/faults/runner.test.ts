import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { FaultContext, FaultTest, Outcome } from './fault-test.ts';
import { type RunOptions, runTests } from './runner.ts';
import { textTable } from './table.ts';
import { faultsOf, verdictOf } from './verdict.ts';

const held: Outcome = {
  lost: 0,
  duplicated: { found: 2, allowed: 3 },
  happened: [{ what: 'kills', count: 20, least: 20 }],
  worst: { what: 'recovery', seconds: 4.2, mostSeconds: 5 },
  freshArrived: true,
  conservation: { samples: 9, violations: 0 },
  broken: [],
};

test.for<readonly [change: Partial<Outcome>, faults: readonly string[]]>([
  [{}, []],
  [{ lost: 1 }, ['1 lost']],
  [{ duplicated: { found: 4, allowed: 3 } }, ['4 duplicates, at most 3 are allowed']],
  [{ happened: [] }, ['no proof that the fault happened']],
  [{ happened: [{ what: 'kills', count: 19, least: 20 }] }, ['kills: 19, at least 20 are needed']],
  [{ worst: { what: 'recovery', seconds: 5.1, mostSeconds: 5 } }, ['recovery: 5.1 s, at most 5 s are allowed']],
  [{ worst: null }, []],
  [{ freshArrived: false }, ['a fresh event did not arrive after the last fault']],
  [{ conservation: { samples: 0, violations: 0 } }, ['the counters were never sampled']],
  [{ conservation: { samples: 9, violations: 1 } }, ['the counters did not add up in 1 of 9 samples']],
  [{ broken: ['a record came twice under two ids'] }, ['a record came twice under two ids']],
])('the verdict of an outcome with %j', ([change, faults]) => {
  expect(faultsOf({ ...held, ...change })).toEqual(faults);
});

const testOf = (id: string, run: FaultTest['run'], whyNot: string | null = null): FaultTest => ({
  id,
  title: `what ${id} does`,
  kind: 'one process',
  cases: { quick: 2, full: 30 },
  whyNot: () => whyNot,
  run,
});
const runOf = (tests: readonly FaultTest[], options: Partial<RunOptions> = {}) => {
  const base = { amount: 'quick', seed: 7, program: 'main.ts', sources: 'src', minutesEach: 1 } as const;
  return runTests({ ...base, tests, signal: new AbortController().signal, say: () => {}, ...options });
};

test('the table has a row for each test, and says what is wrong', async () => {
  const results = await runOf([
    testOf('random-kills', async () => held),
    testOf('full-disk', async () => ({ ...held, lost: 3, worst: null, details: ['two disks'] })),
    testOf('file-calls', async () => held, 'there is no C compiler'),
    testOf('broken-test', async () => {
      throw new Error('the simulator did not start');
    }),
  ]);
  expect(textTable(results)).toBe(
    [
      'test          kind         n  seed  lost  duplicated  worst time      verdict',
      'random-kills  one process  2     7     0         2/3  recovery 4.2 s  ok',
      'full-disk     one process  2     7     3         2/3  -               failed',
      'file-calls    one process  2     7     -           -  -               skipped',
      'broken-test   one process  2     7     -           -  -               failed',
      '',
      'full-disk: 3 lost',
      'full-disk: two disks',
      'file-calls was skipped: there is no C compiler',
      'broken-test could not be completed: the simulator did not start',
      '1 ok, 2 failed, 1 skipped; 3 lost',
      '',
    ].join('\n'),
  );
});

test('a test gets the cases of the amount, the seed, and a folder that is removed afterwards', async () => {
  const seen: FaultContext[] = [];
  const run = async (context: FaultContext): Promise<Outcome> => {
    expect(existsSync(context.directory)).toBe(true);
    seen.push(context);
    return held;
  };
  await runOf([testOf('a', run), testOf('b', run)], { amount: 'full' });
  expect(seen).toMatchObject([
    { cases: 30, seed: 7 },
    { cases: 30, seed: 7 },
  ]);
  expect(new Set(seen.map(({ directory }) => directory)).size).toBe(2);
  expect(seen.filter(({ directory }) => existsSync(directory))).toEqual([]);
});

test('a test that never ends fails at its limit, and the next one runs', async () => {
  const results = await runOf([testOf('endless', () => new Promise(() => {})), testOf('b', async () => held)], {
    minutesEach: 0.0005,
  });
  expect(results.map(verdictOf)).toEqual(['failed', 'ok']);
  expect(results[0]?.ended).toEqual({ how: 'error', message: 'it took longer than 0.0005 minutes' });
});

test('an interrupted run ends the test that runs, and begins no other', async () => {
  const stop = new AbortController();
  const results = await runOf(
    [
      testOf('a', () => {
        stop.abort();
        return new Promise(() => {});
      }),
      testOf('b', async () => held),
    ],
    { signal: stop.signal },
  );
  expect(results.map(({ test, ended }) => [test.id, ended])).toEqual([
    ['a', { how: 'error', message: 'it was interrupted' }],
  ]);
});

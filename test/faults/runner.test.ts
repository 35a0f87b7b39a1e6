import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { FaultContext, FaultTest, Outcome } from './fault-test.ts';
import { type RunOptions, runTests } from './runner.ts';
import { slowdownOf } from './slowdown.ts';
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

test.for<readonly [slowdown: number, isLate: boolean]>([
  [1, true],
  [1.4, true],
  [1.6, false],
  // No machine is so slow that twice the promised time would do.
  [9, false],
])(
  'a time of 7.4 s, or of 10.1 s, is judged by the bound of 5 s and by a machine that is %d times slower',
  ([slowdown, isLate]) => {
    const of = (seconds: number) =>
      faultsOf({ ...held, worst: { what: 'recovery', seconds, mostSeconds: 5 } }, slowdown);
    expect(of(7.4).length > 0).toBe(isLate);
    expect(of(10.1)).toEqual(['recovery: 10.1 s, at most 5 s are allowed']);
  },
);

test('the slowdown is that of the samples since a moment, weighted by their work, and at least 1', () => {
  const samples = [
    { at: 1000, wallMs: 100, processorMs: 20 },
    { at: 2000, wallMs: 20, processorMs: 20 },
    { at: 3000, wallMs: 90, processorMs: 30 },
  ];
  expect(slowdownOf(samples, 0)).toBe(3);
  expect(slowdownOf(samples, 1500)).toBe(2.2);
  expect(slowdownOf(samples, 9000)).toBe(3);
  expect(slowdownOf([{ at: 0, wallMs: 19, processorMs: 20 }], 0)).toBe(1);
});

const testOf = (id: string, run: FaultTest['run'], whyNot: string | null = null): FaultTest => ({
  id,
  title: `what ${id} does`,
  kind: 'one process',
  cases: { quick: 2, full: 30 },
  load: { seconds: 10, processors: 1 },
  whyNot: () => whyNot,
  run,
});
const runOf = (tests: readonly FaultTest[], options: Partial<RunOptions> = {}) => {
  return runTests({
    ...{ tests, amount: 'quick', seed: 7, processors: 1, minutesEach: 1, say: () => {} },
    signal: new AbortController().signal,
    execute: async (test, context) => ({
      outcome: await test.run({ ...context, program: 'main.cjs', sources: 'src' }),
      processorSeconds: 1,
    }),
    ...options,
  });
};

test('the table has a row for each test, what proves its fault, and what is wrong', async () => {
  const results = await runOf([
    testOf('random-kills', async () => held),
    testOf('full-disk', async () => ({ ...held, lost: 3, worst: null, details: ['two disks'] })),
    testOf('file-calls', async () => held, 'there is no C compiler'),
    testOf('broken-test', async () => {
      throw new Error('the simulator did not start');
    }),
    testOf('late', async () => ({ ...held, worst: { what: 'start', seconds: 2.4, mostSeconds: 2 } })),
    testOf('many-points', async () => ({
      ...held,
      happened: ['a', 'b', 'c', 'd', 'e'].map((what, index) => ({ what, count: index + 1, least: 1 })),
    })),
  ]);
  // That of this machine is not known.
  const shown = results.map((result) => ({ ...result, slowdown: result.test.id === 'late' ? 1.3 : 1 }));
  expect(textTable(shown)).toBe(
    [
      'test          kind               n  seed  lost  duplicated  worst time             slowdown  verdict      proof of the fault',
      'random-kills  one process  2 of 30     7     0         2/3  recovery 4.2 s of 5 s       1.0  ok           kills: 20',
      'full-disk     one process  2 of 30     7     3         2/3  -                           1.0  failed       kills: 20',
      'file-calls    one process  2 of 30     7     -           -  -                           1.0  skipped      -',
      'broken-test   one process  2 of 30     7     -           -  -                           1.0  failed       -',
      'late          one process  2 of 30     7     0         2/3  start 2.4 s of 2 s          1.3  ok, excused  kills: 20',
      'many-points   one process  2 of 30     7     0         2/3  recovery 4.2 s of 5 s       1.0  ok           a: 1, b: 2, c: 3, 2 others: 9',
      '',
      'full-disk: 3 lost',
      'full-disk: two disks',
      'file-calls was skipped: there is no C compiler',
      'broken-test could not be completed: the simulator did not start',
      'late: start: longer than promised; excused, because the machine was 1.3 times slower than idle',
      '3 ok, 2 failed, 1 skipped; 3 lost',
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

/** As tests do: they end what they have started, and reject. */
const untilAborted = ({ signal }: FaultContext): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true }));

test('a test that never ends fails at its limit, and the next one runs', async () => {
  const results = await runOf([testOf('endless', untilAborted), testOf('b', async () => held)], {
    minutesEach: 0.0005,
  });
  expect(results.map(verdictOf)).toEqual(['failed', 'ok']);
  expect(results[0]?.ended).toEqual({ how: 'error', message: 'it took longer than 0.0005 minutes' });
});

test('an interrupted run waits until its tests have ended, removes their folders, and begins no other', async () => {
  const stop = new AbortController();
  const folders: string[] = [];
  const cleanedUp: string[] = [];
  const endSlowly = async (context: FaultContext): Promise<never> => {
    folders.push(context.directory);
    if (folders.length === 2) setTimeout(() => stop.abort(), 1);
    await untilAborted(context).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 20));
    cleanedUp.push(context.directory);
    throw new Error('aborted');
  };
  const light = { load: { seconds: 10, processors: 0.4 } };
  const tests = ['a', 'b', 'c'].map((id) => ({ ...testOf(id, endSlowly), ...light }));
  const results = await runOf(tests, { signal: stop.signal });
  expect(results.map(({ test, ended }) => [test.id, ended])).toEqual(
    ['a', 'b'].map((id) => [id, { how: 'error', message: 'it was interrupted' }]),
  );
  expect(cleanedUp).toEqual(folders);
  expect(folders.filter((folder) => existsSync(folder))).toEqual([]);
});

test.for<readonly [processors: number, most: number]>([
  [1, 2],
  [0, 1],
])(
  'tests that take half a processor, on %i processors: at most %i at a time, results in the order of the table',
  async ([processors, most]) => {
    let running = 0;
    let mostRunning = 0;
    const wait = async (): Promise<Outcome> => {
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running -= 1;
      return held;
    };
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const tests = ids.map((id, index) => ({ ...testOf(id, wait), load: { seconds: index, processors: 0.5 } }));
    const results = await runOf(tests, { processors });
    expect(mostRunning).toBe(most);
    expect(results.map(({ test }) => test.id)).toEqual(ids);
  },
);

test.for([
  ['interrupted counts those', 10, { cases: 12 }, 'ok'],
  ['stopped at its limit fails', 0.0005, { cases: 30 }, 'failed'],
] as const)('a test that played some cases and was %s', async ([, minutesEach, counted, verdict]) => {
  const stop = new AbortController();
  const playSome = async (context: FaultContext): Promise<Outcome> => {
    if (minutesEach > 1) setTimeout(() => stop.abort(), 1);
    await untilAborted(context).catch(() => {});
    return { ...held, played: 12 };
  };
  const [result] = await runOf([testOf('a', playSome)], { amount: 'full', signal: stop.signal, minutesEach });
  expect(result).toMatchObject(counted);
  expect(result && verdictOf(result)).toBe(verdict);
});

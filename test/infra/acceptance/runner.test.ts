import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runNamed } from '../../../infra/acceptance/begin.ts';
import type { Entry } from '../../../infra/acceptance/journal.ts';
import { planOf } from '../../../infra/acceptance/plan.ts';
import {
  createStepSignals,
  FoundInJournal,
  limitOf,
  type RunEnd,
  runPlan,
  sentenceOf,
} from '../../../infra/acceptance/runner.ts';
import type { Step, StepContext } from '../../../infra/acceptance/step.ts';
import { createFakeAzure } from './fake-azure.ts';
import { fakeStep } from './fake-step.ts';
import { fakeTarget } from './fake-target.ts';
import { memoryJournal } from './memory-journal.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Running {
  readonly ended: Promise<RunEnd>;
  readonly entries: readonly Entry[];
  readonly stop: () => void;
  /** Outcome by id of the step. */
  readonly outcomes: () => Readonly<Record<string, string>>;
  /** Ids of steps with what happened, in the order of the journal. */
  readonly order: () => readonly string[];
}

function running(steps: readonly Step[], { limitMinutes = 1000 } = {}): Running {
  const journal = memoryJournal([], () => new Date());
  const stop = new AbortController();
  const ended = runPlan(planOf(steps), {
    run: runNamed('k3x9ab', { subscription: 's', location: 'westeurope', folder: '/nowhere' }),
    az: createFakeAzure(),
    target: fakeTarget('azure'),
    journal,
    found: new FoundInJournal(journal),
    stop: stop.signal,
    signals: createStepSignals(),
    limitMinutes,
    say: () => {},
    save: (name) => name,
    onStepEnded: () => {},
  });
  const { entries } = journal;
  return {
    ended,
    entries,
    stop: () => stop.abort(),
    outcomes: () =>
      Object.fromEntries(
        entries.flatMap((entry) => {
          if (entry.event !== 'step-ended') return [];
          const { outcome } = entry;
          const why = 'message' in outcome ? outcome.message : 'because' in outcome ? outcome.because : '';
          return [[entry.step, `${outcome.result} ${why}`.trim()]];
        }),
      ),
    order: () =>
      entries.flatMap((entry) =>
        entry.event === 'step-begun'
          ? [`${entry.step} begins`]
          : entry.event === 'step-ended'
            ? [`${entry.step} ends`]
            : [],
      ),
  };
}

/** Takes that many minutes, and ends early when it is aborted. */
const takes =
  (minutes: number) =>
  ({ signal }: StepContext): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, minutes * 60_000);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    });

const never = (): Promise<void> => new Promise(() => {});

test('a step that fails skips those that need it, also through others, and no other', async () => {
  const run = running([
    fakeStep('login'),
    fakeStep('network', { needs: ['login'], run: () => Promise.reject(new Error('QuotaExceeded:\n no cores left.')) }),
    fakeStep('vm', { needs: ['network'] }),
    fakeStep('restart', { needs: ['vm'] }),
    fakeStep('platform', { needs: ['login'] }),
  ]);
  expect(await run.ended).toBe('all steps');
  expect(run.outcomes()).toEqual({
    login: 'succeeded',
    network: 'failed QuotaExceeded: no cores left',
    vm: 'skipped network',
    restart: 'skipped vm',
    platform: 'succeeded',
  });
});

test('a step that throws before it returns fails like any other', async () => {
  const run = running([
    fakeStep('a', {
      run: () => {
        throw new Error('at once');
      },
    }),
  ]);
  await run.ended;
  expect(run.outcomes()).toEqual({ a: 'failed at once' });
});

test('lanes take place at the same time, and a step without a lane waits for them', async () => {
  const run = running([
    fakeStep('a1', { lane: 'a', run: takes(10) }),
    fakeStep('b1', { lane: 'b', run: takes(15) }),
    fakeStep('a2', { lane: 'a', run: takes(1) }),
    fakeStep('all', {}),
    fakeStep('a3', { lane: 'a' }),
  ]);
  await vi.advanceTimersByTimeAsync(20 * 60_000);
  expect(await run.ended).toBe('all steps');
  expect(run.order()).toEqual([
    'a1 begins',
    'b1 begins',
    'a1 ends',
    'a2 begins',
    'a2 ends',
    'b1 ends',
    'all begins',
    'all ends',
    'a3 begins',
    'a3 ends',
  ]);
});

test('a failure in one lane does not end the other', async () => {
  const run = running([
    fakeStep('a1', { lane: 'a', run: () => Promise.reject(new Error('no')) }),
    fakeStep('a2', { lane: 'a', needs: ['a1'] }),
    fakeStep('b1', { lane: 'b', run: takes(5) }),
    fakeStep('b2', { lane: 'b', needs: ['b1'] }),
  ]);
  await vi.advanceTimersByTimeAsync(5 * 60_000);
  await run.ended;
  expect(run.outcomes()).toEqual({ a1: 'failed no', a2: 'skipped a1', b1: 'succeeded', b2: 'succeeded' });
});

test('a step that exceeds its limit fails, and the next one begins', async () => {
  const run = running([fakeStep('slow', { minutes: 10, run: takes(1000) }), fakeStep('next')]);
  expect(limitOf({ minutes: 10 })).toBe(35);
  await vi.advanceTimersByTimeAsync(35 * 60_000);
  expect(await run.ended).toBe('all steps');
  expect(run.outcomes()).toEqual({ slow: 'failed it did not end within 35 minutes', next: 'succeeded' });
});

test('after Ctrl-C in a later step, no timer of a step that has ended keeps the process', async () => {
  const run = running([fakeStep('done'), fakeStep('a', { run: takes(10) })]);
  await vi.advanceTimersByTimeAsync(60_000);
  run.stop();
  expect(await run.ended).toBe('interrupted');
  expect(run.outcomes()).toEqual({ done: 'succeeded', a: 'interrupted' });
  expect(vi.getTimerCount()).toBe(0);
});

test('a step that does not end although it was aborted is left behind after a minute', async () => {
  const run = running([fakeStep('stuck', { minutes: 10, run: never }), fakeStep('next')]);
  await vi.advanceTimersByTimeAsync(35 * 60_000 + 59_000);
  expect(run.outcomes()).toEqual({});
  await vi.advanceTimersByTimeAsync(1_000);
  await run.ended;
  expect(run.outcomes()).toEqual({ stuck: 'failed it did not end within 35 minutes', next: 'succeeded' });
});

test('a request to stop ends the steps that are running, and begins no other', async () => {
  const run = running([
    fakeStep('done'),
    fakeStep('a', { lane: 'a', run: takes(10) }),
    fakeStep('b', { lane: 'b', run: takes(10) }),
    fakeStep('next', { needs: ['a'] }),
  ]);
  await vi.advanceTimersByTimeAsync(1000);
  run.stop();
  await vi.advanceTimersByTimeAsync(0);
  expect(await run.ended).toBe('interrupted');
  expect(run.outcomes()).toEqual({ done: 'succeeded', a: 'interrupted', b: 'interrupted', next: 'interrupted' });
  expect(run.order()).not.toContain('next begins');
});

test('a step that ends by itself after a request to stop has succeeded, because what it found is whole', async () => {
  const run = running([
    fakeStep('a', { run: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())) }),
  ]);
  await vi.advanceTimersByTimeAsync(1000);
  run.stop();
  expect(await run.ended).toBe('interrupted');
  expect(run.outcomes()).toEqual({ a: 'succeeded' });
});

test('the whole run has a limit', async () => {
  const run = running([fakeStep('a', { minutes: 60, run: takes(50) }), fakeStep('b')], { limitMinutes: 30 });
  await vi.advanceTimersByTimeAsync(30 * 60_000);
  expect(await run.ended).toBe('time limit');
  expect(run.outcomes()).toEqual({ a: 'interrupted', b: 'interrupted' });
});

test('calls of az have the signal of the step that makes them, also through the target', async () => {
  const signals = createStepSignals();
  const seen: (AbortSignal | undefined)[] = [];
  const journal = memoryJournal();
  const contexts: StepContext[] = [];
  const step = (id: string): Step =>
    fakeStep(id, {
      lane: id,
      run: async (context) => {
        contexts.push(context);
        await Promise.resolve();
        seen.push(signals.getStore());
      },
    });
  await runPlan(planOf([step('a'), step('b')]), {
    run: runNamed('k3x9ab', { subscription: 's', location: 'l', folder: '/nowhere' }),
    az: createFakeAzure(),
    target: fakeTarget('azure'),
    journal,
    found: new Map(),
    stop: new AbortController().signal,
    signals,
    limitMinutes: 10,
    say: () => {},
    save: (name) => name,
    onStepEnded: () => {},
  });
  expect(seen).toEqual(contexts.map(({ signal }) => signal));
  expect(new Set(seen).size).toBe(2);
});

test('what a step reports is in the journal at once, before it fails', async () => {
  const run = running([
    fakeStep('a', {
      run: ({ report, willCreate, differ, measure, found }) => {
        report({ assumption: 'x-y', verdict: 'proven', evidence: 'seen' });
        willCreate({ kind: 'deployment', name: 'seb-k3x9ab-platform' });
        differ({ situation: 'restart', what: 'no notice' });
        measure('notice', 900, 'vm');
        found.set('a', { name: 'vm' });
        throw new Error('later');
      },
    }),
    fakeStep('b', {
      run: async ({ found }) => {
        if (found.get('a') === undefined) throw new Error('nothing found');
      },
    }),
  ]);
  await run.ended;
  expect(run.entries.map(({ event }) => event)).toEqual([
    'step-begun',
    'finding',
    'will-create',
    'difference',
    'measured',
    'found',
    'step-ended',
    'step-begun',
    'step-ended',
  ]);
  expect(run.outcomes()).toEqual({ a: 'failed later', b: 'succeeded' });
});

test('what was found is read from the journal of an earlier process', () => {
  const journal = memoryJournal([
    { event: 'found', step: 'vm', value: 1 },
    { event: 'found', step: 'vm', value: 2 },
  ]);
  expect([...new FoundInJournal(journal)]).toEqual([['vm', 2]]);
});

test('a journal that cannot be written ends the run, after its steps were aborted', async () => {
  const aborted = vi.fn();
  const journal = memoryJournal();
  const run = runPlan(
    planOf([
      fakeStep('a', { lane: 'a', run: () => Promise.resolve() }),
      fakeStep('b', { lane: 'b', run: (context) => takes(10)(context).finally(aborted) }),
    ]),
    {
      run: runNamed('k3x9ab', { subscription: 's', location: 'l', folder: '/nowhere' }),
      az: createFakeAzure(),
      target: fakeTarget('azure'),
      journal: {
        ...journal,
        write(event) {
          if (event.event === 'step-ended' && event.step === 'a') throw new Error('ENOSPC');
          journal.write(event);
        },
      },
      found: new Map(),
      stop: new AbortController().signal,
      signals: createStepSignals(),
      limitMinutes: 10,
      say: () => {},
      save: (name) => name,
      onStepEnded: () => {},
    },
  );
  await expect(run).rejects.toThrow('ENOSPC');
  expect(aborted).toHaveBeenCalled();
});

test.for([
  [new AggregateError([new Error('connect ECONNREFUSED ::1:5671'), new Error('b')]), 'connect ECONNREFUSED ::1:5671'],
  [Object.assign(new Error(''), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
  [new TypeError(' '), 'TypeError'],
  [new Error('two\n lines.'), 'two lines'],
] as const)('the sentence of %s is %s', ([error, sentence]) => {
  expect(sentenceOf(error)).toBe(sentence);
});

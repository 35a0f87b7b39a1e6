import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { phases } from '../../../../infra/acceptance/step.ts';
import { whyNoAzureCli } from '../../../azure-cli/azure-cli.ts';
import { refused } from '../az-stand-in/reply.ts';
import { beforeIt, everyStep, withoutRequests } from './planted.ts';
import { useAzureCli } from './run.ts';

const missing = whyNoAzureCli();
if (missing !== null)
  console.warn(`  skipped: Ctrl-C in each phase (${missing}); test/azure-cli/prepare fetches the Azure CLI`);

/** Of each phase the step before which the fewest others are carried out. */
const moments = phases.map((phase) => {
  const [step] = everyStep
    .filter((one) => one.phase === phase && !(one.id in withoutRequests))
    .toSorted((one, other) => beforeIt(one).length - beforeIt(other).length);
  if (step === undefined) throw new Error(`no step is of the phase ${phase}`);
  return { phase, id: step.id };
});

describe.skipIf(missing !== null)('a run that is ended by Ctrl-C', { concurrent: true }, () => {
  const subscribe = useAzureCli();

  test.for(moments)(
    'in the phase $phase, in the step $id, removes everything and reports',
    {
      timeout: 300_000,
    },
    async ({ id }, context) => {
      const subscription = await subscribe(context, { isHasty: true });
      // The step is still waiting for an answer when the signal comes.
      subscription.azure.intercept(async ({ step }) => {
        if (step !== id) return null;
        await sleep(2_000, undefined, { ref: false });
        return refused(409, { code: 'Conflict', message: 'The request was canceled.' });
      });
      const run = subscription.begin('--only', id);
      const isOver = run.exitCode.then(() => true);
      while (!run.output().includes(` ${id}: `)) if (await Promise.race([isOver, sleep(10, false)])) break;
      run.signal('SIGINT');
      expect([await run.exitCode, run.output()]).toEqual([130, expect.stringContaining('Stopping: ')]);
      const { run: ended, steps, cleanUp } = subscription.report();
      expect(ended.state).toBe('interrupted');
      expect(steps.find((one) => one.id === id)?.outcome).toEqual({ result: 'interrupted' });
      expect(cleanUp).toEqual({ state: 'done', left: [] });
      expect([subscription.left(), subscription.azure.unanswered]).toEqual([[], []]);
    },
  );
});

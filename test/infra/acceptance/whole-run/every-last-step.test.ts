import { describe, expect, test } from 'vitest';
import { whyNoAzureCli } from '../../../azure-cli/azure-cli.ts';
import { dependentsOf, everyStep, refusing, withoutRequests, wordsOf } from './planted.ts';
import { useAzureCli } from './run.ts';

const missing = whyNoAzureCli();
if (missing !== null)
  console.warn(`  skipped: failures of the last steps (${missing}); test/azure-cli/prepare fetches the Azure CLI`);

/** Steps that no other one needs: in one run all of them can fail. */
const last = everyStep.filter((step) => dependentsOf(step).length === 0 && !(step.id in withoutRequests));

describe.skipIf(missing !== null)('a run in which every step fails that no other one needs', () => {
  const subscribe = useAzureCli();

  test('reports each of them with its reason, carries out all others, and leaves nothing', {
    timeout: 600_000,
  }, async (context) => {
    expect(last.length).toBeGreaterThan(30);
    const subscription = await subscribe(context, {
      played: [],
      unreachableIn: last.map(({ id }) => id),
      isHasty: true,
    });
    subscription.azure.intercept(refusing(last));
    // It compiles 40 files, which has nothing to do with the failures of others.
    const run = subscription.begin('--windows', '--without', 'compile');
    expect([await run.exitCode, run.output()]).toEqual([4, expect.stringContaining('Nothing is left')]);
    const { steps, cleanUp, assumptions } = subscription.report();
    const failed = steps.filter(({ outcome }) => outcome?.result === 'failed');
    expect(failed.map(({ id }) => id).toSorted()).toEqual(last.map(({ id }) => id).toSorted());
    const others = steps.filter(({ id }) => !last.some((step) => step.id === id));
    expect(others.filter(({ outcome }) => outcome?.result !== 'succeeded')).toEqual([]);
    for (const { id, outcome } of failed) {
      const step = last.find((one) => one.id === id);
      if (outcome?.result !== 'failed' || step === undefined) throw new Error(`${id} has not failed`);
      expect([id, outcome.message]).toEqual([id, expect.stringMatching(/^\S[^\n]{10,}$/)]);
      // What the run itself asks Azure for is reported in Azure's words.
      if (step.phase === 'prepare' || step.phase === 'deploy')
        expect([id, outcome.message]).toEqual([id, expect.stringMatching(wordsOf(step))]);
    }
    expect(assumptions.filter(({ verdict }) => verdict === 'refuted')).toEqual([]);
    expect(cleanUp).toEqual({ state: 'done', left: [] });
    expect([subscription.left(), subscription.azure.unanswered]).toEqual([[], []]);
  });
});

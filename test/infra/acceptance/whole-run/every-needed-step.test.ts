import { describe, expect, test } from 'vitest';
import { whyNoAzureCli } from '../../../azure-cli/azure-cli.ts';
import { dependentsOf, everyStep, refusalIn, refusing, tolerated, withoutRequests, wordsOf } from './planted.ts';
import { useAzureCli } from './run.ts';

const missing = whyNoAzureCli();
if (missing !== null)
  console.warn(
    `  skipped: failures of steps that others need (${missing}); test/azure-cli/prepare fetches the Azure CLI`,
  );

const needed = everyStep.filter((step) => dependentsOf(step).length > 0 && !(step.id in withoutRequests));
/** It needs nothing but the login. */
const independent = 'aliases';

describe.skipIf(missing !== null)('a run in which one step fails that others need', { concurrent: true }, () => {
  const subscribe = useAzureCli();

  test.for(needed.map((step) => ({ step, id: step.id, code: refusalIn(step).fault.code })))(
    '$id: reports $code, skips what needs it, carries out what does not, and leaves nothing',
    { timeout: 300_000 },
    async ({ step, id }, context) => {
      const subscription = await subscribe(context, { isHasty: true });
      subscription.azure.intercept(refusing([step]));
      const [dependent] = dependentsOf(step);
      if (dependent === undefined) throw new Error(`no step needs ${id}`);
      // A dependent one may need more than this one: without it, this one is all that is carried out.
      const windows = [step, dependent].some((one) => one.id.includes('windows')) ? ['--windows'] : [];
      const run = subscription.begin('--only', [id, dependent.id, independent].join(','), ...windows);
      const exitCode = await run.exitCode;
      const { steps, cleanUp } = subscription.report();
      const outcomeOf = (one: string) => steps.find((reported) => reported.id === one)?.outcome;
      if (id in tolerated) {
        expect([exitCode, run.output()]).toEqual([0, expect.stringMatching(tolerated[id] ?? /./)]);
      } else {
        expect([exitCode, run.output()]).toEqual([4, expect.stringContaining(`${id}: failed: `)]);
        expect(outcomeOf(id)).toMatchObject({ result: 'failed', message: expect.stringMatching(/^\S[^\n]{10,}$/) });
        expect(outcomeOf(dependent.id)).toMatchObject({ result: 'skipped' });
        if (step.phase !== 'read')
          expect(outcomeOf(id)).toMatchObject({ message: expect.stringMatching(wordsOf(step)) });
      }
      if (id !== 'login') expect(outcomeOf(independent)).toEqual({ result: 'succeeded' });
      expect(cleanUp).toEqual({ state: 'done', left: [] });
      expect([subscription.left(), subscription.azure.unanswered]).toEqual([[], []]);
    },
  );
});

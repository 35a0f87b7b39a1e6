import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { tagName } from '../../../../infra/acceptance/begin.ts';
import { whyNoAzureCli } from '../../../azure-cli/azure-cli.ts';
import { refused } from '../az-stand-in/reply.ts';
import { type Subscription, useAzureCli, type WholeRun } from './run.ts';

/** Sends the signal to the run when a request of this kind arrives, which is carried out a moment later. */
function signalAt({ azure }: Subscription, kind: RegExp, run: () => WholeRun, signal: NodeJS.Signals): void {
  const end = azure.intercept(async ({ method, url }) => {
    if (!kind.test(`${method} ${url.pathname}`)) return null;
    end();
    run().signal(signal);
    await sleep(50);
    return null;
  });
}

/** In the order of a run. */
const moments = [
  { while: 'it reads who is logged in', at: /^GET \/v1\.0\/me$/, step: 'login' },
  { while: 'it registers a provider', at: /\/register$/, step: 'providers' },
  { while: 'it creates the first group', at: /^PUT .*-platform$/, step: 'groups' },
  { while: 'it creates the second group', at: /^PUT .*-machines$/, step: 'groups' },
  { while: 'it creates the network', at: /^PUT .*\/natGateways\//i, step: 'network' },
  { while: 'Azure previews the platform', at: /^POST .*\/whatIf$/, step: 'platform' },
  { while: 'Azure deploys the platform', at: /^PUT .*\/deployments\//, step: 'platform' },
  { while: 'it reads the tables', at: /^GET .*\/tables\//, step: 'platform' },
] as const;

const missing = whyNoAzureCli();
if (missing !== null)
  console.warn(`  skipped: ends of acceptance runs (${missing}); test/azure-cli/prepare fetches the Azure CLI`);

describe.skipIf(missing !== null)('a run that is ended', { concurrent: true }, () => {
  const subscribe = useAzureCli();
  const steps = ['--only', 'network,platform'];

  test.for(moments)('by Ctrl-C while $while removes everything and reports', async ({ at, step }, context) => {
    const subscription = await subscribe(context);
    signalAt(subscription, at, () => run, 'SIGINT');
    const run = subscription.begin(...steps);
    expect([await run.exitCode, run.output()]).toEqual([130, expect.stringContaining('Stopping: ')]);
    const report = subscription.report();
    expect(report.run.state).toBe('interrupted');
    expect(report.steps.find(({ id }) => id === step)?.outcome).toEqual({ result: 'interrupted' });
    expect(report.cleanUp).toEqual({ state: 'done', left: [] });
    expect([subscription.left(), subscription.azure.unanswered]).toEqual([[], []]);
  });

  test.for(moments.filter(({ step }) => step !== 'login' && step !== 'providers'))(
    'by kill -9 while $while is removed by --clean-up, which reports',
    async ({ at }, context) => {
      const subscription = await subscribe(context);
      signalAt(subscription, at, () => run, 'SIGKILL');
      const run = subscription.begin(...steps);
      expect(await run.exitCode).toBeNull();
      const cleanUp = subscription.begin('--clean-up');
      expect([await cleanUp.exitCode, cleanUp.output()]).toEqual([0, expect.stringContaining('Nothing is left')]);
      expect(subscription.report().cleanUp).toEqual({ state: 'done', left: [] });
      expect([subscription.left(), subscription.azure.unanswered]).toEqual([[], []]);
    },
  );

  test('by its time limit removes everything and says so', async (context) => {
    const subscription = await subscribe(context);
    subscription.azure.intercept(async ({ method, url }) => {
      if (method !== 'PUT' || !/\/natGateways\//i.test(url.pathname)) return null;
      run.signal('SIGUSR2');
      await sleep(60_000, undefined, { ref: false });
      return null;
    });
    const run = subscription.begin('--only', 'network', '--time-limit', '15');
    expect([await run.exitCode, run.output()]).toEqual([4, expect.stringContaining('network: interrupted')]);
    expect(subscription.report().run.state).toBe('time limit');
    expect([subscription.left(), subscription.azure.unanswered]).toEqual([[], []]);
  });

  test('whose group cannot be deleted says what is left and how to remove it', async (context) => {
    const subscription = await subscribe(context);
    const message = 'The scope cannot perform delete operation because following scope(s) are locked.';
    subscription.azure.intercept(({ method, url }) =>
      method === 'DELETE' && url.pathname.endsWith('-machines') ? refused(409, { code: 'ScopeLocked', message }) : null,
    );
    const run = subscription.begin('--only', 'groups');
    expect([await run.exitCode, run.output()]).toEqual([
      20,
      expect.stringMatching(
        /Left: the group rg-.*-machines\n {2}why: .*ScopeLocked.*locked.*\n {2}remove: az group delete /,
      ),
    ]);
    expect(subscription.left()).toEqual([expect.stringMatching(/-machines$/)]);
    expect(subscription.report().cleanUp.left).toHaveLength(1);
  });

  test('never deletes a group of its name that has lost the tag', async (context) => {
    const subscription = await subscribe(context);
    const { world } = subscription.azure;
    signalAt(subscription, /^PUT .*\/natGateways\//i, () => run, 'SIGKILL');
    const run = subscription.begin('--only', 'network');
    await run.exitCode;
    const machines = [...world.resources.values()].find(({ id }) => id.endsWith('-machines'));
    if (machines === undefined) throw new Error('the run has created no group');
    world.put({ ...machines, tags: { [`${tagName}-of-another`]: 'x' } });
    const cleanUp = subscription.begin('--clean-up');
    expect([await cleanUp.exitCode, cleanUp.output()]).toEqual([20, expect.stringContaining('but not its tag')]);
    expect(world.get(machines.id)).not.toBeNull();
  });
});

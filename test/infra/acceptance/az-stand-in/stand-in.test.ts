import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listMetrics } from '../../../../infra/acceptance/data/commands.ts';
import { whyNoAzureCli } from '../../../azure-cli/azure-cli.ts';
import { temporaryDirectory } from '../../../support/bridge-process.ts';
import { root } from '../../../support/source-tree.ts';
import { type AzureStandIn, startAzureStandIn } from './azure.ts';
import { type AzureCli, startAzureCli } from './azure-cli.ts';
import { subscriptionId, subscriptionScope } from './kinds.ts';
import { found } from './reply.ts';

const missing = whyNoAzureCli();
if (missing !== null)
  console.warn(`  skipped: the stand-in for Azure (${missing}); test/azure-cli/prepare fetches the Azure CLI`);

describe.skipIf(missing !== null)('the Azure CLI with the stand-in for Azure', () => {
  const directory = temporaryDirectory('azure-cli');
  let cli: AzureCli;
  let azure: AzureStandIn;
  beforeAll(async () => {
    cli = await startAzureCli(directory.path);
  }, 120_000);
  afterAll(async () => {
    await cli?.close();
    directory[Symbol.dispose]();
  });
  beforeEach(async () => {
    azure = await startAzureStandIn();
  });
  afterEach(() => azure.close());

  async function az(...args: string[]): Promise<{ code: number; value: unknown; said: string }> {
    const options = { cwd: root, env: { ...process.env, ...cli.environment(azure.url) } };
    const { stdout, stderr, code } = await promisify(execFile)('az', args, options).then(
      (printed) => ({ ...printed, code: 0 }),
      (error) => error as { stdout: string; stderr: string; code: number },
    );
    return {
      code,
      value: stdout.startsWith('{') || stdout.startsWith('[') ? JSON.parse(stdout) : stdout,
      said: stderr,
    };
  }

  test('the account that is logged in is a user of the subscription', async () => {
    expect(await az('account', 'show')).toMatchObject({ code: 0, value: { state: 'Enabled', user: { type: 'user' } } });
    expect(await az('ad', 'signed-in-user', 'show')).toMatchObject({
      value: { userPrincipalName: 'user@example.com' },
    });
  });

  test('a resource group is listed by its tag until it is deleted', async () => {
    await az('group', 'create', '--name', 'rg-one', '--location', 'westeurope', '--tags', 'run=one');
    expect(await az('group', 'list', '--tag', 'run=one')).toMatchObject({ value: [{ name: 'rg-one' }] });
    expect(await az('group', 'list', '--tag', 'run=two')).toMatchObject({ value: [] });
    expect(await az('group', 'delete', '--name', 'rg-one', '--yes')).toMatchObject({ code: 0 });
    expect(await az('group', 'show', '--name', 'rg-one')).toMatchObject({
      code: 3,
      said: expect.stringContaining('(ResourceGroupNotFound)'),
    });
    expect(azure.unanswered).toEqual([]);
  });

  test('a deployment of our templates has resources and outputs of the files, and a second one changes nothing', async () => {
    const deployment = ['--name', 'd', '--location', 'westeurope', '--template-file', 'infra/main.bicep'];
    const whatIf = ['deployment', 'sub', 'what-if', ...deployment, '--no-pretty-print'];
    const before = (await az(...whatIf)).value as { changes: { changeType: string }[] };
    expect(new Set(before.changes.map(({ changeType }) => changeType))).toEqual(new Set(['Create']));
    const { value } = await az('deployment', 'sub', 'create', ...deployment);
    const { properties } = value as { properties: { outputs: Record<string, { value: unknown }> } };
    expect(properties.outputs.settings?.value).toMatchObject({
      eventHubName: 'vm-lifecycle',
      ruleId: expect.stringMatching(/^dcr-[0-9a-f]{32}$/),
    });
    const after = (await az(...whatIf)).value as { changes: { changeType: string }[] };
    expect(new Set(after.changes.map(({ changeType }) => changeType))).toEqual(new Set(['NoChange']));
    expect(after.changes.length).toBeGreaterThan(50);
    expect(azure.unanswered).toEqual([]);
  });

  /** https://learn.microsoft.com/rest/api/resources/deployments/what-if-at-subscription-scope#whatifoperationresult */
  test('what-if prints what it could not evaluate beside the changes', async () => {
    const target = `${subscriptionScope}/providers/Microsoft.Resources/deployments/content`;
    const diagnostic = { level: 'Warning', code: 'NestedDeploymentShortCircuited', message: 'skipped', target };
    const potential = { resourceId: target, changeType: 'Create' };
    const properties = { changes: [], potentialChanges: [potential], diagnostics: [diagnostic] };
    azure.intercept(({ url }) => (/whatIf$/.test(url.pathname) ? found({ status: 'Succeeded', properties }) : null));
    const args = ['--location', 'westeurope', '--template-file', 'infra/main.bicep', '--no-pretty-print'];
    expect((await az('deployment', 'sub', 'what-if', ...args)).value).toMatchObject({
      potentialChanges: [potential],
      diagnostics: [diagnostic],
    });
  });

  /** A run reads them after its last event. The stand-in answers with a value of a minute ago, if that is within the time that the CLI asks for. */
  test('metrics are those of the hours before now', async () => {
    const resource = `${subscriptionScope}/resourceGroups/rg-one/providers/Microsoft.EventHub/namespaces/evhns-one`;
    const { value } = await az(
      ...listMetrics({ subscription: subscriptionId }, { resource, metrics: ['IncomingMessages'], hours: 10 }),
    );
    const [metric] = (value as { value: { timeseries: { data: unknown[] }[] }[] }).value;
    expect(metric?.timeseries[0]?.data).toHaveLength(1);
  });

  test('a request without a reply fails, and is recorded', async () => {
    const { code, said } = await az('network', 'dns', 'zone', 'list');
    expect([code, said]).toEqual([
      1,
      expect.stringContaining('(NoReplyInStandIn) The stand-in for Azure has no reply to GET'),
    ]);
    expect(azure.unanswered).toEqual([expect.stringContaining('/providers/Microsoft.Network/dnsZones')]);
  });
});

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { commandModules } from '../../../azure-cli/acceptance-commands.ts';
import { whyNoAzureCli } from '../../../azure-cli/azure-cli.ts';
import { temporaryDirectory } from '../../../support/bridge-process.ts';
import { type AzureStandIn, startAzureStandIn } from './azure.ts';
import { startAzureCli } from './azure-cli.ts';
import { createdFrom, subscriptionScope, typeOf } from './kinds.ts';

/** Builders whose sample call is left out, and why. */
const notCarriedOut: Readonly<Record<string, string>> = {
  logIn: 'it is shown to a person, who carries it out in a browser',
  deploy: 'the sample names no template; a complete run carries it out',
  whatIf: 'the sample names no template; a complete run carries it out',
  listFailedOperations: 'the sample names no deployment; a run whose deployment fails carries it out',
  createScaleSet: 'the key of the sample is refused; a complete run carries it out',
  createSpotVm: 'the key of the sample is refused; a complete run carries it out',
  runScript: 'the sample is no script of a run; a complete run carries it out',
};

const missing = whyNoAzureCli();
if (missing !== null)
  console.warn(
    `  skipped: every command of an acceptance run (${missing}); test/azure-cli/prepare fetches the Azure CLI`,
  );

/** Resources that the sample calls name. */
const group = `${subscriptionScope}/resourceGroups/rg-seb-acceptance-k3x2ab-machines`;
const compute = `${group}/providers/Microsoft.Compute`;
const named = [
  group,
  `${compute}/virtualMachines/vm-k3x2ab`,
  `${compute}/virtualMachineScaleSets/vm-k3x2ab`,
  `${compute}/virtualMachineScaleSets/uni`,
  `${compute}/virtualMachineScaleSets/uni/virtualMachines/3`,
  `${group}/providers/Microsoft.Network/virtualNetworks/vnet-k3x2ab`,
  `${group}/providers/Microsoft.Network/virtualNetworks/vnet-k3x2ab/subnets/vms`,
  `${subscriptionScope}/providers/Microsoft.Resources/deployments/seb-k3x2ab-platform`,
  `${group}/providers/Microsoft.OperationalInsights/workspaces/log-sebk3x2ab`,
  `${group}/providers/Microsoft.OperationalInsights/workspaces/log-sebk3x2ab/tables/VmLifecycle_CL`,
  `${compute}/galleries/gal_seb_k3x2ab/applications/scheduled-events-bridge-acceptance-x64/versions/1.0.0`,
];

function create({ world }: AzureStandIn): void {
  for (const id of named) {
    const properties = { safetyProfile: { allowDeletionOfReplicatedLocations: true } };
    const body = { tags: { a: 'b' }, properties, sku: { name: 'Standard_B2s_v2', capacity: 1 } };
    world.put(createdFrom(id, typeOf(id) ?? '', body, 'westeurope'));
  }
}

describe.skipIf(missing !== null)('the Azure CLI', () => {
  test('carries out every command that an acceptance run can issue', { timeout: 240_000 }, async () => {
    using folder = temporaryDirectory('azure-cli');
    const cli = await startAzureCli(folder.path);
    const azure = await startAzureStandIn();
    for (const name of ['config.json', 'secrets.json']) writeFileSync(join(folder.path, name), '{}');
    const env = { ...process.env, ...cli.environment(azure.url) };
    const failed: Record<string, string> = {};
    const builders = commandModules.flatMap(({ samples }) => Object.entries(samples));
    for (const [builder, calls] of builders.filter(([name]) => !(name in notCarriedOut))) {
      for (const args of calls) {
        create(azure);
        await promisify(execFile)('az', args, { cwd: folder.path, env }).catch((error: { stderr: string }) => {
          failed[builder] = error.stderr;
        });
      }
    }
    await cli.close();
    await azure.close();
    expect(failed).toEqual({});
    expect(azure.unanswered).toEqual([]);
    expect(Object.keys(notCarriedOut).filter((name) => !builders.some(([known]) => known === name))).toEqual([]);
  });
});

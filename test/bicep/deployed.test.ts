import { expect, test } from 'vitest';
import { azureShapes, describedIn } from '../tools/bicep/azure-shapes.ts';
import { deployedBy, expressionOf } from '../tools/bicep/deployed.ts';
import { bicepFiles, textOf } from '../tools/bicep/files.ts';
import { mismatches } from '../tools/bicep/fits.ts';
import { createProject } from '../tools/bicep/project.ts';

const azure = azureShapes();

/** Everything that can be switched on, with the longest names that are taken: what no parameter file of ours does. */
const everything = 'infra/params/everything.bicepparam';
const group = '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg';
const project = createProject((path) => (path === everything ? everySwitch() : textOf(path)), azure);
const parameterFiles = [...bicepFiles().filter((path) => path.endsWith('.bicepparam')), everything];

function everySwitch(): string {
  return `using '../main.bicep'
param location = 'westeurope'
param name = 'vm-lifecycle-of-many'
param shards = [
  { name: 'westeuro', location: 'westeurope', regions: ['westeurope'] }
  { name: 'northeur', location: 'northeurope', regions: ['northeurope'] }
]
param readers = [{ principalId: '00000000-0000-0000-0000-000000000001', principalType: 'Group' }]
param tableReaders = [{ principalId: '00000000-0000-0000-0000-000000000001', principalType: 'Group' }]
param enableHealthEvents = true
param lockAgainstDeletion = true
param eventHubSize = {
  skuName: 'Premium'
  capacity: 1
  maximumThroughputUnits: 0
  partitionCount: 32
  retentionHours: 168
}
param encryptionKey = {
  keyVaultUri: 'https://kv.vault.example/'
  keyName: 'records'
  identityResourceId: '${group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-key'
}
param capture = {
  storageAccountResourceId: '${group}/providers/Microsoft.Storage/storageAccounts/st'
  containerName: 'records'
  identityResourceId: '${group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-capture'
}
param dataExplorer = {
  clusterResourceId: '${group}/providers/Microsoft.Kusto/clusters/dec'
  location: 'westeurope'
  databaseName: 'records'
  managedIdentityResourceId: '${group}/providers/Microsoft.Kusto/clusters/dec'
  managedIdentityPrincipalId: '00000000-0000-0000-0000-000000000002'
}
param privateLink = {
  location: 'westeurope'
  subnetResourceId: '${group}/providers/Microsoft.Network/virtualNetworks/vnet/subnets/default'
  existingScopeResourceId: ''
  createPrivateDnsZones: true
  virtualNetworkResourceId: '${group}/providers/Microsoft.Network/virtualNetworks/vnet'
}
`;
}

/** Bicep reads these itself. */
const ofBicep = ['parent', 'scope', 'dependsOn'];

/** What Azure would refuse of what a parameter file deploys. What a file disables with a reason is left out. */
function refused(parameterFile: string): string[] {
  return deployedBy(project, parameterFile).flatMap(({ at, type, version, body }) => {
    const [path = ''] = at.split(':');
    const shape = azure?.body(type, version);
    const scope = project.scope(path);
    if (shape === undefined || shape === null || scope === null) return [`${at}: ${type}@${version} is not described`];
    const own = Object.fromEntries(Object.entries(body).filter(([key]) => !ofBicep.includes(key)));
    const disabled = scope.file.pragmas.flatMap(({ codes }) => codes);
    return mismatches(expressionOf(own), shape, `${type} ${body.name}`, scope)
      .filter(({ code }) => !disabled.includes(code))
      .map(({ what }) => `${at}: ${what}`);
  });
}

test.for(parameterFiles)('Azure takes every resource that %s comes to: names, lengths, values', (path, { skip }) => {
  skip(azure === null, `Azure's own descriptions are not at ${describedIn}`);
  expect(deployedBy(project, path).length).toBeGreaterThan(0);
  expect(refused(path)).toEqual([]);
});

test.for(parameterFiles)('no two resources that %s deploys have the same name', (path) => {
  const names = deployedBy(project, path)
    .filter(({ body }) => body.parent === undefined && body.scope === undefined)
    .map(({ type, body }) => `${type} ${body.name}`);
  expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([]);
});

test('with every switch on, every kind of resource of the platform is deployed', () => {
  const types = new Set(deployedBy(project, everything).map(({ type }) => type.toLowerCase()));
  expect([...types]).toEqual(
    expect.arrayContaining([
      'microsoft.insights/datacollectionendpoints',
      'microsoft.insights/privatelinkscopes',
      'microsoft.insights/privatelinkscopes/scopedresources',
      'microsoft.network/privatednszones',
      'microsoft.network/privateendpoints',
      'microsoft.network/privateendpoints/privatednszonegroups',
      'microsoft.kusto/clusters/databases/dataconnections',
      'microsoft.eventgrid/systemtopics',
      'microsoft.authorization/locks',
      'microsoft.insights/activitylogalerts',
    ]),
  );
});

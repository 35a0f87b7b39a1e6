import { expect, test } from 'vitest';
import type { JsonObject } from '../../tools/policy/expression.ts';
import { applicationName, deeds, initiative } from '../../tools/policy/fleet-policy.ts';
import { application, type Described, identityId, scaleSet } from '../../tools/policy/subjects.ts';

const fresh = ['gets the identity', 'gets 1.0.0 for win-x64'];
const ours = { type: 'UserAssigned', userAssignedIdentities: { [identityId]: {} } };
const at = (version: string) => application(applicationName('win-x64'), version);
const windows: Described = { osType: 'Windows' };

const people = { computerNamePrefix: 'web', adminUsername: 'azureuser', adminPassword: 'p' };
const windowsConfiguration = { provisionVMAgent: true, enableAutomaticUpdates: false };
const server = (sku: string): JsonObject => ({
  publisher: 'MicrosoftWindowsServer',
  offer: 'WindowsServer',
  sku,
  version: 'latest',
});
const galleryImage = { id: '/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/galleries/g/images/web' };
/** A request that creates a set. */
const request = (
  imageReference: JsonObject,
  osProfile: JsonObject | null,
  rest: JsonObject = {},
  ofSet: JsonObject = {},
): Described => ({
  properties: {
    ...ofSet,
    virtualMachineProfile: {
      storageProfile: { imageReference, osDisk: { createOption: 'FromImage' } },
      ...(osProfile && { osProfile }),
      ...rest,
    },
  },
});
const usual = { ...people, windowsConfiguration };

const cases: readonly { readonly name: string; readonly given: Described; readonly happens: readonly string[] }[] = [
  { name: 'one that exists gets identity and application', given: windows, happens: fresh },
  {
    name: 'one being created gets them',
    given: request(server('2022-datacenter-g2'), usual, {}, { orchestrationMode: 'Uniform' }),
    happens: fresh,
  },
  {
    name: 'one being created without a Windows configuration gets them',
    given: request(server('2025-datacenter-core-g2'), people),
    happens: fresh,
  },
  {
    name: 'a flexible one with a model gets them',
    given: request(server('2022-datacenter-g2'), usual, {}, { orchestrationMode: 'Flexible' }),
    happens: fresh,
  },
  { name: 'one from a generalized image of a gallery gets them', given: request(galleryImage, usual), happens: fresh },
  { name: 'one from a specialized image gets them after it exists', given: request(galleryImage, null), happens: [] },
  {
    name: 'one from a specialized image that exists gets them',
    given: {
      properties: {
        virtualMachineProfile: { storageProfile: { imageReference: galleryImage, osDisk: { osType: 'Windows' } } },
      },
    },
    happens: fresh,
  },
  {
    name: 'a Spot set gets them',
    given: request(server('2022-datacenter-g2'), usual, { priority: 'Spot' }),
    happens: fresh,
  },
  {
    name: 'trusted launch gets them',
    given: request(server('2019-datacenter-gensecond'), usual, { securityProfile: { securityType: 'TrustedLaunch' } }),
    happens: fresh,
  },
  {
    name: 'one that upgrades its operating system by itself gets them',
    given: request(
      server('2022-datacenter-g2'),
      usual,
      {},
      { upgradePolicy: { mode: 'Rolling', automaticOSUpgradePolicy: { enableAutomaticOSUpgrade: true } } },
    ),
    happens: fresh,
  },
  {
    name: 'Windows Server 2016 of the first generation gets them',
    given: request(server('2016-datacenter-smalldisk'), usual),
    happens: fresh,
  },
  { name: 'Windows Server 2012 R2 is not changed', given: request(server('2012-R2-Datacenter'), usual), happens: [] },
  {
    name: 'one without the agent is not changed',
    given: request(server('2022-datacenter-g2'), { ...people, windowsConfiguration: { provisionVMAgent: false } }),
    happens: [],
  },
  { name: 'one on Arm is not changed', given: { ...windows, size: 'Standard_D8ps_v6' }, happens: [] },
  {
    name: 'one that names its ring gets the version of that ring',
    given: { ...windows, tags: { 'scheduled-events-bridge-ring': 'canary' } },
    happens: ['gets the identity', 'gets 1.1.0 for win-x64'],
  },
  {
    name: 'one with an older version goes to the pinned one',
    given: { ...windows, identity: ours, applications: [at('0.9.0')] },
    happens: ['goes to 1.0.0 for win-x64', 'listed: restarts wait'],
  },
  {
    name: 'one with an unknown ring is listed, once',
    given: { ...windows, tags: { 'scheduled-events-bridge-ring': 'later' } },
    happens: ['listed as uncovered'],
  },
  {
    name: 'a node pool of AKS is excluded by its tag',
    given: { ...windows, tags: { 'aks-managed-poolName': 'win' } },
    happens: [],
  },
  {
    name: 'a node pool of AKS is excluded by its extension',
    given: { ...windows, extensions: ['Microsoft.AKS'] },
    happens: [],
  },
  {
    name: 'a node pool of AKS is excluded by its resource group',
    given: {
      ...windows,
      resourceGroup: { name: 'MC_rg_aks', managedBy: '/providers/Microsoft.ContainerService/managedClusters/aks' },
    },
    happens: [],
  },
  {
    name: 'one of Service Fabric is not changed',
    given: { ...windows, extensions: ['Microsoft.Azure.ServiceFabric'] },
    happens: [],
  },
  {
    name: 'a pool of Batch is not changed',
    given: { ...windows, resourceGroup: { name: 'AzureBatch-0-C' } },
    happens: [],
  },
  {
    name: 'one with extensions of others gets them',
    given: { ...windows, extensions: ['Microsoft.Compute', 'Microsoft.Azure.Monitor'] },
    happens: fresh,
  },
];

test.each(cases)('a scale set with Windows: $name', ({ given, happens }) => {
  expect(deeds('scale-set', scaleSet(given))).toEqual(happens);
});

test('a scale set with Windows is not changed by a fleet with packages for Linux alone', () => {
  expect(deeds('scale-set', scaleSet(windows), initiative(undefined, ['linux-x64', 'linux-arm64']))).toEqual([]);
});

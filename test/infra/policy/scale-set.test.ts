import { expect, test } from 'vitest';
import { applicationName, deeds, initiative } from '../../tools/policy/fleet-policy.ts';
import {
  application,
  type Described,
  identityId,
  otherIdentityId,
  scaleSet,
  thirdIdentityId,
} from '../../tools/policy/subjects.ts';

const fresh = ['gets the identity', 'gets 1.0.0 for x64'];
const ours = { type: 'UserAssigned', userAssignedIdentities: { [identityId]: {} } };
const approved = {
  userInitiatedReboot: { automaticallyApprove: true },
  userInitiatedRedeploy: { automaticallyApprove: true },
};
const at = (version: string) => application(applicationName('x64'), version);
/** Applications of others. https://learn.microsoft.com/azure/virtual-machines/vm-applications: 25 at most on a VM. */
const others = (count: number) => Array.from({ length: count }, (_, n) => application(`other-${n}`, '1.0.0'));
const settled = { identity: ours, applications: [at('1.0.0')], scheduledEventsPolicy: approved };

interface Case {
  readonly name: string;
  readonly given: Described;
  readonly happens: readonly string[];
}

const cases: readonly Case[] = [
  { name: 'a set that has nothing gets identity and application', given: {}, happens: fresh },
  {
    name: 'a set that names its ring gets the version of that ring',
    given: { tags: { 'scheduled-events-bridge-ring': 'canary' } },
    happens: ['gets the identity', 'gets 1.1.0 for x64'],
  },
  {
    name: 'a set of Arm VMs gets the Arm package',
    given: { size: 'Standard_D16plds_v6' },
    happens: ['gets the identity', 'gets 1.0.0 for arm64'],
  },
  { name: 'an up-to-date set is not changed', given: settled, happens: [] },
  {
    name: 'a set with another version goes to the pinned one',
    given: { ...settled, applications: [at('0.9.0')] },
    happens: ['goes to 1.0.0 for x64'],
  },
  {
    name: 'a set of another ring goes to the version of that ring, and only to it',
    given: { ...settled, applications: [at('0.9.0')], tags: { 'scheduled-events-bridge-ring': 'canary' } },
    happens: ['goes to 1.1.0 for x64'],
  },
  {
    name: 'a set that names the pinned version and another goes to the pinned one',
    given: { ...settled, applications: [at('0.9.0'), at('1.0.0')] },
    happens: ['goes to 1.0.0 for x64'],
  },
  {
    name: 'a set with a system-assigned and one user-assigned identity gets another',
    given: {
      identity: { type: 'SystemAssigned, UserAssigned', userAssignedIdentities: { [otherIdentityId]: {} } },
    },
    happens: fresh,
  },
  {
    name: 'a set with two user-assigned identities gets a third',
    given: {
      identity: { type: 'UserAssigned', userAssignedIdentities: { [otherIdentityId]: {}, [thirdIdentityId]: {} } },
    },
    happens: fresh,
  },
  {
    name: 'a set whose one user-assigned identity belongs to another product is listed and not changed',
    given: { identity: { type: 'UserAssigned', userAssignedIdentities: { [otherIdentityId]: {} } } },
    happens: ['listed as uncovered'],
  },
  {
    name: 'a set with an unknown ring is listed and not changed',
    given: { tags: { 'scheduled-events-bridge-ring': 'later' } },
    happens: ['listed as uncovered'],
  },
  { name: 'a set in a region without a replica is not changed', given: { location: 'brazilsouth' }, happens: [] },
  {
    name: 'a set being created from an image, without a system yet, is identified by its Linux configuration',
    given: { osType: null, properties: { virtualMachineProfile: { osProfile: { linuxConfiguration: {} } } } },
    happens: fresh,
  },
  {
    name: 'a flexible set without a model is not changed, since its VMs are evaluated',
    given: { osType: null },
    happens: [],
  },
  { name: 'a set of CentOS 7 is not changed', given: { image: ['OpenLogic', 'CentOS', '7_9'] }, happens: [] },
  { name: 'a set of CentOS 8 gets it', given: { image: ['OpenLogic', 'CentOS', '8_5'] }, happens: fresh },
  { name: 'a set of another offer gets it', given: { image: ['OpenLogic', 'Other', '7_9'] }, happens: fresh },
  { name: 'a set of another publisher gets it', given: { image: ['example', 'CentOS', '7_9'] }, happens: fresh },
  {
    name: 'a set whose opt-out tag is false is included',
    given: { tags: { 'scheduled-events-bridge-opt-out': 'false' } },
    happens: fresh,
  },
  {
    name: 'a set with the opt-out tag is not changed',
    given: { tags: { 'scheduled-events-bridge-opt-out': 'true' } },
    happens: [],
  },
  {
    name: 'a set of AKS is excluded by its tag',
    given: { tags: { 'aks-managed-poolName': 'user' } },
    happens: [],
  },
  { name: 'a set of AKS is excluded by its extension', given: { extensions: ['Microsoft.AKS'] }, happens: [] },
  {
    name: 'a set of AKS is excluded by its resource group',
    given: {
      resourceGroup: {
        name: 'MC_rg_aks',
        managedBy: '/subscriptions/s/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks',
      },
    },
    happens: [],
  },
  {
    name: 'a set of Service Fabric is not changed',
    given: { extensions: ['Microsoft.Azure.Monitor', 'Microsoft.Azure.ServiceFabric'] },
    happens: [],
  },
  {
    name: 'a set with extensions of others gets it',
    given: { extensions: ['Microsoft.Azure.Monitor'] },
    happens: fresh,
  },
  {
    name: 'a pool of Batch is not changed',
    given: { resourceGroup: { name: 'azurebatch-00000000-0000-0000-0000-000000000000-c' } },
    happens: [],
  },
  {
    name: 'a set with 24 other applications gets it',
    given: { applications: others(24) },
    happens: fresh,
  },
  {
    name: 'a set with 25 other applications, as many as Azure takes, is left without it and listed',
    given: { identity: ours, applications: others(25) },
    happens: ['listed as uncovered'],
  },
  {
    name: 'a set with the bridge among 25 applications is not changed',
    given: { ...settled, applications: [...others(24), at('1.0.0')] },
    happens: [],
  },
  {
    name: 'a request for a set, of a version that does not know all members of an application, goes through unchanged',
    given: { identity: ours, apiVersion: '2021-11-01' },
    happens: [],
  },
  {
    name: 'restarts wait where the set has the bridge and no policy',
    given: { identity: ours, applications: [at('1.0.0')] },
    happens: ['listed: restarts wait'],
  },
  {
    name: 'redeploys of a set wait where only restarts are approved',
    given: { ...settled, scheduledEventsPolicy: { userInitiatedReboot: { automaticallyApprove: true } } },
    happens: ['listed: restarts wait'],
  },
  {
    name: 'restarts of a set wait where only redeploys are approved',
    given: { ...settled, scheduledEventsPolicy: { userInitiatedRedeploy: { automaticallyApprove: true } } },
    happens: ['listed: restarts wait'],
  },
];

test.each(cases)('$name', ({ given, happens }) => {
  expect(deeds('scale-set', scaleSet(given))).toEqual(happens);
});

test('without a default ring, a set without a ring is listed and not changed', () => {
  const rings = [{ name: 'canary', version: '1.1.0', untagged: false }];
  expect(deeds('scale-set', scaleSet(), initiative(rings))).toEqual(['listed as uncovered']);
});

import { expect, test } from 'vitest';
import { applicationName, deeds, initiative } from '../../tools/policy/fleet-policy.ts';
import {
  application,
  type Described,
  identityId,
  otherIdentityId,
  thirdIdentityId,
  virtualMachine,
} from '../../tools/policy/subjects.ts';

const fresh = ['gets the identity', 'gets 1.0.0 for x64'];
const only = (...ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, {}]));
const ours = { type: 'UserAssigned', userAssignedIdentities: only(identityId) };
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
  {
    name: 'a VM that has nothing gets identity and application of the ring for the untagged',
    given: {},
    happens: fresh,
  },
  {
    name: 'a VM that names its ring gets the version of that ring',
    given: { tags: { 'scheduled-events-bridge-ring': 'canary' } },
    happens: ['gets the identity', 'gets 1.1.0 for x64'],
  },
  {
    name: 'case of the tag and of its value does not matter',
    given: { tags: { 'Scheduled-Events-Bridge-Ring': 'Canary' } },
    happens: ['gets the identity', 'gets 1.1.0 for x64'],
  },
  {
    name: 'a VM with an unknown ring is listed and not changed',
    given: { tags: { 'scheduled-events-bridge-ring': 'canarry' } },
    happens: ['listed as uncovered'],
  },
  {
    name: 'an Arm VM gets the Arm package',
    given: { size: 'Standard_D4ps_v6' },
    happens: ['gets the identity', 'gets 1.0.0 for arm64'],
  },
  {
    name: 'an Arm VM with all letters gets the Arm package',
    given: { size: 'Standard_E96pds_v6' },
    happens: ['gets the identity', 'gets 1.0.0 for arm64'],
  },
  {
    name: 'a Grace VM gets the Arm package',
    given: { size: 'Standard_ND128isr_NDR_GB200_v6' },
    happens: ['gets the identity', 'gets 1.0.0 for arm64'],
  },
  { name: 'a p that is not behind the cores is no Arm processor', given: { size: 'Standard_NP10s' }, happens: fresh },
  { name: 'a promotional size is no Arm processor', given: { size: 'Standard_D2_v2_Promo' }, happens: fresh },
  { name: 'an up-to-date VM is not changed', given: settled, happens: [] },
  {
    name: 'a VM with an older version goes to the pinned one',
    given: { ...settled, applications: [at('0.9.0')] },
    happens: ['goes to 1.0.0 for x64'],
  },
  {
    name: 'a VM with a newer version goes back to the pinned one',
    given: { ...settled, applications: [at('1.1.0')] },
    happens: ['goes to 1.0.0 for x64'],
  },
  {
    name: 'a VM of another ring goes to the version of that ring, and only to it',
    given: { ...settled, applications: [at('0.9.0')], tags: { 'scheduled-events-bridge-ring': 'canary' } },
    happens: ['goes to 1.1.0 for x64'],
  },
  {
    name: 'a VM that names the pinned version and another goes to the pinned one',
    given: { ...settled, applications: [at('1.0.0'), at('0.9.0')] },
    happens: ['goes to 1.0.0 for x64'],
  },
  {
    name: 'a VM with version latest gets the pinned version',
    given: { ...settled, applications: [at('latest')] },
    happens: ['goes to 1.0.0 for x64'],
  },
  {
    name: 'an application whose name only starts with ours is another one',
    given: { identity: ours, applications: [application(`${applicationName('x64')}-test`, '0.9.0')] },
    happens: ['gets 1.0.0 for x64'],
  },
  {
    name: 'a VM with a system-assigned identity gets the second one',
    given: { identity: { type: 'SystemAssigned' } },
    happens: fresh,
  },
  {
    name: 'a VM with a system-assigned and one user-assigned identity gets another: without a name Azure takes the system one',
    given: { identity: { type: 'SystemAssigned, UserAssigned', userAssignedIdentities: only(otherIdentityId) } },
    happens: fresh,
  },
  {
    name: 'a VM whose one user-assigned identity belongs to another product is listed and not changed',
    given: { identity: { type: 'UserAssigned', userAssignedIdentities: only(otherIdentityId) } },
    happens: ['listed as uncovered'],
  },
  {
    name: 'a VM with two user-assigned identities names them already and gets a third',
    given: { identity: { type: 'UserAssigned', userAssignedIdentities: only(otherIdentityId, thirdIdentityId) } },
    happens: fresh,
  },
  {
    name: 'the identity is known again in another case',
    given: { ...settled, identity: { type: 'UserAssigned', userAssignedIdentities: only(identityId.toUpperCase()) } },
    happens: [],
  },
  {
    name: 'a VM that lost our identity and has one of its own is listed, and its application is kept',
    given: { ...settled, identity: { type: 'UserAssigned', userAssignedIdentities: only(otherIdentityId) } },
    happens: ['listed as uncovered'],
  },
  { name: 'a region without a replica is not changed', given: { location: 'eastus' }, happens: [] },
  {
    name: 'a VM that is being created from a Linux image gets everything though its disk has no type yet',
    given: { osType: null, properties: { osProfile: { linuxConfiguration: {} } } },
    happens: fresh,
  },
  { name: 'Ubuntu 18.04 is not changed', given: { image: ['Canonical', 'UbuntuServer', '18.04-LTS'] }, happens: [] },
  {
    name: 'an image of another publisher with the name of an old one is included',
    given: { image: ['example', 'UbuntuServer', '18.04-LTS'] },
    happens: fresh,
  },
  { name: 'Ubuntu 24.04 gets it', given: { image: ['canonical', 'ubuntu-24_04-lts', 'server'] }, happens: fresh },
  { name: 'Red Hat 7 is not changed', given: { image: ['RedHat', 'RHEL', '7.9'] }, happens: [] },
  { name: 'Red Hat 9 gets it', given: { image: ['RedHat', 'RHEL', '9_4'] }, happens: fresh },
  {
    name: 'Red Hat 7 of your own subscription is not changed',
    given: { image: ['RedHat', 'rhel-byos', 'rhel-raw79'] },
    happens: [],
  },
  { name: 'SLES 12 is not changed', given: { image: ['SUSE', 'sles-12-sp5', 'gen2'] }, happens: [] },
  { name: 'SLES 12 for SAP is not changed', given: { image: ['SUSE', 'sles-sap-12-sp5', 'gen2'] }, happens: [] },
  {
    name: 'the opt-out tag excludes a VM',
    given: { tags: { 'scheduled-events-bridge-opt-out': 'yes' } },
    happens: [],
  },
  {
    name: 'an empty opt-out tag excludes a VM',
    given: { tags: { 'scheduled-events-bridge-opt-out': '' } },
    happens: [],
  },
  {
    name: 'an opt-out tag of false excludes nothing',
    given: { tags: { 'scheduled-events-bridge-opt-out': 'False' } },
    happens: fresh,
  },
  {
    name: 'a resource group that a service manages is not changed',
    given: {
      resourceGroup: { managedBy: '/subscriptions/s/resourceGroups/rg/providers/Microsoft.Databricks/workspaces/w' },
    },
    happens: [],
  },
  {
    name: 'a node of Batch is not changed',
    given: { resourceGroup: { name: 'AzureBatch-00000000-0000-0000-0000-000000000000-C' } },
    happens: [],
  },
  { name: 'a node of AKS is not changed', given: { tags: { 'aks-managed-poolName': 'system' } }, happens: [] },
  {
    name: 'a VM with 24 other applications gets it',
    given: { applications: others(24) },
    happens: fresh,
  },
  {
    name: 'a VM with 25 other applications, as many as Azure takes, is left without it and listed',
    given: { identity: ours, applications: others(25) },
    happens: ['listed as uncovered'],
  },
  {
    name: 'a VM with the bridge among 25 applications is not changed',
    given: { ...settled, applications: [...others(24), at('1.0.0')] },
    happens: [],
  },
  {
    name: 'a request of a version that does not know all members of an application goes through unchanged',
    given: { identity: ours, apiVersion: '2021-11-01' },
    happens: [],
  },
  {
    name: 'restarts wait where the VM has the bridge and no policy',
    given: { identity: ours, applications: [at('1.0.0')] },
    happens: ['listed: restarts wait'],
  },
  {
    name: 'redeploys wait where only restarts are approved',
    given: { ...settled, scheduledEventsPolicy: { userInitiatedReboot: { automaticallyApprove: true } } },
    happens: ['listed: restarts wait'],
  },
  {
    name: 'restarts wait where only redeploys are approved',
    given: { ...settled, scheduledEventsPolicy: { userInitiatedRedeploy: { automaticallyApprove: true } } },
    happens: ['listed: restarts wait'],
  },
];

test.each(cases)('$name', ({ given, happens }) => {
  expect(deeds('virtual-machine', virtualMachine(given))).toEqual(happens);
});

test('without a default ring, a VM without a ring is listed and not changed', () => {
  const rings = [{ name: 'canary', version: '1.1.0', untagged: false }];
  expect(deeds('virtual-machine', virtualMachine(), initiative(rings))).toEqual(['listed as uncovered']);
});

import { expect, test } from 'vitest';
import type { JsonObject } from '../../tools/policy/expression.ts';
import { applicationName, deeds, initiative } from '../../tools/policy/fleet-policy.ts';
import {
  application,
  type Described,
  identityId,
  otherIdentityId,
  virtualMachine,
} from '../../tools/policy/subjects.ts';

const fresh = ['gets the identity', 'gets 1.0.0 for win-x64'];
const ours = { type: 'UserAssigned', userAssignedIdentities: { [identityId]: {} } };
const approved = {
  userInitiatedReboot: { automaticallyApprove: true },
  userInitiatedRedeploy: { automaticallyApprove: true },
};
const at = (version: string) => application(applicationName('win-x64'), version);
const others = (count: number) => Array.from({ length: count }, (_, n) => application(`other-${n}`, '1.0.0'));
const windows: Described = { osType: 'Windows' };
const settled: Described = { ...windows, identity: ours, applications: [at('1.0.0')], scheduledEventsPolicy: approved };

const windowsConfiguration = { provisionVMAgent: true, enableAutomaticUpdates: true };
const people = { computerName: 'web-1', adminUsername: 'azureuser', adminPassword: 'p' };
/** A request that creates a VM. `osDisk` has no type: Azure takes it from the image. */
const request = (imageReference: JsonObject, osProfile: JsonObject | null, rest: JsonObject = {}): Described => ({
  properties: {
    storageProfile: { imageReference, osDisk: { createOption: 'FromImage' } },
    ...(osProfile && { osProfile }),
    ...rest,
  },
});
const marketplace = (publisher: string, offer: string, sku: string): JsonObject => ({
  publisher,
  offer,
  sku,
  version: 'latest',
});
const server = (sku: string): JsonObject => marketplace('MicrosoftWindowsServer', 'WindowsServer', sku);
const galleryImage = {
  id: '/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/galleries/g/images/web/versions/1.0.0',
};
const portal = { ...people, windowsConfiguration };
/** With an operating system that is not in the request, as `az vm create` sends it: https://github.com/Azure/azure-cli, `_template_builder.py`. */
const commandLine = people;

interface Case {
  readonly name: string;
  readonly given: Described;
  readonly happens: readonly string[];
}

// https://learn.microsoft.com/azure/virtual-machines/windows/cli-ps-findimage and the marketplace name the images.
const created: readonly Case[] = [
  {
    name: 'Windows Server 2022 from the portal',
    given: request(server('2022-datacenter-azure-edition'), portal),
    happens: fresh,
  },
  {
    name: 'Windows Server 2025 from the command line, which sends no Windows configuration',
    given: request(server('2025-datacenter-g2'), commandLine),
    happens: fresh,
  },
  {
    name: 'Windows Server 2019 Core',
    given: request(server('2019-datacenter-core-smalldisk-g2'), portal),
    happens: fresh,
  },
  {
    name: 'Windows Server 2016 of the first generation, the oldest that Node.js runs on',
    given: request(server('2016-Datacenter'), portal),
    happens: fresh,
  },
  {
    name: 'a publisher in small letters',
    given: request(marketplace('microsoftwindowsserver', 'windowsserver', '2022-datacenter-g2'), commandLine),
    happens: fresh,
  },
  {
    name: 'hotpatching',
    given: request(server('2022-datacenter-azure-edition-hotpatch'), {
      ...people,
      windowsConfiguration: {
        ...windowsConfiguration,
        patchSettings: { patchMode: 'AutomaticByPlatform', enableHotpatching: true },
      },
    }),
    happens: fresh,
  },
  {
    name: 'Windows 11',
    given: request(marketplace('MicrosoftWindowsDesktop', 'windows-11', 'win11-24h2-pro'), portal),
    happens: fresh,
  },
  {
    name: 'a session host of Azure Virtual Desktop',
    given: request(marketplace('MicrosoftWindowsDesktop', 'office-365', 'win11-24h2-avd-m365'), portal, {
      licenseType: 'Windows_Client',
    }),
    happens: fresh,
  },
  {
    name: 'SQL Server on Windows',
    given: request(marketplace('MicrosoftSQLServer', 'sql2022-ws2022', 'sqldev-gen2'), portal),
    happens: fresh,
  },
  {
    name: 'SQL Server on Windows from the command line, whose publisher has images of Linux too: after it exists',
    given: request(marketplace('MicrosoftSQLServer', 'sql2022-ws2022', 'sqldev-gen2'), commandLine),
    happens: [],
  },
  {
    name: 'SQL Server on Ubuntu gets the package for Linux',
    given: request(marketplace('MicrosoftSQLServer', 'sql2022-ubuntupro2004', 'sqldev_upro'), {
      ...people,
      linuxConfiguration: {},
    }),
    happens: ['gets the identity', 'gets 1.0.0 for x64'],
  },
  {
    name: 'an image of another publisher with a plan',
    given: request(
      marketplace('center-for-internet-security-inc', 'cis-windows-server', 'cis-windows-server2022-l1-gen2'),
      portal,
    ),
    happens: fresh,
  },
  { name: 'a generalized image of a gallery', given: request(galleryImage, portal), happens: fresh },
  {
    name: 'a shared image',
    given: request({ sharedGalleryImageId: '/sharedGalleries/g/images/web/versions/1.0.0' }, portal),
    happens: fresh,
  },
  {
    name: 'a community image',
    given: request({ communityGalleryImageId: '/CommunityGalleries/g/images/web/versions/1.0.0' }, portal),
    happens: fresh,
  },
  {
    name: 'a specialized image of a gallery, of which no one says what it is: after it exists',
    given: request(galleryImage, null),
    happens: [],
  },
  {
    name: 'an attached disk',
    given: {
      properties: {
        storageProfile: { osDisk: { createOption: 'Attach', osType: 'Windows', managedDisk: { id: '/disks/d' } } },
      },
    },
    happens: fresh,
  },
  {
    name: 'a disk in a storage account',
    given: {
      properties: {
        storageProfile: { osDisk: { createOption: 'FromImage', osType: 'Windows', image: { uri: 'https://x/y.vhd' } } },
        osProfile: people,
      },
    },
    happens: fresh,
  },
  { name: 'an operating system in small letters', given: { osType: 'windows' }, happens: fresh },
  {
    name: 'a template that names both configurations and sets one to null',
    given: request(galleryImage, { ...people, linuxConfiguration: null, windowsConfiguration }),
    happens: fresh,
  },
  {
    name: 'an empty Windows configuration',
    given: request(galleryImage, { ...people, windowsConfiguration: {} }),
    happens: fresh,
  },
  {
    name: 'a template with both configurations null: after it exists',
    given: request(galleryImage, { ...people, linuxConfiguration: null, windowsConfiguration: null }),
    happens: [],
  },
  {
    name: 'a VM without the agent, which cannot get applications',
    given: request(server('2022-datacenter-g2'), { ...people, windowsConfiguration: { provisionVMAgent: false } }),
    happens: [],
  },
  {
    name: 'a Spot VM',
    given: request(server('2022-datacenter-g2'), portal, { priority: 'Spot', evictionPolicy: 'Deallocate' }),
    happens: fresh,
  },
  {
    name: 'trusted launch',
    given: request(server('2022-datacenter-g2'), portal, {
      securityProfile: { securityType: 'TrustedLaunch', uefiSettings: { secureBootEnabled: true } },
    }),
    happens: fresh,
  },
  {
    name: 'a confidential VM',
    given: { ...request(server('2022-datacenter-g2'), portal), size: 'Standard_DC4as_v5' },
    happens: fresh,
  },
  {
    name: 'an instance of a flexible scale set',
    given: request(server('2022-datacenter-g2'), portal, {
      virtualMachineScaleSet: { id: '/virtualMachineScaleSets/web' },
    }),
    happens: fresh,
  },
  {
    name: 'an ephemeral disk',
    given: {
      properties: {
        storageProfile: {
          imageReference: server('2022-datacenter-g2'),
          osDisk: { createOption: 'FromImage', diffDiskSettings: { option: 'Local' } },
        },
      },
    },
    happens: fresh,
  },
  { name: 'Windows Server 2012 R2 is not changed', given: request(server('2012-R2-Datacenter'), portal), happens: [] },
  {
    name: 'Windows Server 2012 R2 of the second generation is not changed',
    given: request(server('2012-r2-datacenter-gensecond'), portal),
    happens: [],
  },
  {
    name: 'Windows Server 2012 is not changed',
    given: request(server('2012-datacenter-smalldisk'), commandLine),
    happens: [],
  },
  { name: 'Windows Server 2008 R2 is not changed', given: request(server('2008-R2-SP1'), portal), happens: [] },
  {
    name: 'SQL Server 2014 on Windows Server 2012 R2 is not changed',
    given: request(marketplace('MicrosoftSQLServer', 'SQL2014SP3-WS2012R2', 'Enterprise'), portal),
    happens: [],
  },
  {
    name: 'SQL Server 2012 with your own licence is not changed',
    given: request(marketplace('MicrosoftSQLServer', 'SQL2012SP4-WS2012R2-BYOL', 'Standard'), portal),
    happens: [],
  },
  {
    name: 'SQL Server 2008 R2 is not changed',
    given: request(marketplace('MicrosoftSQLServer', 'SQL2008R2SP3-WS2008R2SP1', 'Standard'), portal),
    happens: [],
  },
  {
    name: 'SQL Server 2016 on Windows Server 2016',
    given: request(marketplace('MicrosoftSQLServer', 'SQL2016SP3-WS2016', 'Standard'), portal),
    happens: fresh,
  },
  {
    name: 'Windows 7 is not changed',
    given: request(marketplace('MicrosoftWindowsDesktop', 'Windows-7', 'win7-enterprise'), portal),
    happens: [],
  },
  {
    name: 'Windows 7 with Visual Studio is not changed',
    given: request(marketplace('MicrosoftVisualStudio', 'Windows', 'Win7-SP1-ENT-N-x64'), portal),
    happens: [],
  },
  {
    name: 'Windows on Arm, for which there is no package, is not changed',
    given: {
      ...request(marketplace('MicrosoftWindowsDesktop', 'windows11preview-arm64', 'win11-24h2-ent'), commandLine),
      size: 'Standard_D4ps_v6',
    },
    happens: [],
  },
  {
    name: 'a request of a version that does not know all members of an application goes through unchanged',
    given: { ...request(server('2022-datacenter-g2'), portal), identity: ours, apiVersion: '2021-11-01' },
    happens: [],
  },
];

test.each(created)('a VM with Windows is created: $name', ({ given, happens }) => {
  expect(deeds('virtual-machine', virtualMachine(given))).toEqual(happens);
});

const existing: readonly Case[] = [
  { name: 'one that has nothing gets identity and application', given: windows, happens: fresh },
  {
    name: 'one without osProfile, from a specialized disk, gets them',
    given: { properties: { storageProfile: { osDisk: { osType: 'Windows' } } } },
    happens: fresh,
  },
  {
    name: 'one that names its ring gets the version of that ring',
    given: { ...windows, tags: { 'scheduled-events-bridge-ring': 'canary' } },
    happens: ['gets the identity', 'gets 1.1.0 for win-x64'],
  },
  {
    name: 'one with an unknown ring is listed, once',
    given: { ...windows, tags: { 'scheduled-events-bridge-ring': 'canarry' } },
    happens: ['listed as uncovered'],
  },
  { name: 'one that is up to date is not changed', given: settled, happens: [] },
  {
    name: 'one with an older version goes to the pinned one',
    given: { ...settled, applications: [at('0.9.0')] },
    happens: ['goes to 1.0.0 for win-x64'],
  },
  {
    name: 'one with version latest gets the pinned version',
    given: { ...settled, applications: [at('latest')] },
    happens: ['goes to 1.0.0 for win-x64'],
  },
  { name: 'one on Arm is neither changed nor listed', given: { ...windows, size: 'Standard_E4pds_v6' }, happens: [] },
  { name: 'one on AMD is no Arm VM', given: { ...windows, size: 'Standard_D4as_v5' }, happens: fresh },
  {
    name: 'one with a single identity of another product is listed',
    given: { ...windows, identity: { type: 'UserAssigned', userAssignedIdentities: { [otherIdentityId]: {} } } },
    happens: ['listed as uncovered'],
  },
  { name: 'one with 24 other applications gets it', given: { ...windows, applications: others(24) }, happens: fresh },
  {
    name: 'one with 25 other applications is listed',
    given: { ...windows, identity: ours, applications: others(25) },
    happens: ['listed as uncovered'],
  },
  {
    name: 'restarts wait where it has the bridge and no policy',
    given: { ...windows, identity: ours, applications: [at('1.0.0')] },
    happens: ['listed: restarts wait'],
  },
  {
    name: 'one with the opt-out tag is not changed',
    given: { ...windows, tags: { 'scheduled-events-bridge-opt-out': 'true' } },
    happens: [],
  },
  { name: 'one in another region is not changed', given: { ...windows, location: 'eastus' }, happens: [] },
  {
    name: 'one without the agent is neither changed nor listed',
    given: {
      ...windows,
      tags: { 'scheduled-events-bridge-ring': '?' },
      properties: { osProfile: { windowsConfiguration: { provisionVMAgent: false } } },
    },
    happens: [],
  },
  {
    name: 'a node of Batch is not changed',
    given: { ...windows, resourceGroup: { name: 'azurebatch-0-c' } },
    happens: [],
  },
  {
    name: 'a resource group that a service manages is not changed',
    given: { ...windows, resourceGroup: { managedBy: '/providers/Microsoft.ServiceFabric/managedclusters/c' } },
    happens: [],
  },
];

test.each(existing)('a VM with Windows that exists: $name', ({ given, happens }) => {
  expect(deeds('virtual-machine', virtualMachine(given))).toEqual(happens);
});

const packaged: readonly {
  readonly targets: Parameters<typeof initiative>[1] & {};
  readonly osType: string;
  readonly happens: readonly string[];
}[] = [
  { targets: ['linux-x64', 'linux-arm64'], osType: 'Windows', happens: [] },
  { targets: ['win-x64'], osType: 'Windows', happens: fresh },
  { targets: ['win-x64'], osType: 'Linux', happens: [] },
];
test.each(packaged)(
  'a fleet with packages for $targets changes a VM with $osType: $happens',
  ({ targets, osType, happens }) => {
    expect(deeds('virtual-machine', virtualMachine({ osType }), initiative(undefined, targets))).toEqual(happens);
  },
);

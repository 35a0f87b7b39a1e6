import * as subscription from '../../infra/acceptance/azure/commands.ts';
import * as machines from '../../infra/acceptance/azure/machine-commands.ts';
import * as storage from '../../infra/acceptance/azure/storage-commands.ts';
import * as cleanUp from '../../infra/acceptance/commands.ts';
import * as data from '../../infra/acceptance/data/commands.ts';
import * as events from '../../infra/acceptance/events/commands.ts';

/** Call lists by the name of the builder that made them. */
export type Samples = Readonly<Record<string, readonly (readonly string[])[]>>;

const run = { subscription: '11111111-1111-4111-8111-111111111111', location: 'westeurope' };
const tags = { 'scheduled-events-bridge-acceptance': 'k3x2ab' };
const group = 'rg-seb-acceptance-k3x2ab-machines';
const groupId = `/subscriptions/${run.subscription}/resourceGroups/${group}`;
const at = { group, name: 'vm-k3x2ab' };
const created = { ...at, location: run.location, tags };
const machine = {
  location: run.location,
  size: 'Standard_B2s_v2',
  subnetResourceId: `${groupId}/providers/Microsoft.Network/virtualNetworks/vnet-k3x2ab/subnets/vms`,
  identityResourceId: `${groupId}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-seb`,
  sshPublicKey: 'ssh-rsa AAAA acceptance',
  tags,
};
const version = {
  group,
  gallery: 'gal_seb_k3x2ab',
  application: 'scheduled-events-bridge-acceptance-x64',
  version: '1.0.0',
};
const versionId = `${groupId}/providers/Microsoft.Compute/galleries/gal/applications/a/versions/1.0.0`;
const vmId = `${groupId}/providers/Microsoft.Compute/virtualMachines/vm-k3x2ab`;
// A file that the parser finds: it reads the file of a script and of parameters.
const file = 'config.json';
const toGroup = { name: 'seb-k3x2ab-vm', scope: { group }, templateFile: 'vm.bicep', parameterFiles: [file] };
const toSubscription = { ...toGroup, scope: { location: run.location }, parameterFiles: [file, 'secrets.json'] };
const linux = { resourceGroup: group, name: at.name, instanceId: null, os: 'linux' } as const;
const vm = { resourceGroup: group, name: at.name, scaleSet: null, instanceId: null };
const instance = { ...vm, name: 'uni_3', scaleSet: 'uni', instanceId: '3' };
const role = { scope: vmId, role: 'Reader', principalId: run.subscription };

/** The modules whose exported functions return argument lists for the Azure CLI, each with calls of every one of them. */
export const commandModules: readonly { readonly path: string; readonly module: object; readonly samples: Samples }[] =
  [
    {
      path: 'infra/acceptance/azure/commands.ts',
      module: subscription,
      samples: {
        showVersion: [subscription.showVersion()],
        showBicepVersion: [subscription.showBicepVersion()],
        showAccount: [subscription.showAccount(run)],
        showCurrentAccount: [subscription.showCurrentAccount()],
        showSignedInUser: [subscription.showSignedInUser()],
        showServicePrincipal: [subscription.showServicePrincipal(run.subscription)],
        listProviders: [subscription.listProviders(run)],
        registerProvider: [subscription.registerProvider(run, 'Microsoft.Compute')],
        listComputeAliases: [subscription.listComputeAliases(run)],
        listComputeUsage: [subscription.listComputeUsage(run, run.location)],
        listSizes: [subscription.listSizes(run, run.location, 'Standard_')],
        listPermissions: [subscription.listPermissions(run)],
        assignRole: [subscription.assignRole(run, { ...role, principalType: 'ServicePrincipal' })],
        createGroup: [subscription.createGroup(run, { name: group, location: run.location, tags })],
        buildTemplate: [subscription.buildTemplate('infra/main.bicep')],
        lintTemplate: [subscription.lintTemplate('infra/main.bicep')],
        buildParameters: [subscription.buildParameters('infra/params/small.bicepparam')],
        whatIf: [subscription.whatIf(run, toGroup), subscription.whatIf(run, toSubscription)],
        deploy: [subscription.deploy(run, toGroup), subscription.deploy(run, toSubscription)],
        listFailedOperations: [
          subscription.listFailedOperations(run, { name: 'seb-k3x2ab-vm', group }),
          subscription.listFailedOperations(run, { name: 'seb-k3x2ab-platform', group: null }),
        ],
        showWorkspace: [subscription.showWorkspace(run, { group, workspace: 'log-sebk3x2ab' })],
        showTable: [subscription.showTable(run, { group, workspace: 'log-sebk3x2ab', table: 'VmLifecycle_CL' })],
        listAlertRules: [subscription.listAlertRules(run, group)],
        listMetricAlerts: [subscription.listMetricAlerts(run, group)],
        listActivityAlerts: [subscription.listActivityAlerts(run, group)],
      },
    },
    {
      path: 'infra/acceptance/azure/machine-commands.ts',
      module: machines,
      samples: {
        createPublicAddress: [machines.createPublicAddress(run, created)],
        createNatGateway: [machines.createNatGateway(run, { ...created, address: 'pip-k3x2ab' })],
        createNetwork: [machines.createNetwork(run, created)],
        createSubnet: [machines.createSubnet(run, { ...at, network: 'vnet-k3x2ab', gateway: 'ng-k3x2ab' })],
        createSpotVm: [machines.createSpotVm(run, at, machine)],
        showVm: [machines.showVm(run, at)],
        showExtensions: [machines.showExtensions(run, at)],
        deleteVm: [machines.deleteVm(run, at)],
        deleteExtension: [machines.deleteExtension(run, at, 'scheduled-events-bridge')],
        addSecondExtension: [machines.addSecondExtension(run, at)],
        setApplications: [machines.setApplications(run, at, [versionId]), machines.setApplications(run, at, [])],
        listApplications: [machines.listApplications(run, at)],
        createScaleSet: [
          machines.createScaleSet(run, at, { ...machine, orchestration: 'Uniform' }),
          machines.createScaleSet(run, at, { ...machine, orchestration: 'Flexible' }),
        ],
        setScaleSetApplications: [machines.setScaleSetApplications(run, at, [versionId])],
        scale: [machines.scale(run, at, 2)],
        reimage: [machines.reimage(run, at, '0')],
        listInstances: [machines.listInstances(run, at)],
        listVmsOfSet: [machines.listVmsOfSet(run, { group, scaleSetResourceId: vmId })],
        showScaleSet: [machines.showScaleSet(run, at)],
        deleteScaleSet: [machines.deleteScaleSet(run, at)],
        runScript: [
          machines.runScript(run, linux, file),
          machines.runScript(run, { ...linux, instanceId: '0' }, file),
          machines.runScript(run, { ...linux, os: 'windows' }, file),
        ],
      },
    },
    {
      path: 'infra/acceptance/azure/storage-commands.ts',
      module: storage,
      samples: {
        createStorageAccount: [storage.createStorageAccount(run, created)],
        createContainer: [storage.createContainer(run, { group, account: 'sebpkgk3x2ab', name: 'packages' })],
        uploadBlob: [storage.uploadBlob(run, { account: 'sebpkgk3x2ab', container: 'packages', name: file, file })],
        createIdentity: [storage.createIdentity(run, created)],
        createApplication: [storage.createApplication(run, { ...version, location: run.location })],
        createVersion: [storage.createVersion(run, { ...version, location: run.location, address: 'https://a/b' })],
        allowDeletionOfVersion: [storage.allowDeletionOfVersion(run, vmId)],
        deleteVersion: [storage.deleteVersion(run, version)],
        listVersions: [storage.listVersions(run, version)],
      },
    },
    {
      path: 'infra/acceptance/commands.ts',
      module: cleanUp,
      samples: {
        logIn: [cleanUp.logIn()],
        installBicep: [cleanUp.installBicep()],
        setAccount: [cleanUp.setAccount(run)],
        listAccounts: [cleanUp.listAccounts()],
        listLocations: [cleanUp.listLocations(run)],
        listTaggedGroups: [cleanUp.listTaggedGroups(run, 'a'), cleanUp.listTaggedGroups(run, 'a', 'b')],
        listNamedGroups: [cleanUp.listNamedGroups(run, 'rg-seb-')],
        listTaggedResources: [cleanUp.listTaggedResources(run, 'a', 'b')],
        deleteGroup: [cleanUp.deleteGroup(run, group)],
        listApplicationVersions: [cleanUp.listApplicationVersions(run, group)],
        deleteResource: [cleanUp.deleteResource(run, vmId)],
        deleteRoleAssignment: [
          cleanUp.deleteRoleAssignment(run, `${vmId}/providers/Microsoft.Authorization/roleAssignments/a`),
        ],
        listDeployments: [cleanUp.listDeployments(run)],
        cancelDeployment: [cleanUp.cancelDeployment(run, 'seb-k3x2ab-platform')],
        deleteDeployment: [cleanUp.deleteDeployment(run, 'seb-k3x2ab-platform')],
        listWorkspaces: [cleanUp.listWorkspaces(run, group)],
        purgeWorkspace: [cleanUp.purgeWorkspace(run, group, 'log-sebk3x2ab')],
        listDeletedWorkspaces: [cleanUp.listDeletedWorkspaces(run)],
      },
    },
    {
      path: 'infra/acceptance/data/commands.ts',
      module: data,
      samples: {
        queryWorkspace: [data.queryWorkspace(run.subscription, file)],
        queryResourceGraph: [data.queryResourceGraph(run, file)],
        listRoleAssignments: [data.listRoleAssignments(run, role)],
        removeRoleAssignment: [
          data.removeRoleAssignment(run, `${vmId}/providers/Microsoft.Authorization/roleAssignments/a`),
        ],
        showQueryRule: [data.showQueryRule(run, vmId)],
        patchQueryRule: [data.patchQueryRule(run, vmId, file)],
        showResourceHealth: [data.showResourceHealth(run, vmId)],
        listRaisedAlerts: [data.listRaisedAlerts(run, group)],
        listMetrics: [data.listMetrics(run, { resource: vmId, metrics: ['a', 'b'], hours: 10 })],
      },
    },
    {
      path: 'infra/acceptance/events/commands.ts',
      module: events,
      samples: {
        restart: [events.restart(run, vm), events.restart(run, instance)],
        redeploy: [events.redeploy(run, vm)],
        simulateEviction: [events.simulateEviction(run, vm)],
        deallocate: [events.deallocate(run, vm)],
        deleteInstance: [events.deleteInstance(run, vm), events.deleteInstance(run, instance)],
        start: [events.start(run, vm)],
      },
    },
  ];

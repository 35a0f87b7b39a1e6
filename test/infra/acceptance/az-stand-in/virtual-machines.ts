import { guidOf } from '../../../../src/azure-simulator/guid-of.ts';
import type { AzureResource } from './kinds.ts';
import type { AzureFault, Machines, RunCommandStatus, World } from './world.ts';

/** The bridge on a VM. */
interface Installed {
  readonly configuration: string;
  readonly pid: number;
  readonly since: string;
}

const vmOf = (id: string): string => id.replace(/\/(extensions|VMapplications)\/[^/]+$/i, '').toLowerCase();
const setOf = (id: string): string => id.replace(/\/virtualMachines\/[^/]+$/i, '');
const decoded = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString();

/** How an installation ends whose configuration the bridge refuses: `infra/install.md`. */
const wrongConfiguration: AzureFault = {
  code: 'VMExtensionProvisioningError',
  message:
    "VM has reported a failure when processing extension 'scheduled-events-bridge'. Error message: 'Enable failed: failed to execute command: command terminated with exit status=53'.",
};
/** https://learn.microsoft.com/azure/virtual-machines/extensions/custom-script-linux#troubleshooting */
const secondHandler: AzureFault = {
  code: 'BadRequest',
  message: "Multiple VMExtensions per handler not supported for OS type 'Linux'.",
};

/** VMs on which the bridge is installed by extensions, VM applications and scripts, as far as the steps of an acceptance run look at it. */
export function createVirtualMachines(): Machines {
  const installed = new Map<string, Installed>();
  let starts = 1000;

  function install(vm: string, configuration: string): AzureFault | null {
    const { sinks = {} } = JSON.parse(configuration) as { sinks?: object };
    if (Object.keys(sinks).some((name) => !['eventHubs', 'logAnalytics'].includes(name))) return wrongConfiguration;
    if (installed.get(vm)?.configuration !== configuration) {
      starts += 1;
      installed.set(vm, { configuration, pid: starts, since: new Date().toISOString() });
    }
    return null;
  }

  /** Compares the applications of a VM with those that it had. */
  function applyApplications(world: World, vm: AzureResource, before: AzureResource | null): AzureFault | null {
    const [now, then] = [applicationsOf(vm), applicationsOf(before)];
    const own = /\/applications\/scheduled-events-bridge-/i;
    const id = vmOf(vm.id);
    if (then.some((one) => own.test(one)) && !now.some((one) => own.test(one))) installed.delete(id);
    const added = now.find((one) => own.test(one) && !then.includes(one));
    return added === undefined ? null : install(id, configurationOf(world, added));
  }

  /** The bridge on a VM, or what the model of its scale set has installed. */
  function bridgeOn(world: World, id: string): Installed | null {
    const own = installed.get(vmOf(id));
    if (own !== undefined) return own;
    const vm = world.get(id);
    const flexible = (vm?.properties.virtualMachineScaleSet as { id?: string } | undefined)?.id;
    const set = world.get(flexible ?? setOf(id));
    if (set === null || set.id.toLowerCase() === id.toLowerCase()) return null;
    const profile = set.properties.virtualMachineProfile as AzureResource['properties'] | undefined;
    const [application] = applicationsOf({ ...set, properties: profile ?? {} });
    const [extension] = world.under(set.id, 'Microsoft.Compute/virtualMachineScaleSets/extensions');
    if (application !== undefined) install(vmOf(id), configurationOf(world, application));
    else if (extension !== undefined) install(vmOf(id), configurationIn(extension));
    return installed.get(vmOf(id)) ?? null;
  }

  function answerTo(script: string, world: World, id: string): { code: number; text: string } {
    const bridge = bridgeOn(world, id);
    const from = (text: string, code = 0) => ({ code, text });
    const vm = world.get(id);
    if (vm === null) throw new Error(`there is no VM ${id}`);
    if (script.includes('remove.sh') || script.includes('remove.cmd')) {
      installed.delete(vmOf(id));
      return from('');
    }
    if (script.includes('for path in /opt')) return from(bridge === null ? '' : '/opt/scheduled-events-bridge');
    if (script.includes("'the service'")) return from(bridge === null ? '' : 'the service');
    if (script.includes('Get-AuthenticodeSignature')) return from('Valid');
    if (script.includes('install --yes')) {
      install(vmOf(id), decoded(/printf %s '([^']+)' \| base64 --decode/.exec(script)?.[1]));
      return from('');
    }
    if (script.includes('instance/compute?')) return from(JSON.stringify(metadataOf(world, vm)));
    if (script.includes('instance?api-version=2099')) {
      return from('{"error":"Bad request. api-version is invalid","newest-versions":["2025-04-07","2023-11-15"]}\n400');
    }
    if (script.includes('scheduledevents?')) return from('200 1.204');
    // The time of the command of an extension, which is not run again for the same settings.
    if (script.startsWith('find /var/lib/waagent/')) return from(`17900${bridge?.pid ?? 0}.5`);
    if (bridge === null) return from('', 127);
    if (script.includes('"streamId"')) return from(`"streamId":"${guidOf(id)}"`);
    if (script.endsWith(' service status --json')) {
      const service = { active: 'active', pid: bridge.pid, since: bridge.since };
      return from(JSON.stringify({ installed: true, version: '0.1.0', service }));
    }
    if (script.endsWith(' check')) return from('Everything works.');
    if (script.startsWith('cat /etc/')) return from(bridge.configuration);
    throw new Error(`the stand-in for Azure has no VM that runs this script: ${script}`);
  }

  return {
    put(world, resource, before) {
      const type = resource.type.toLowerCase();
      if (type.endsWith('/virtualmachines/extensions')) {
        const isOther = ({ id }: AzureResource) => id.toLowerCase() !== resource.id.toLowerCase();
        const beside = world.under(vmOf(resource.id), resource.type).filter(isOther);
        return beside.length > 0 ? secondHandler : install(vmOf(resource.id), configurationIn(resource));
      }
      if (type.endsWith('/vmapplications')) return updateApplication(world, resource);
      return type === 'microsoft.compute/virtualmachines' ? applyApplications(world, resource, before) : null;
    },
    act(_, id, action) {
      if (action === 'reimageall' || action === 'delete') installed.delete(vmOf(id));
    },
    async run(world, id, script) {
      // Of a long output the end is returned.
      if (script.startsWith('id -un')) return printed(`${numbers}root`);
      if (script.startsWith('whoami')) return printedOnWindows(`${numbers}nt authority\\system`);
      const ofLinux = /^output=\$\( \(\n([\s\S]*)\n\) \)\ncode=/.exec(script)?.[1];
      const ofWindows = /\$output = & \{\n([\s\S]*)\n\} \| Out-String/.exec(script)?.[1];
      const { code, text } = answerTo(ofLinux ?? ofWindows ?? script, world, id);
      return (ofWindows === undefined ? printed : printedOnWindows)(`${text}\nacceptance-exit-code=${code}`);
    },
  };

  function updateApplication(world: World, { id, properties }: AzureResource): AzureFault | null {
    const vm = world.get(vmOf(id));
    if (vm === null) return { code: 'ResourceNotFound', message: `There is no VM for ${id}.` };
    const application = String(properties.packageReferenceId);
    const others = applicationsOf(vm).filter((one) => applicationIn(one) !== applicationIn(application));
    const galleryApplications = [...others, application].map((packageReferenceId) => ({ packageReferenceId }));
    const changed = { ...vm, properties: { ...vm.properties, applicationProfile: { galleryApplications } } };
    world.put(changed);
    return applyApplications(world, changed, vm);
  }
}

/** A long output. */
const numbers = Array.from({ length: 800 }, (_, index) => `${1201 + index}\n`).join('');

/** https://learn.microsoft.com/azure/virtual-machines/linux/run-command#run-command */
export const printed = (stdout: string): readonly RunCommandStatus[] => [
  {
    code: 'ProvisioningState/succeeded',
    level: 'Info',
    displayStatus: 'Provisioning succeeded',
    message: `Enable succeeded: \n[stdout]\n${stdout}\n\n[stderr]\n`,
  },
];

/** On Windows each stream has its own entry. */
export const printedOnWindows = (stdout: string): readonly RunCommandStatus[] =>
  Object.entries({ StdOut: stdout, StdErr: '' }).map(([stream, message]) => ({
    code: `ComponentStatus/${stream}/succeeded`,
    level: 'Info',
    displayStatus: 'Provisioning succeeded',
    message,
  }));

const applicationIn = (versionId: string): string => versionId.split('/versions/')[0]?.toLowerCase() ?? '';

function applicationsOf(resource: AzureResource | null): readonly string[] {
  const profile = resource?.properties.applicationProfile as
    | { readonly galleryApplications?: readonly { readonly packageReferenceId: string }[] | null }
    | undefined;
  return (profile?.galleryApplications ?? []).map(({ packageReferenceId }) => packageReferenceId);
}

/** What the command of a Custom Script extension writes. */
function configurationIn({ properties }: AzureResource): string {
  const { commandToExecute = '' } = (properties.protectedSettings ?? {}) as { commandToExecute?: string };
  const base64 =
    /echo (\S+) \| base64 -d/.exec(commandToExecute)?.[1] ??
    /FromBase64String\('([^']+)'\)/.exec(commandToExecute)?.[1];
  return base64 === undefined ? '{}' : decoded(base64);
}

/** The blob that a version of the VM application names. */
function configurationOf(world: World, versionId: string): string {
  const version = world.get(versionId)?.properties.publishingProfile as
    | { readonly source?: { readonly defaultConfigurationLink?: string } }
    | undefined;
  const link = version?.source?.defaultConfigurationLink ?? '';
  const text = world.blobs.get(link);
  if (text === undefined) throw new Error(`the version ${versionId} names no blob that was uploaded: ${link}`);
  return text;
}

/** https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service#instance-metadata */
function metadataOf(world: World, vm: AzureResource): object {
  const flexible = (vm.properties.virtualMachineScaleSet as { id?: string } | undefined)?.id;
  const set = world.get(flexible ?? setOf(vm.id));
  const { vmSize } = (vm.properties.hardwareProfile ?? {}) as { vmSize?: string };
  return {
    name: vm.name,
    resourceId: vm.id,
    vmId: guidOf(vm.id),
    vmSize: vmSize ?? (set?.sku as { name?: string } | undefined)?.name,
    vmScaleSetName: set === null || set.id === vm.id ? '' : set.name,
    location: vm.location,
    tagsList: Object.entries(vm.tags ?? {}).map(([name, value]) => ({ name, value })),
  };
}

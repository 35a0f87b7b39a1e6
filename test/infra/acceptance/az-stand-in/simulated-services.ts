import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeJwt } from 'jose';
import { createSimulatorData } from '../../../../infra/acceptance/data/simulator-data.ts';
import { scenarios } from '../../../../infra/acceptance/events/scenarios.ts';
import type { SimulatedAzure } from '../../../../infra/acceptance/events/simulated-azure.ts';
import { createSimulatedVm, type SimulatedVm } from '../../../../infra/acceptance/events/simulated-vm.ts';
import { createSimulatorMachines } from '../../../../infra/acceptance/events/simulator-machines.ts';
import type { Machine, Operation, QueryResult } from '../../../../infra/acceptance/target.ts';
import { streams } from '../../../../src/azure-simulator/cli/streams.ts';
import { type AzureSimulator, startAzureSimulator, type VmDefinition } from '../../../../src/azure-simulator/index.ts';
import type { Scenario } from '../../../../src/azure-simulator/scenarios/index.ts';
import { temporaryDirectory } from '../../../support/bridge-process.ts';
import { mainFile } from '../../../support/program.ts';
import { roles } from '../../../tools/bicep/roles.ts';
import { type AzureResource, ruleId, subscriptionId, subscriptionScope } from './kinds.ts';
import { userObjectId } from './replies/account.ts';
import { instancesOf } from './replies/compute.ts';
import { isOfRecorder, runInSimulatedVm } from './simulated-scripts.ts';
import { createVirtualMachines } from './virtual-machines.ts';
import type { Queries, Services, World } from './world.ts';

/** The hub, the rule and the VMs of a subscription, by the simulator and real bridges. */
export interface SimulatedServices extends Services {
  /** Variables for the run: where its connections lead, and which authority it trusts. */
  readonly environment: Readonly<Record<string, string>>;
  /** Exceptions inside the simulators. */
  readonly errors: () => readonly Error[];
  close(): Promise<void>;
}

/** The notice of an event that no one approves. Scenarios of a test expect less. */
export const noticeSeconds = 8;

/** The simulator refuses a value of the wrong type, so that it is seen; Azure is said to store the row (`logs-types`). */
const lenient = Object.fromEntries(
  Object.entries(streams).map(([stream, columns]) => [
    stream,
    columns.map((column) => (column.name === 'Sequence' ? { ...column, type: 'dynamic' } : column)),
  ]),
);

/** A value that its column cannot hold is null in the table. */
const withTypes = (logAnalytics: AzureSimulator['logAnalytics']): AzureSimulator['logAnalytics'] => ({
  ...logAnalytics,
  rows: (stream) =>
    logAnalytics.rows(stream).map((row) => (Number.isInteger(row.Sequence ?? 0) ? row : { ...row, Sequence: null })),
});

/** What a rule and a hub take: enough for bridges, and little for a load. */
const limits = { requests: 100, everyMs: 5_000, throughputUnits: 1 } as const;

/** By the path of Azure's interface. */
const operations: Readonly<Record<string, Operation>> = {
  restart: 'restart',
  redeploy: 'redeploy',
  simulateEviction: 'evict',
  deallocate: 'deallocate',
  start: 'start',
  delete: 'delete-instance',
};

/** @param played ids of the scenarios that the run plays; default all */
export async function startSimulatedServices(
  played: readonly string[] = scenarios.map(({ id }) => id),
): Promise<SimulatedServices> {
  const folder = temporaryDirectory('simulated-services');
  const directory = folder.path;
  const azure = await startAzureSimulator({ directory, ruleId, streams: lenient });
  azure.eventHubs.limit({ throughputUnits: limits.throughputUnits });
  const limit = (): void => azure.logAnalytics.limit({ requestsPerMinute: limits.requests });
  limit();
  const minute = setInterval(limit, limits.everyMs);
  const simulators = [azure];
  const data = createSimulatorData(async () => ({ ...azure, logAnalytics: withTypes(azure.logAnalytics) }));
  const virtual = createVirtualMachines();
  const tokenOf = (resource: string, clientId?: string): Promise<string> => identityToken(azure, resource, clientId);
  const identity = String(decodeJwt(await tokenOf('https://monitor.azure.com')).appid);

  let starting: Promise<SimulatedAzure> | null = null;
  const begin = (world: World): Promise<SimulatedAzure> => {
    starting ??= startVms(world, { azure, simulators, directory });
    return starting;
  };
  const simulated = createSimulatorMachines(() => {
    if (starting === null) throw new Error('no VM was created');
    return starting;
  });
  const booted = new Map<SimulatedVm, Promise<void>>();
  /** The VM of a resource, which was booted when it was created. */
  async function vmOf(world: World, id: string): Promise<SimulatedVm | null> {
    const { vms } = await begin(world);
    const name = nameOf(world.get(id), id);
    const vm = vms.find(({ machine }) => machine.name.toLowerCase() === name.toLowerCase());
    if (vm === undefined) return null;
    const boot = booted.get(vm) ?? vm.boot();
    booted.set(vm, boot);
    await boot;
    return vm;
  }

  const left = scenarios.filter(({ id }) => played.includes(id));
  /** Whether the next scenario of this kind is one that approves: Azure does not know it, but this shortens other notices. */
  function isToBeApproved({ role }: Machine, operation: Operation): boolean {
    const at = left.findIndex((one) => one.role === role && one.operation === operation);
    const [scenario] = at < 0 ? [] : left.splice(at, 1);
    return scenario !== undefined && scenario.approvedBy !== null;
  }

  const turns = new Map<SimulatedVm, Promise<void>>();
  /** Azure carries out the operations on a VM one after the other. */
  function inTurn(vm: SimulatedVm, work: () => Promise<void>): Promise<void> {
    const turn = (turns.get(vm) ?? Promise.resolve()).then(work);
    turns.set(
      vm,
      turn.catch(() => {}),
    );
    return turn;
  }

  let hubIsOpen = true;
  return {
    environment: {
      NODE_EXTRA_CA_CERTS: azure.caFile,
      AZ_STAND_IN_SERVICES: JSON.stringify(addressesOf(azure)),
    },
    errors: () => simulators.flatMap(({ errors }) => errors),
    queries: queriesOf(data),
    async token(scope) {
      const audience = scope.split(' ').find((one) => /eventhubs\.azure\.net|monitor\.azure\.com/.test(one));
      return audience === undefined ? null : await tokenOf(audience.replace('/.default', ''), userObjectId);
    },
    rolesChanged(world) {
      const { publishers, mayServe } = rolesIn(world, identity);
      azure.logAnalytics.authorize(publishers);
      if (mayServe === hubIsOpen) return;
      hubIsOpen = mayServe;
      azure.eventHubs.fault(mayServe ? null : 'unauthorized');
      // A link that is open keeps its right until its token is renewed.
      if (!mayServe) azure.eventHubs.dropConnections();
    },
    machines: {
      put: virtual.put,
      async act(world, id, action) {
        const operation = operations[action];
        if (operation === undefined || (starting === null && action === 'delete'))
          return virtual.act(world, id, action);
        const vm = await vmOf(world, id);
        if (vm === null) return virtual.act(world, id, action);
        const approvalFollows = isToBeApproved(vm.machine, operation);
        await inTurn(vm, async () => {
          await simulated.request(operation, vm.machine, { approvalFollows });
          // A VM is deleted when its event has started.
          while (operation === 'delete-instance' && vm.isOn()) await sleep(50);
        });
      },
      async run(world, id, script) {
        if (!isOfRecorder(script)) return virtual.run(world, id, script);
        const vm = await vmOf(world, id);
        // The agent of a VM that restarts needs a moment.
        for (const until = Date.now() + bootMs; vm !== null && !vm.isOn() && Date.now() < until; ) await sleep(50);
        if (vm?.isOn() !== true) {
          return {
            code: 'OperationNotAllowed',
            message: 'Cannot modify extensions in the VM when the VM is not running.',
          };
        }
        return await runInSimulatedVm(script, { vm, simulated, directory: join(directory, vm.machine.name) });
      },
    },
    async close() {
      clearInterval(minute);
      await simulated.close();
      await data.close();
      await (await starting?.catch(() => null))?.close();
      await Promise.all(simulators.map((one) => one.close()));
      folder[Symbol.dispose]();
    },
  };
}

const bootMs = 5_000;

/** A token of the simulator; without a client id of its managed identity, which stands for that of the bridges. */
async function identityToken({ imds }: AzureSimulator, resource: string, clientId?: string): Promise<string> {
  const query = new URLSearchParams({
    'api-version': '2018-02-01',
    resource,
    ...(clientId !== undefined && { client_id: clientId }),
  });
  const answer = await fetch(`${imds.url}/metadata/identity/oauth2/token?${query}`, { headers: { Metadata: 'true' } });
  return ((await answer.json()) as { access_token: string }).access_token;
}

/** Where connections to services of Azure lead: end of the name, port, and the port on this machine. */
export type RedirectedPort = readonly [nameEnd: string, port: number, here: number];

const portOf = (address: string): number => Number(new URL(address).port);
const addressesOf = ({ eventHubs, logAnalytics }: AzureSimulator): readonly RedirectedPort[] => [
  ['.servicebus.windows.net', 5671, Number(/:(\d+)\/?$/.exec(eventHubs.customEndpoint)?.[1])],
  ['.servicebus.windows.net', 443, portOf(eventHubs.websocketEndpoint.replace('wss:', 'https:'))],
  ['.ingest.monitor.azure.com', 443, portOf(logAnalytics.endpoint)],
];

const roleId = (name: string): string => String(roles.find((role) => role.name === name)?.id);

/** Who may send to the rule, and whether the identity of the bridges may send to the hub. */
function rolesIn(
  world: World,
  identity: string,
): { readonly publishers: readonly string[]; readonly mayServe: boolean } {
  const assignments = world.under(subscriptionScope, 'Microsoft.Authorization/roleAssignments');
  const principals = (role: string): readonly string[] =>
    assignments
      .filter(({ properties }) => String(properties.roleDefinitionId).toLowerCase().endsWith(role))
      .map(({ properties }) => (properties.principalId === userObjectId ? userObjectId : identity));
  return {
    publishers: principals(roleId('Monitoring Metrics Publisher')),
    mayServe: principals(roleId('Azure Event Hubs Data Sender')).includes(identity),
  };
}

const billedSize = ' | extend Billed = _BilledSize';

/** Azure bills the size of the values. */
function withBilledSize(query: string, { columns, rows }: QueryResult): QueryResult {
  if (!query.includes(billedSize)) return { columns, rows };
  const sizeOf = (value: unknown): number =>
    value === null || value === undefined || value === ''
      ? 0
      : Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value));
  return {
    columns: [...columns, { name: 'Billed', type: 'real' }],
    rows: rows.map((row) => ({
      ...row,
      Billed: Object.values(row).reduce<number>((sum, one) => sum + sizeOf(one), 0),
    })),
  };
}

/** Azure answers dynamic values as JSON in a text. */
function queriesOf(data: ReturnType<typeof createSimulatorData>): Queries {
  return {
    graph: async () => [],
    async logs(query) {
      try {
        const { columns, rows } = withBilledSize(query, await data.query(query.replace(billedSize, '')));
        const cell = (value: unknown, type: string): unknown =>
          type === 'dynamic' && value !== null && value !== undefined ? JSON.stringify(value) : (value ?? null);
        return { columns, rows: rows.map((row) => columns.map(({ name, type }) => cell(row[name], type))) };
      } catch (error) {
        return { message: error instanceof Error ? error.message : String(error) };
      }
    },
  };
}

interface Vms {
  readonly azure: AzureSimulator;
  /** Those that are started are added. */
  readonly simulators: AzureSimulator[];
  readonly directory: string;
}

/** Each VM outside of a scale set, and each scale set, is a group of its own with a simulator of its own. */
async function startVms(world: World, { azure, simulators, directory }: Vms): Promise<SimulatedAzure> {
  const vms: SimulatedVm[] = [];
  for (const group of groupsIn(world)) {
    const definitions = group.map(({ name, traits }) => ({ name, ...traits }));
    const simulator = await startAzureSimulator({ directory, vms: definitions, streams });
    simulators.push(simulator);
    for (const { traits: _, ...machine } of group) {
      const own = join(directory, machine.name);
      const vm = createSimulatedVm({ machine, imds: simulator.imds, azure, program: mainFile, directory: own });
      writeBridgeCommand(own, vm);
      vms.push(likeAzure(vm));
    }
  }
  return {
    azure,
    vms,
    change: withNotice,
    async close() {
      await Promise.all(vms.map((vm) => vm.close()));
    },
  };
}

/** Azure is assumed to shut a guest down in order (`host-stops-orderly`); the simulator cuts its power. */
const likeAzure = (vm: SimulatedVm): SimulatedVm => ({ ...vm, cut: vm.close });

/** Shortened notices are lengthened again so far that a poll of a busy machine sees them in time. */
const withNotice = (scenario: Scenario): Scenario => ({
  ...scenario,
  steps: scenario.steps.map((step) => {
    if (step.do === 'schedule' && (step.noticeSeconds ?? 0) < noticeSeconds) return { ...step, noticeSeconds };
    if (step.do === 'start' && step.afterSeconds > 1 && step.afterSeconds < noticeSeconds)
      return { ...step, afterSeconds: noticeSeconds };
    return step;
  }),
});

type NewMachine = Machine & { readonly traits: Omit<VmDefinition, 'name'> };

function groupsIn(world: World): readonly (readonly NewMachine[])[] {
  const vms = world.under(subscriptionScope, 'Microsoft.Compute/virtualMachines');
  const single = vms.filter(({ properties }) => properties.virtualMachineScaleSet === undefined);
  const sets = world.under(subscriptionScope, 'Microsoft.Compute/virtualMachineScaleSets');
  return [
    ...single.map((vm) => [singleVm(vm)]),
    ...sets.map((set) => instancesOf(world, set).map((vm) => instanceVm(vm, set))),
  ];
}

function singleVm(vm: AzureResource): NewMachine {
  const isWindows = (vm.properties.osProfile as { windowsConfiguration?: unknown } | undefined)?.windowsConfiguration;
  const isSpot = vm.properties.priority === 'Spot';
  const os = isWindows === undefined || isWindows === null ? 'linux' : 'windows';
  const traits = {
    ...traitsOf(vm),
    scaleSet: null,
    placementGroupId: '',
    sees: 'own',
    ...(isSpot && { priority: 'Spot' }),
    osType: os === 'windows' ? 'Windows' : 'Linux',
  } as const;
  const role = isSpot ? 'spot' : os === 'windows' ? 'windows' : 'single';
  return { name: vm.name, role, os, scaleSet: null, traits };
}

function instanceVm(vm: AzureResource, set: AzureResource): NewMachine {
  const role = set.properties.orchestrationMode === 'Flexible' ? 'flexible' : 'uniform';
  const traits = { ...traitsOf(vm), scaleSet: set.name };
  return { name: nameOf(vm, vm.id), role, os: 'linux', scaleSet: set.name, traits };
}

const traitsOf = ({ id, tags = {} }: AzureResource) => ({
  subscriptionId,
  resourceGroup: /\/resourceGroups\/([^/]+)\//i.exec(id)?.[1] ?? '',
  tags,
});

/** Of an instance of a uniform scale set it is not the last part of its id. */
const nameOf = (vm: AzureResource | null, id: string): string => vm?.name ?? id.slice(id.lastIndexOf('/') + 1);

/** The program of the bridge at its path on the VM. */
function writeBridgeCommand(directory: string, { environment }: SimulatedVm): void {
  const folder = join(directory, 'opt/scheduled-events-bridge/current');
  for (const path of [folder, join(directory, 'var/tmp'), join(directory, 'var/lib/scheduled-events-recorder')]) {
    mkdirSync(path, { recursive: true });
  }
  const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
  const variables = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${quoted(value)}`],
  );
  const line = ['exec env -i', ...variables, quoted(process.execPath), quoted(mainFile), '"$@"'].join(' ');
  writeFileSync(join(folder, 'scheduled-events-bridge'), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
}

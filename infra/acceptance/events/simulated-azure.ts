import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { streams } from '../../../src/azure-simulator/cli/streams.ts';
import { type AzureSimulator, startAzureSimulator, type VmDefinition } from '../../../src/azure-simulator/index.ts';
import type { Scenario } from '../../../src/azure-simulator/scenarios/index.ts';
import { bundle } from '../../package/bundle.ts';
import type { Machine } from '../target.ts';
import { createSimulatedVm, type SimulatedVm } from './simulated-vm.ts';

/** Simulators and VMs of a run against the simulator. */
export interface SimulatedAzure {
  /** With the event hub, the table and the tokens of all VMs. */
  readonly azure: AzureSimulator;
  readonly vms: readonly SimulatedVm[];
  /** What Azure does in a scenario, where a test wants it otherwise. */
  readonly change: (scenario: Scenario) => Scenario;
  close(): Promise<void>;
}

const standalone = { scaleSet: null, placementGroupId: '', sees: 'own' } as const;

type SimulatedMachine = Machine & { readonly traits: Omit<VmDefinition, 'name'> };

/** Each VM outside of a scale set, and each scale set, is a group of its own with a simulator of its own. */
const groups: readonly (readonly SimulatedMachine[])[] = [
  [{ name: 'vm-single', role: 'single', os: 'linux', scaleSet: null, traits: standalone }],
  [{ name: 'vm-single-2', role: 'single', os: 'linux', scaleSet: null, traits: standalone }],
  [{ name: 'vm-spot', role: 'spot', os: 'linux', scaleSet: null, traits: { ...standalone, priority: 'Spot' } }],
  ['0', '1'].map((number) => instance('uniform', `vmss-uniform_${number}`)),
  ['3f2a9c10', '8b41d7e6'].map((suffix) => instance('flexible', `vmss-flexible_${suffix}`)),
];

function instance(role: 'uniform' | 'flexible', name: string) {
  const scaleSet = `vmss-${role}`;
  return { name, role, os: 'linux', scaleSet, traits: { scaleSet } } as const;
}

export interface SimulatedAzureOptions {
  /** File of the bridge's program. Default: bundled from the sources. */
  readonly program?: string;
  /** Changes what Azure does: a test plants a fault with it. */
  readonly change?: (scenario: Scenario) => Scenario;
}

const directories = new Set<string>();

/** A directory of this process, which removes what is left of it at its end. */
function newDirectory(): string {
  if (directories.size === 0) process.once('exit', () => directories.forEach(removeDirectory));
  const directory = mkdtempSync(join(tmpdir(), 'scheduled-events-bridge-acceptance-'));
  directories.add(directory);
  return directory;
}

function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

let bundled: Promise<string> | null = null;

/** Sources start three times as slowly. Bundled once for all simulators of this process. */
function bundledProgram(): Promise<string> {
  bundled ??= (async () => {
    const file = join(newDirectory(), 'scheduled-events-bridge.cjs');
    await bundle(file);
    return file;
  })();
  return bundled;
}

/** Starts the simulators, and no bridge yet. */
export async function startSimulatedAzure({
  program,
  change = (scenario) => scenario,
}: SimulatedAzureOptions = {}): Promise<SimulatedAzure> {
  const directory = newDirectory();
  const simulators: AzureSimulator[] = [];
  const vms: SimulatedVm[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(vms.map((vm) => vm.close()));
    await Promise.all(simulators.map((one) => one.close()));
    removeDirectory(directory);
  };
  try {
    for (const machines of groups) {
      const definitions = machines.map(({ name, traits }) => ({ name, ...traits }));
      // With one directory they have one certificate, and accept the tokens of each other.
      simulators.push(await startAzureSimulator({ directory, vms: definitions, streams }));
    }
    const [azure] = simulators as [AzureSimulator];
    const file = program ?? (await bundledProgram());
    for (const [index, machines] of groups.entries()) {
      const { imds } = simulators[index] ?? azure;
      for (const { traits: _, ...machine } of machines) {
        vms.push(createSimulatedVm({ machine, imds, azure, program: file, directory: join(directory, machine.name) }));
      }
    }
    return { azure, vms, change, close };
  } catch (error) {
    await close();
    throw error;
  }
}

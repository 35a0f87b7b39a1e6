import { setTimeout as sleep } from 'node:timers/promises';
import type { AzureSimulator, ImdsSimulator, IssuedStep } from '../../../src/azure-simulator/index.ts';
import { playScenario } from '../../../src/azure-simulator/player.ts';
import { findScenario, type Scenario } from '../../../src/azure-simulator/scenarios/index.ts';
import type { LifecycleRecord, Phase } from '../../../src/lifecycle/record.ts';
import type { Machine, Operation } from '../target.ts';
import { sameId } from './checks.ts';
import type { MachineHalf } from './machine-half.ts';
import { scenarios } from './scenarios.ts';
import type { SimulatedAzure } from './simulated-azure.ts';
import type { SimulatedVm } from './simulated-vm.ts';

/** What Azure does to the VMs of a run, done by the simulator and to processes of this machine. */
export function createSimulatorMachines(start: () => Promise<SimulatedAzure>): MachineHalf {
  const played = new AbortController();
  /** Of each VM: its last scenario, or why it broke off. */
  const plays = new Map<string, Promise<Error | null>>();
  const vmOf = async ({ name }: Machine): Promise<SimulatedVm> => {
    const vm = (await start()).vms.find(({ machine }) => machine.name === name);
    if (vm === undefined) throw new Error(`The simulator has no VM ${name}.`);
    return vm;
  };
  const bootedVmOf = async (machine: Machine): Promise<SimulatedVm> => {
    const vm = await vmOf(machine);
    if (!vm.isOn()) throw new Error(`${machine.name} is not running.`);
    return vm;
  };
  const run = async (machine: Machine, args: readonly string[]) => (await bootedVmOf(machine)).run(args);

  return {
    machines: async () => (await start()).vms.map(({ machine }) => machine),
    async request(operation, machine, { approvalFollows = false } = {}) {
      const vm = await vmOf(machine);
      const { azure, vms, change } = await start();
      await plays.get(machine.name);
      if (!vm.isOn()) await vm.boot();
      if (operation === 'start') return;
      // On a slow machine the last poll may be so long ago that the event could have been there before.
      await vm.polled(2);
      const name = scenarios.find((one) => one.operation === operation)?.simulated ?? null;
      if (name === null) return await vm.cut();
      const found = findScenario(name);
      if (found === undefined) throw new Error(`The simulator has no scenario ${name}.`);
      const before = vm.imds.issued.length;
      const play = playScenario({ imds: vm.imds }, change(shortened(found, operation, approvalFollows)), {
        vms: [machine.name],
        signal: played.signal,
        onImpact: () => {},
        beforeStep: async (step) => {
          const group = vms.filter(({ imds }) => imds === vm.imds);
          await observed(vm, group, before, () => recordsIn(azure), played.signal);
          if (step.do === 'impact') await applyImpact(vm, operation);
        },
      });
      plays.set(
        machine.name,
        play.then(
          () => null,
          (error: Error) => error,
        ),
      );
    },
    async startRecording(machine) {
      const vm = await vmOf(machine);
      if (!vm.isOn()) await vm.boot();
      await vm.startRecording();
    },
    readRecording: async (machine) => (await bootedVmOf(machine)).readRecording(),
    async stopRecording(machine) {
      const vm = await vmOf(machine);
      // It may record what happens to another VM that its endpoint lists, and that is deleted.
      const listed = (await start()).vms.filter(({ imds }) => imds === vm.imds);
      await Promise.all(listed.map((one) => plays.get(one.machine.name)));
      const failure = await plays.get(machine.name);
      if (failure) throw failure;
      const deadline = performance.now() + observedMs;
      while (vm.isOn() && !isRecorded(vm) && performance.now() < deadline) await sleep(50);
      return await vm.stopRecording();
    },
    async approve(machine, eventId) {
      const { exitCode, stdout } = await run(machine, ['approve', eventId, '--yes']);
      if (exitCode !== 0) throw new Error(`approve ended with ${exitCode}: ${stdout.trim()}`);
    },
    runBridge: run,
    async close() {
      played.abort();
      await Promise.all(plays.values());
    },
  };
}

const stops: readonly Operation[] = ['evict', 'delete-instance'];

/**
 * The scenario without its waits, because each step waits until it was observed. A notice that an approval ends is as long as in Azure, any other
 * `noticeSeconds`. A VM that is deleted or evicted is gone once its event has started.
 */
export function shortened(scenario: Scenario, operation: Operation, approvalFollows: boolean): Scenario {
  const steps = scenario.steps.flatMap((step): Scenario['steps'] => {
    if (step.do === 'schedule') return [approvalFollows ? step : { ...step, noticeSeconds }];
    if (step.do !== 'start') return [{ ...step, afterSeconds: atOnce }];
    const start = approvalFollows ? step : { ...step, afterSeconds: noticeSeconds };
    const impact = { afterSeconds: atOnce, do: 'impact', event: step.event, kind: 'restart', seconds: 0 } as const;
    return stops.includes(operation) ? [start, impact] : [start];
  });
  return { ...scenario, steps };
}

const noticeSeconds = 3;
/** Not 0: those steps belong to the one before them. */
const atOnce = 0.001;

async function applyImpact(vm: SimulatedVm, operation: Operation): Promise<void> {
  await vm.cut();
  if (!stops.includes(operation)) await vm.boot({ onAnotherHost: operation === 'redeploy' });
}

const phasesOf: Readonly<Record<IssuedStep['step'], readonly Phase[]>> = {
  scheduled: ['Scheduled'],
  started: ['Started'],
  updated: ['Updated'],
  removed: ['Completed', 'Canceled', 'Ended'],
};

/**
 * Until hub and table have a record of each step that was issued and of the approval, and each recording of the group what is listed. A slow machine then
 * changes nothing of what is compared. Resolves also when that takes too long: what is missing is for the checks.
 */
async function observed(
  { imds, isOn, machine }: SimulatedVm,
  group: readonly SimulatedVm[],
  before: number,
  records: () => readonly LifecycleRecord[],
  signal: AbortSignal,
): Promise<void> {
  const isDelivered = (eventId: string, phases: readonly Phase[]): boolean =>
    records().some((one) => one.vmName === machine.name && sameId(one.eventId, eventId) && phases.includes(one.phase));
  const isAllDelivered = (): boolean => {
    const issued = imds.issued.slice(before).filter(({ resources }) => resources.includes(machine.name));
    const ids = new Set(issued.map(({ eventId }) => eventId));
    const approved = imds.approvals.filter(({ vm, eventId }) => vm === machine.name && ids.has(eventId));
    return (
      issued.every(({ eventId, step }) => isDelivered(eventId, phasesOf[step])) &&
      approved.every(({ eventId }) => isDelivered(eventId, ['Approved']))
    );
  };
  const isRecorded = (vm: SimulatedVm): boolean => {
    const text = vm.isOn() ? vm.readRecording() : '';
    return text === '' || lastListed(text) === listedFor(imds, vm.machine.name);
  };
  const deadline = performance.now() + observedMs;
  while (performance.now() < deadline && !signal.aborted) {
    if (group.every(isRecorded) && (!isOn() || isAllDelivered())) return;
    await sleep(50);
  }
}

const observedMs = 15_000;

/** Whether the recording shows what is listed now. */
export function isRecorded({ imds, machine, readRecording }: SimulatedVm): boolean {
  const text = readRecording();
  return text === '' || lastListed(text) === listedFor(imds, machine.name);
}

interface Listed {
  readonly EventId: string;
  readonly EventStatus?: unknown;
}

const listing = (events: readonly Listed[]): string =>
  events.map(({ EventId, EventStatus }) => `${EventId} ${EventStatus}`).join(', ');

function listedFor(imds: ImdsSimulator, name: string): string {
  const seesAll = imds.vms.find((vm) => vm.name === name)?.sees !== 'own';
  return listing(imds.document.Events.filter(({ Resources }) => seesAll || Resources.includes(name)));
}

function lastListed(recording: string): string | null {
  const last: unknown = JSON.parse(recording.trimEnd().split('\n').at(-1) ?? '');
  const { document } = last as { document?: { readonly Events: readonly Listed[] } };
  return document === undefined ? null : listing(document.Events);
}

/** Records that both the hub and the table hold. */
function recordsIn({ eventHubs, logAnalytics }: AzureSimulator): readonly LifecycleRecord[] {
  const rows = new Set(logAnalytics.rows().map(({ RecordId }) => RecordId));
  const records = eventHubs.events().map(({ body }) => JSON.parse(body.toString('utf8')) as LifecycleRecord);
  return records.filter(({ recordId }) => rows.has(recordId));
}

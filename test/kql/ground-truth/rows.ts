import type { GivenRow } from '../../tools/kql/index.ts';
import { type BridgeRecord, localTime, recordsOf, resourceIdOf, streamOf, versionAt } from './records.ts';
import { runningOf, watchOf } from './sightings.ts';
import { day, type Fleet, hour, type Ms, minute, randomOf, type Span, second, type Vm } from './truth.ts';

/** Every table that a query of the pack reads. */
export interface Tables extends Readonly<Record<string, readonly GivenRow[]>> {
  readonly VmLifecycle_CL: readonly GivenRow[];
  readonly VmLifecycleBridge_CL: readonly GivenRow[];
  readonly Heartbeat: readonly GivenRow[];
  readonly AzureActivity: readonly GivenRow[];
}

/** Ingestion of a region stopped: what arrived in between is in the table afterwards. */
const ingestionOutage = (now: Ms): Span & { readonly location: string } => ({
  location: 'westeurope',
  from: now - 14 * day,
  to: now - 14 * day + 5 * hour,
});

/**
 * The tables as they stand when queries are asked: records late and out of order, one in eight twice, some of them tests, clocks wrong, a VM
 * without network for days, and what never left a VM that did not return.
 */
export function tablesOf(fleet: Fleet, seed: number): Tables {
  const random = randomOf(seed);
  const records = recordsOf(fleet);
  const arrived = records.flatMap((made) => arrivals(made, fleet, random));
  return {
    VmLifecycle_CL: shuffled(arrived, random),
    VmLifecycleBridge_CL: shuffled(
      fleet.vms.flatMap((vm) => heartbeatsOf(vm, fleet, records)),
      random,
    ),
    Heartbeat: fleet.vms.filter(({ hasAgent }) => hasAgent).flatMap((vm) => agentOf(vm, fleet)),
    AzureActivity: [],
  };
}

/** Seconds from a sighting until it can be queried, as a rule. */
export const usualDelay = { least: 2, most: 8 } as const;

function arrivals({ at, vm, row }: BridgeRecord, fleet: Fleet, random: (bound: number) => number): GivenRow[] {
  const delay = (usualDelay.least + random(usualDelay.most - usualDelay.least)) * second;
  const sentAt = sendingAt(at, vm, fleet);
  if (sentAt === Infinity) return [];
  const { location, from, to } = ingestionOutage(fleet.now);
  const isHeld = vm.location === location && sentAt >= from && sentAt < to;
  const arrivesAt = (isHeld ? to : sentAt) + delay;
  const againAt = random(8) === 0 ? arrivesAt + (1 + random(3600)) * second : Infinity;
  return [arrivesAt, againAt]
    .filter((arrival) => arrival <= fleet.now)
    .map((arrival) => ({
      ...row,
      // What is older than two days when it arrives gets the time of its arrival.
      TimeGenerated: arrival - at > 2 * day ? new Date(arrival).toISOString() : row.ObservedAt,
      'ingestion_time()': new Date(arrival).toISOString(),
    }));
}

/** When a record leaves its VM: half a second after it was made, or when the VM is back, or has its network again. */
function sendingAt(at: Ms, vm: Vm, fleet: Fleet): Ms {
  const ready = at + 500;
  if (vm.cutOff !== null && ready >= vm.cutOff.from && ready < vm.cutOff.to) return vm.cutOff.to;
  const { spans } = watchOf(fleet, vm);
  const span = spans.find(({ to }) => to > ready);
  return span === undefined ? Infinity : Math.max(ready, span.from + 5 * second);
}

function heartbeatsOf(vm: Vm, fleet: Fleet, records: readonly BridgeRecord[]): GivenRow[] {
  const own = records.filter((made) => made.vm === vm);
  const { spans } = watchOf(fleet, vm);
  return spans.flatMap(({ from, to }, index) => {
    const end = Math.min(to, fleet.now);
    const restarts = vm.versions.map(({ at }) => at).filter((at) => at > from && at < end);
    const begins = [from + second, ...restarts];
    const runs = begins.flatMap((begin, number) => {
      const until = begins[number + 1] ?? end;
      const count = Math.ceil((until - begin) / hour);
      return Array.from({ length: Math.max(count, 0) }, (_, each) => ({
        at: begin + each * hour,
        state: each === 0 ? 'starting' : 'running',
        up: each * hour,
      }));
    });
    const isLast = index === spans.length - 1 && Number.isFinite(to) && to <= fleet.now;
    const words = [
      ...runs,
      ...(isLast && vm.reportsStop ? [{ at: to - 2 * second, state: 'stopping', up: to - from }] : []),
    ];
    return words
      .filter(({ at }) => at <= fleet.now && !(vm.cutOff !== null && at >= vm.cutOff.from && at < vm.cutOff.to))
      .map(({ at, state, up }) => {
        const stream = streamAt(vm, at);
        const before = own.filter((made) => made.at < at && made.row.StreamId === stream);
        return { ...heartbeat(vm, at, state, up), LastPosition: before.length };
      });
  });
}

const streamAt = (vm: Vm, at: Ms): string => streamOf(vm, vm.stateLostAt !== null && at >= vm.stateLostAt ? 1 : 0);

const heartbeat = (vm: Vm, at: Ms, state: string, up: Ms): GivenRow => ({
  TimeGenerated: localTime(vm, at),
  Computer: vm.name.replaceAll('_', '-'),
  VmId: vm.vmId,
  VmName: vm.name,
  ResourceId: resourceIdOf(vm),
  SubscriptionId: vm.subscriptionId,
  ResourceGroup: vm.resourceGroup,
  VmScaleSetName: vm.scaleSet,
  Location: vm.location,
  State: state,
  StopReason: state === 'stopping' ? 'asked' : null,
  BridgeVersion: versionAt(vm, at),
  StreamId: streamAt(vm, at),
  UptimeSeconds: Math.floor(up / second),
  Polls: Math.floor(up / second),
  FailedPolls: {},
  OpenEvents: 0,
  DeadLetters: 0,
  ClockOffsetSeconds: Math.round(-vm.clockErrorMs / second),
  ConfigHash: 'same',
  IsTest: false,
});

/** The agent writes whenever its VM runs; here every ten minutes of the last three days. */
function agentOf(vm: Vm, fleet: Fleet): GivenRow[] {
  const running = runningOf(fleet, vm);
  const moments = Array.from({ length: 432 }, (_, number) => fleet.now - number * 10 * minute - minute);
  return moments
    .filter((at) => running.some(({ from, to }) => at >= from && at < to))
    .map((at) => ({
      TimeGenerated: new Date(at).toISOString(),
      Computer: vm.name,
      ResourceProvider: 'Microsoft.Compute',
      _ResourceId: resourceIdOf(vm).replace('microsoft.compute', 'Microsoft.Compute'),
    }));
}

function shuffled(rows: readonly GivenRow[], random: (bound: number) => number): GivenRow[] {
  return rows
    .map((row) => ({ row, place: random(1_000_000) }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ row }) => row);
}

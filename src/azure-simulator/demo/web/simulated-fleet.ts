import { type AzureTime, readAzureTime } from '../../../imds/azure-time.ts';
import { parseDocument } from '../../../imds/document.ts';
import type { LifecycleRecord } from '../../../lifecycle/record.ts';
import type { EventsDocument, Observer, PollResult } from '../../../lifecycle/scheduled-event.ts';
import { impactWithin } from '../../../lifecycle/scope.ts';
import { emptyState, type LifecycleState } from '../../../lifecycle/state.ts';
import { gapAfterMs, transition } from '../../../lifecycle/transition.ts';
import { version } from '../../../process/version.ts';
import { guidOf } from '../../guid-of.ts';
import { createGroupDocument, type GroupDocument } from '../../imds/document.ts';
import { type FleetVm, type Outage, outagesOf, type PlannedEvent, type Timeline } from './timeline.ts';

/** Seconds. */
const pollEvery = 5;
const apiVersion = '2020-07-01';
/** A bridge measures pauses from so long before an impact. */
const watchPausesMs = 5 * 60_000;

/** What Azure did, for people. `at`: seconds from the beginning. */
export interface Act {
  readonly at: number;
  readonly event: PlannedEvent;
  readonly what: 'announced' | 'started' | 'canceled' | 'over';
}

export interface SimulatedFleet {
  /** All has been polled up to this many seconds from the beginning. */
  readonly polledUntil: number;
  /** The next poll of all VMs: what Azure did before it, and the records that the bridges write. */
  poll(): { readonly acts: readonly Act[]; readonly records: readonly LifecycleRecord[] };
}

/**
 * The bridges of all VMs of a timeline in one process: each poll is decided by the product's own rules, on documents of the simulated
 * metadata service. `beginsAt`: the beginning in milliseconds since 1970, in whole seconds.
 */
export function createSimulatedFleet(timeline: Timeline, beginsAt: number): SimulatedFleet {
  const groups = new Map(timeline.vms.map(({ set }) => [set, createGroup()]));
  const groupOf = (set: string): Group => groups.get(set) as Group;
  const vms = timeline.vms.map((vm) => createVm(vm, outagesOf(vm, timeline), beginsAt));
  const acts = actsOf(timeline);
  let at = 0;
  return {
    get polledUntil() {
      return at;
    },
    poll() {
      at += pollEvery;
      const due: Act[] = [];
      while ((acts[0]?.at ?? Number.POSITIVE_INFINITY) <= at) due.push(acts.shift() as Act);
      for (const act of due) perform(act, groupOf(act.event.vms[0]?.set ?? '').document, beginsAt, timeline);
      const now = new Date(beginsAt + 1000 * at);
      const time = readAzureTime(now.toUTCString(), { arrivedAt: now, roundTripMs: 3 });
      return { acts: due, records: vms.flatMap((vm) => vm.poll({ at, now, time }, groupOf(vm.set))) };
    },
  };
}

function actsOf({ events }: Timeline): Act[] {
  const acts = events.flatMap((event): Act[] => [
    { at: event.announcedAt, event, what: 'announced' },
    ...(event.startedAt === null ? [] : [{ at: event.startedAt, event, what: 'started' } as const]),
    { at: event.removedAt, event, what: event.startedAt === null ? 'canceled' : 'over' },
  ]);
  return acts.sort((a, b) => a.at - b.at);
}

function perform({ event, what }: Act, document: GroupDocument, beginsAt: number, { events }: Timeline): void {
  const eventId = guidOf(`event ${events.indexOf(event)} of ${beginsAt}`).toUpperCase();
  const { eventType, vms, notBefore } = event;
  if (what === 'started') document.start(eventId);
  else if (what === 'announced')
    document.schedule({
      eventId,
      eventType,
      resources: vms.map(({ name }) => name),
      notBefore: new Date(beginsAt + 1000 * notBefore),
    });
  else document.remove(eventId);
}

/** The VMs of a scale set, which are served the same document. */
interface Group {
  readonly document: GroupDocument;
  /** The document as a bridge reads it. Each is parsed once. */
  current(): EventsDocument;
}

function createGroup(): Group {
  const document = createGroupDocument();
  let parsed: EventsDocument | null = null;
  document.watch(() => {
    parsed = null;
  });
  return {
    document,
    current() {
      parsed ??= parse(JSON.stringify(document.current));
      return parsed;
    },
  };
}

function parse(body: string): EventsDocument {
  const answer = parseDocument(body, apiVersion);
  if (answer.kind !== 'document') throw new Error(`The simulated document cannot be read: ${answer.reason}`);
  return answer.document;
}

interface SimulatedVm {
  readonly set: string;
  /** The records of one poll; none while the VM is down. */
  poll(moment: PollMoment, group: Group): readonly LifecycleRecord[];
}

/** When all VMs poll. */
interface PollMoment {
  /** Seconds from the beginning. */
  readonly at: number;
  readonly now: Date;
  readonly time: AzureTime;
}

function createVm(vm: FleetVm, outages: readonly Outage[], beginsAt: number): SimulatedVm {
  const observer = observerOf(vm);
  const left = [...outages];
  let state: LifecycleState = emptyState(guidOf(`stream of ${vm.name} at ${beginsAt}`));
  let served: EventsDocument | null = null;
  let bootedAt = -3600;
  let boot = 1;
  let bootId = guidOf(`boot ${boot} of ${vm.name}`);
  let physicalHost = guidOf(`host of ${vm.name}`);

  /** What an outage did. @returns the pause in milliseconds. */
  function recover({ kind, from, until }: Outage): number {
    if (kind === 'pause') return 1000 * (until - from);
    boot += 1;
    bootId = guidOf(`boot ${boot} of ${vm.name}`);
    bootedAt = until;
    served = null;
    if (kind === 'move') physicalHost = guidOf(`host ${boot} of ${vm.name}`);
    if (kind === 'restart-without-state') state = emptyState(guidOf(`stream ${boot} of ${vm.name} at ${beginsAt}`));
    return 0;
  }

  return {
    set: vm.set,
    poll({ at, now, time }, group) {
      let pausedMs = 0;
      while (left[0] !== undefined && left[0].until <= at) pausedMs += recover(left.shift() as Outage);
      if (left[0] !== undefined && left[0].from <= at) return [];
      const document = group.current();
      const seen: PollResult =
        document === served
          ? { kind: 'unchanged', ...time }
          : { kind: 'document', document, imdsApiVersion: apiVersion, ...time };
      served = document;
      const watchesPauses = impactWithin(state, now, watchPausesMs);
      const result = transition(state, seen, {
        host: {
          bootId,
          physicalHost,
          tick: watchesPauses ? { longestMs: pausedMs, totalMs: pausedMs } : null,
          wallStepMs: 0,
        },
        observer,
        scope: { witnessRate: 0 },
        gapAfterMs: gapAfterMs(pollEvery),
        enablingMs: 130_000,
        bridgeVersion: version,
        at: now,
        monotonicMs: 1000 * (at - bootedAt),
      });
      state = result.state;
      return result.records;
    },
  };
}

const subscriptionId = guidOf('subscription');
const resourceGroup = 'shop';

function observerOf({ name, set, isSpot, updateDomain, faultDomain, zone }: FleetVm): Observer {
  const scaleSets = `/subscriptions/${subscriptionId}/resourcegroups/${resourceGroup}/providers/microsoft.compute/virtualmachinescalesets`;
  return {
    computer: name.replace('_', ''),
    vmId: guidOf(`vm ${name}`),
    vmName: name,
    resourceId: `${scaleSets}/${set}/virtualmachines/${name.split('_')[1]}`,
    subscriptionId,
    resourceGroup,
    vmScaleSetName: set,
    vmScaleSetResourceId: `${scaleSets}/${set}`,
    placementGroupId: guidOf(`placement group of ${set}`),
    location: 'westeurope',
    zone: String(zone),
    physicalZone: `westeurope-az${zone}`,
    faultDomain: String(faultDomain),
    updateDomain: String(updateDomain),
    vmSize: isSpot ? 'Standard_F8s_v2' : 'Standard_D4s_v5',
    vmPriority: isSpot ? 'Spot' : 'Regular',
    osType: 'Linux',
    imageReference: 'canonical:ubuntu-24_04-lts:server:latest',
    azureEnvironment: 'AzurePublicCloud',
    tags: {},
  };
}

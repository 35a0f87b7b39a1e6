import { createHash } from 'node:crypto';
import type { GivenRow } from '../../tools/kql/index.ts';
import { type Measured, measured, type Sighting, sightingsOf, type Watch, watchOf } from './sightings.ts';
import { type AzureEvent, appearedAt, type Fleet, isCanceled, type Ms, minute, second, type Vm } from './truth.ts';

/** A record as a bridge makes it, before anything happens to it on its way. */
export interface BridgeRecord {
  readonly at: Ms;
  readonly vm: Vm;
  readonly row: GivenRow;
}

const hash = (...parts: readonly string[]): string => createHash('md5').update(parts.join('|')).digest('hex');
const streams = new WeakMap<Vm, readonly [string, string]>();
export function streamOf(vm: Vm, number: 0 | 1): string {
  const known = streams.get(vm) ?? ([hash('stream', vm.vmId, '0'), hash('stream', vm.vmId, '1')] as const);
  streams.set(vm, known);
  return known[number];
}
export const resourceIdOf = ({ subscriptionId, resourceGroup, scaleSet, name }: Vm): string =>
  `/subscriptions/${subscriptionId}/resourcegroups/${resourceGroup}/providers/microsoft.compute/${
    scaleSet === null
      ? `virtualmachines/${name}`
      : `virtualmachinescalesets/${scaleSet}/virtualmachines/${name.split('_')[1]}`
  }`;
export const versionAt = (vm: Vm, at: Ms): string =>
  vm.versions.findLast((each) => each.at <= at)?.version ?? vm.versions[0]?.version ?? '';

/** The time as the clock of the VM shows it. */
export const localTime = (vm: Vm, at: Ms): string => new Date(at + vm.clockErrorMs).toISOString();
const azure = (at: Ms): string => new Date(at).toISOString();

/** The records of all bridges, as the contract of a record has them. */
export function recordsOf(fleet: Fleet): BridgeRecord[] {
  return fleet.vms.flatMap((vm) => {
    const watch = watchOf(fleet, vm);
    const positions: [number, number] = [0, 0];
    return [
      ...fleet.events.flatMap((event) => ofEvent(event, vm, watch, fleet.now)),
      ...snapshotOf(fleet, vm, watch),
      ...(vm.testedAt === null ? [] : [testOf(vm, vm.testedAt)]),
    ]
      .toSorted((a, b) => a.at - b.at)
      .map(({ stream, row, at }) => {
        positions[stream] += 1;
        return {
          at,
          vm,
          row: { ...observer(vm), ...row, Position: positions[stream], StreamId: streamOf(vm, stream) },
        };
      });
  });
}

interface RecordWithoutPosition {
  readonly at: Ms;
  readonly stream: 0 | 1;
  readonly row: GivenRow;
}

function ofEvent(event: AzureEvent, vm: Vm, watch: Watch, now: Ms): RecordWithoutPosition[] {
  const sightings = sightingsOf(event, vm, watch, now);
  return sightings.map((sighting, index) => {
    const earlier = sightings.slice(0, index + 1).filter(({ stream }) => stream === sighting.stream);
    const first = earlier[0] as Sighting;
    const start = earlier.find(({ phase }) => phase === 'Started');
    const facts = measured(event, vm, watch, sighting.at);
    const { phase, evidence } = stepOf(event, vm, sighting, start !== undefined, facts);
    const step =
      sighting.phase === 'Gone' ? 'end' : sighting.phase === 'Approved' ? `approved ${vm.vmId}` : sighting.phase;
    const transition = hash(event.id.toLowerCase(), step);
    const row: GivenRow = {
      RecordId: hash(transition, vm.vmId),
      TransitionId: transition,
      SchemaVersion: '1.1',
      EventId: event.id,
      EventType: event.type,
      EventSource: event.source,
      EventStatus: start === undefined ? 'Scheduled' : 'Started',
      ResourceType: 'VirtualMachine',
      Description: `${event.type} of ${event.vms.length}`,
      AffectedResources: event.vms,
      AffectedResourceCount: event.vms.length,
      NotBefore: event.notBefore === null ? null : azure(event.notBefore),
      DurationInSeconds: event.durationSeconds,
      DocumentIncarnation: 1,
      ImdsApiVersion: '2020-07-01',
      RawEvent: { EventId: event.id },
      Phase: phase,
      Evidence: evidence,
      Changes: [],
      Sequence: earlier.length,
      Repeat: 0,
      ObservedAt: localTime(vm, sighting.at),
      FirstSeenAt: localTime(vm, first.at),
      StartedAt: start === undefined ? null : localTime(vm, start.at),
      StartSeen: start === undefined ? null : !start.isAfterGap,
      NoticeSeconds: noticeOf(event, vm, watch, first, start, sighting),
      StartedSeconds:
        sighting.phase === 'Gone' && start && !start.isAfterGap && !sighting.isAfterGap && facts.outageMs === null
          ? (sighting.at - start.at) / second
          : null,
      ObservedPauseMs: facts.pauseMs,
      ObservedPauseTotalMs: facts.pauseMs,
      ObservedOutageSeconds: facts.outageMs === null ? null : facts.outageMs / second,
      ObserverAffected: event.vms.includes(vm.name),
      BridgeVersion: versionAt(vm, sighting.at),
    };
    return { at: sighting.at, stream: sighting.stream, row };
  });
}

/** The phase that the contract gives to what was seen, with the words that matter to queries. */
function stepOf(
  event: AzureEvent,
  vm: Vm,
  { phase, at, isAfterGap }: Sighting,
  hasStarted: boolean,
  { pauseMs, outageMs }: Measured,
): { readonly phase: string; readonly evidence: readonly string[] } {
  if (phase === 'Approved') return { phase, evidence: [event.approval?.result === 'refused' ? 'refused' : 'accepted'] };
  if (phase === 'Scheduled') return { phase, evidence: [isAfterGap ? 'present-at-first-look' : 'said-by-azure'] };
  if (phase === 'Started') {
    if (event.announcedAt === null) {
      return { phase, evidence: [isAfterGap ? 'present-at-first-look' : 'started-without-notice'] };
    }
    return { phase, evidence: ['said-by-azure', ...(isAfterGap ? ['observation-gap'] : [])] };
  }
  const isDue = event.notBefore !== null && event.notBefore <= at;
  const gap = isAfterGap ? ['incarnation-gap', 'observation-gap'] : [];
  if (outageMs !== null && (hasStarted || isDue)) {
    return { phase: 'Completed', evidence: ['boot-id-changed', ...(hasStarted ? ['left-after-started'] : []), ...gap] };
  }
  if (isCanceled(event) && !isAfterGap) return { phase: 'Canceled', evidence: ['left-before-not-before'] };
  if (hasStarted)
    return { phase: 'Completed', evidence: [...(pauseMs ? ['pause-observed'] : []), 'left-after-started'] };
  const unsure = outageMs !== null && vm.name !== '' ? ['boot-id-changed', 'impact-ambiguous'] : [];
  return { phase: 'Ended', evidence: [...unsure, ...gap, ...(isDue ? ['not-before-passed'] : [])] };
}

/** Seconds of warning by Azure's time, null where only bounds are known. */
function noticeOf(
  event: AzureEvent,
  vm: Vm,
  watch: Watch,
  first: Sighting,
  start: Sighting | undefined,
  { at, phase, isAfterGap }: Sighting,
): number | null {
  if (first.isAfterGap) return null;
  const { notBefore } = event;
  const { outageMs, pauseMs } = measured(event, vm, watch, at);
  const impact = event.impacts.find((each) => each.vm === vm.name);
  const isProof = outageMs !== null ? start !== undefined || (notBefore ?? Infinity) <= at : (pauseMs ?? 0) >= second;
  const impactAt =
    impact === undefined || !isProof ? Infinity : outageMs === null ? impact.from : watch.previous(impact.from);
  const proof = Math.min(impactAt, start?.at ?? Infinity);
  const since = (until: Ms): number => Math.max(0, (until - first.at) / second);
  if (Number.isFinite(proof)) return start?.isAfterGap && proof === start.at ? null : since(proof);
  if (phase !== 'Gone' || (isCanceled(event) && !isAfterGap)) return notBefore === null ? null : since(notBefore);
  return isAfterGap ? null : since(Math.min(notBefore ?? Infinity, at - second));
}

/** Five minutes after a new stream began the bridge reports which events it observes. */
function snapshotOf(fleet: Fleet, vm: Vm, watch: Watch): RecordWithoutPosition[] {
  const { stateLostAt } = vm;
  if (stateLostAt === null || stateLostAt > fleet.now) return [];
  const at = watch.next(stateLostAt + 5 * minute);
  const inSight = fleet.events.filter(
    (event) =>
      event.group === vm.group && event.vms.includes(vm.name) && appearedAt(event) < at && event.removedAt > at,
  );
  const id = `in-sight-${streamOf(vm, 1)}`;
  const row: GivenRow = {
    RecordId: hash(id, vm.vmId),
    TransitionId: hash(id),
    EventId: id,
    Phase: 'Snapshot',
    Evidence: ['new-stream'],
    AffectedResources: [],
    AffectedResourceCount: 0,
    EventsInSight: inSight.map((event) => event.id),
    ObserverAffected: false,
    Sequence: 1,
    ObservedAt: localTime(vm, at),
    BridgeVersion: versionAt(vm, at),
  };
  return [{ at, stream: 1, row }];
}

/** What a command writes that tries out the way to the tables. */
function testOf(vm: Vm, at: Ms): RecordWithoutPosition {
  const id = hash('test', vm.vmId);
  const event = { EventId: id, EventType: 'Reboot', EventSource: 'Platform', Phase: 'Scheduled', Evidence: [] };
  const times = { ObservedAt: localTime(vm, at), FirstSeenAt: localTime(vm, at), Sequence: 1 };
  const row = { ...event, ...times, RecordId: id, TransitionId: id, AffectedResources: [vm.name], IsTest: true };
  return { at, stream: 0, row: { ...row, ObserverAffected: true, BridgeVersion: versionAt(vm, at) } };
}

/** Who the VM is, on every record. */
const observer = (vm: Vm): GivenRow => ({
  Computer: vm.name.replaceAll('_', '-'),
  VmId: vm.vmId,
  VmName: vm.name,
  ResourceId: resourceIdOf(vm),
  SubscriptionId: vm.subscriptionId,
  ResourceGroup: vm.resourceGroup,
  VmScaleSetName: vm.scaleSet,
  VmScaleSetResourceId: vm.scaleSet === null ? null : resourceIdOf(vm).replace(/\/virtualmachines\/\w+$/, ''),
  Location: vm.location,
  Zone: vm.zone,
  FaultDomain: vm.faultDomain,
  VmSize: vm.size,
  VmPriority: vm.isSpot ? 'Spot' : 'Regular',
  ClockOffsetSeconds: Math.round(-vm.clockErrorMs / second),
  Tags: vm.owner === null ? {} : { owner: vm.owner },
  IsTest: false,
});

import type { CapacityGroup, CapacityPanel, StepSeries } from './answers.ts';
import { type Lane, type VmFacts, workOf } from './lane.ts';

interface Interval {
  readonly from: number;
  readonly until: number;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** A chart is not wider than this many pixels. */
const columns = 480;
const shownGroups = 8;

/** The key of a group, and the name shown. Null: the VM is in no such group, or it is not known in which. */
type GroupOf = (vm: VmFacts) => readonly [key: string, name: string] | null;

const scaleSetOf: GroupOf = ({ setKey, set }) => (setKey === null || set === null ? null : [setKey, set]);

/** The number of a fault domain means something only within one scale set. */
const faultDomainOf: GroupOf = ({ setKey, set, zone, faultDomain }) =>
  setKey === null || faultDomain === null
    ? null
    : [`${setKey}/${zone}/${faultDomain}`, `${set}, ${zone ?? '?'}/${faultDomain}`];

/** Each subscription numbers the zones of a region in its own order. */
function zoneWay(vms: readonly VmFacts[]): GroupOf {
  const numbered = ({ subscriptionId, location, zone }: VmFacts): string =>
    `${subscriptionId}/${location}/${zone}`.toLowerCase();
  const zoned = vms.filter(({ zone }) => zone !== null);
  const isOne = new Set(zoned.map(({ subscriptionId }) => subscriptionId?.toLowerCase())).size <= 1;
  const physical = new Map(
    zoned.flatMap((vm) => (vm.physicalZone === null ? [] : [[numbered(vm), vm.physicalZone] as const])),
  );
  return (vm) => {
    if (vm.zone === null) return null;
    const name = `${vm.location ?? 'region unknown'}, zone ${vm.zone}`;
    if (isOne) return [numbered(vm), name];
    const zone = physical.get(numbered(vm));
    return zone === undefined
      ? [numbered(vm), `${name} of subscription ${vm.subscriptionId ?? 'unknown'}`]
      : [zone.toLowerCase(), `physical zone ${zone}`];
  };
}

/**
 * How many VMs were unavailable at the same time, the worst groups first. Two figures: `down` counts measured outages, which a VM reports
 * only when it is back; `inProgress` counts VMs on which Azure is at work, each of which may be unavailable. Pauses are not counted as down: records
 * have their length, not their moment.
 */
export function capacityOf(
  lanes: readonly Lane[],
  { vms, span, now }: { readonly vms: readonly VmFacts[]; readonly span: Span; readonly now: number },
): readonly CapacityPanel[] {
  const used = lanes.filter(({ outcome, startedAt }) => outcome !== 'Canceled' || startedAt !== null);
  const ways = [
    ['Scale set', scaleSetOf],
    ['Zone', zoneWay(vms)],
    ['Fault domain', faultDomainOf],
  ] as const;
  const atWork = used.filter((lane) => isWithin(workOf(lane, now), span));
  // What no record of the VM itself says is unknown; a VM that reports may well be in no zone.
  const unplaced = new Set(atWork.filter(({ vm }) => vm.location === null && vm.zone === null).map(({ vm }) => vm.key));
  return ways.map(([by, groupOf]) => {
    const known = Map.groupBy(vms, (vm) => groupOf(vm)?.[0] ?? '');
    const groups = [...Map.groupBy(used, ({ vm }) => groupOf(vm)?.[0] ?? '')].flatMap(([key, all]): CapacityGroup[] => {
      const [first] = all;
      if (key === '' || first === undefined) return [];
      const inProgress = atOnce(all, (lane) => workOf(lane, now), span);
      if (inProgress.most === 0) return [];
      return [
        {
          name: groupOf(first.vm)?.[1] ?? '',
          knownVms: known.get(key)?.length ?? 0,
          down: atOnce(all, ({ down }) => down, span),
          inProgress,
        },
      ];
    });
    groups.sort(
      (a, b) => b.down.most - a.down.most || b.inProgress.most - a.inProgress.most || (a.name < b.name ? -1 : 1),
    );
    return {
      by,
      groups: groups.slice(0, shownGroups),
      total: groups.length,
      unplacedVms: by === 'Scale set' ? 0 : unplaced.size,
    };
  });
}

const isWithin = (interval: Interval | null, span: Span): boolean =>
  interval !== null && interval.until > span.from && interval.from < span.to;

/** A VM with two intervals at once counts once. */
function atOnce(lanes: readonly Lane[], intervalOf: (lane: Lane) => Interval | null, span: Span): StepSeries {
  const changes = [...Map.groupBy(lanes, ({ vm }) => vm.key).values()].flatMap((ofVm) =>
    merged(ofVm.flatMap((lane) => intervalOf(lane) ?? []))
      .filter((interval) => isWithin(interval, span))
      .flatMap(({ from, until }) => [
        { at: Math.max(from, span.from), by: 1 },
        { at: until, by: -1 },
      ]),
  );
  // An interval that ends as another begins does not overlap it.
  changes.sort((a, b) => a.at - b.at || a.by - b.by);
  let vms = 0;
  let most = 0;
  let mostAt: number | null = null;
  const steps: [number, number][] = [];
  for (const { at, by } of changes) {
    vms += by;
    if (vms > most) [most, mostAt] = [vms, at];
    if (steps.at(-1)?.[0] === at) steps.pop();
    steps.push([at, vms]);
  }
  return { most, mostAt, steps: coarser(steps, span) };
}

function merged(intervals: readonly Interval[]): readonly Interval[] {
  const all: Interval[] = [];
  for (const interval of [...intervals].sort((a, b) => a.from - b.from)) {
    const last = all.at(-1);
    if (last !== undefined && interval.from <= last.until)
      all[all.length - 1] = { from: last.from, until: Math.max(last.until, interval.until) };
    else all.push(interval);
  }
  return all;
}

/** Of each column of the chart its highest value: a short peak stays visible, and the answer stays small. */
function coarser(steps: readonly [number, number][], { from, to }: Span): StepSeries['steps'] {
  if (steps.length <= columns) return steps;
  const width = (to - from) / columns;
  const highest = new Array<number>(columns).fill(0);
  steps.forEach(([at, vms], index) => {
    const until = steps[index + 1]?.[0] ?? to;
    const first = Math.max(0, Math.floor((at - from) / width));
    const last = Math.min(columns - 1, Math.max(first, Math.ceil((until - from) / width) - 1));
    for (let column = first; column <= last; column += 1) highest[column] = Math.max(highest[column] ?? 0, vms);
  });
  return highest.flatMap((vms, column) =>
    column > 0 && highest[column - 1] === vms ? [] : [[from + column * width, vms] as const],
  );
}

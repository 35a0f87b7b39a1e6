/** A VM of the fleet and where it runs. */
export interface FleetVm {
  readonly name: string;
  /** Its scale set, whose VMs all see the same events. */
  readonly set: string;
  readonly isSpot: boolean;
  readonly updateDomain: number;
  readonly faultDomain: number;
  readonly zone: number;
}

/** What an event does to a VM: pauses it, restarts it, restarts it with an empty disk or on another host, or deletes it. */
export type ImpactKind = 'pause' | 'restart' | 'restart-without-state' | 'move' | 'deletion';

/** One event and all that happens to it. Times are seconds from the beginning. */
export interface PlannedEvent {
  readonly eventType: string;
  readonly vms: readonly FleetVm[];
  readonly announcedAt: number;
  readonly notBefore: number;
  /** Null: canceled. */
  readonly startedAt: number | null;
  /** When Azure stops listing it. */
  readonly removedAt: number;
  readonly impact: ImpactKind | null;
}

/** A time in which a VM does not poll. */
export interface Outage {
  readonly kind: ImpactKind;
  readonly from: number;
  /** Infinity: the VM is deleted. */
  readonly until: number;
}

export interface Timeline {
  readonly vms: readonly FleetVm[];
  readonly events: readonly PlannedEvent[];
  readonly lengthSeconds: number;
}

const minute = 60;
const webVms = 160;
const spotVms = 40;
const updateDomains = 8;
/** Between the starts of two update domains. */
const domainEvery = 6 * minute;
/** Each bridge reports once, five minutes after its start, which events are listed. The maintenance begins after that. */
const firstAt = 6 * minute;

/**
 * Rolling maintenance of 200 VMs: a scale set of 160, paused one update domain after the other, and one of 40 Spot VMs. Meanwhile two
 * VMs restart, one loses its state, one moves to another host, one is evicted, and one event is canceled.
 */
export function rollingMaintenance(): Timeline {
  const web = vmsOf('web', webVms, false);
  const spot = vmsOf('batch', spotVms, true);
  const waves = Array.from({ length: updateDomains }, (_, domain): PlannedEvent => {
    const vms = web.filter(({ updateDomain }) => updateDomain === domain);
    return planned('Freeze', vms, { announcedAt: firstAt + domainEvery * domain, notice: 15, listed: 2 }, 'pause');
  });
  const one = (vms: readonly FleetVm[], number: number): readonly FleetVm[] => vms.slice(number, number + 1);
  const events = [
    ...waves,
    planned('Reboot', one(web, 17), { announcedAt: 25 * minute, notice: 15, listed: 4 }, 'restart'),
    planned('Reboot', one(web, 93), { announcedAt: 15 * minute, notice: 15, listed: 4 }, 'restart'),
    planned('Reboot', one(web, 44), { announcedAt: 12 * minute, notice: 15, listed: 2 }, 'restart-without-state'),
    planned('Redeploy', one(spot, 21), { announcedAt: 20 * minute, notice: 10, listed: 6 }, 'move'),
    planned('Preempt', one(spot, 7), { announcedAt: 35 * minute, notice: 0.5, listed: 1 }, 'deletion'),
    {
      eventType: 'Freeze',
      vms: spot.slice(28, 38),
      announcedAt: 26 * minute,
      notBefore: 41 * minute,
      startedAt: null,
      removedAt: 31 * minute,
      impact: null,
    },
  ];
  return { vms: [...web, ...spot], events, lengthSeconds: 70 * minute };
}

const vmsOf = (set: string, count: number, isSpot: boolean): readonly FleetVm[] =>
  Array.from({ length: count }, (_, number) => ({
    name: `${set}_${number}`,
    set,
    isSpot,
    updateDomain: number % updateDomains,
    faultDomain: number % 5,
    zone: 1 + (number % 3),
  }));

/** `notice` and `listed`: minutes until it starts, and from then until it is no longer listed. */
function planned(
  eventType: string,
  vms: readonly FleetVm[],
  { announcedAt, notice, listed }: { readonly announcedAt: number; readonly notice: number; readonly listed: number },
  impact: ImpactKind,
): PlannedEvent {
  const startedAt = announcedAt + minute * notice;
  const removedAt = startedAt + minute * listed;
  return { eventType, vms, announcedAt, notBefore: startedAt, startedAt, removedAt, impact };
}

/** How long an impact lasts. VMs are paused for one to five seconds. */
const secondsOf: Readonly<Record<ImpactKind, (number: number) => number>> = {
  pause: (number) => 1 + (number % 5),
  restart: () => 95,
  // The event ends while the VM is still down.
  'restart-without-state': () => 185,
  move: () => 245,
  deletion: () => Number.POSITIVE_INFINITY,
};

/** When this VM does not poll, in order. The hosts of a wave are maintained one after the other. */
export function outagesOf(vm: FleetVm, { events }: Timeline): readonly Outage[] {
  const outages = events.flatMap(({ vms, startedAt, impact }): Outage[] => {
    const number = vms.indexOf(vm);
    if (number === -1 || startedAt === null || impact === null) return [];
    const from = startedAt + 11 + 4 * number;
    return [{ kind: impact, from, until: from + secondsOf[impact](number) }];
  });
  return outages.sort((a, b) => a.from - b.from);
}

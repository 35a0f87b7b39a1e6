import type { Phase } from '../../../lifecycle/record.ts';
import { type Destination, nothing, withArrival } from '../model.ts';
import type { FleetMoment } from './moment.ts';

/** All that the picture of a fleet shows. */
export interface FleetShow {
  /** How many VMs have a bridge that looks. */
  readonly looking: number;
  readonly incarnation: number;
  /** One for each update domain, in the order in which Azure announced them. */
  readonly events: readonly FleetEvent[];
  /** What each VM said last of its own event. */
  readonly phases: ReadonlyMap<string, Phase>;
  readonly hub: Destination;
  readonly table: Destination;
  /** What the records on the event hub fold to. */
  readonly transitionIds: ReadonlySet<string>;
}

export interface FleetEvent {
  readonly eventId: string;
  readonly resources: readonly string[];
  /** Records that VMs wrote which the event is not about: what a VM that is down cannot tell. */
  readonly fromNeighbours: number;
}

export const fleetBeginning: FleetShow = {
  looking: 0,
  incarnation: 1,
  events: [],
  phases: new Map(),
  hub: nothing,
  table: nothing,
  transitionIds: new Set(),
};

/** The show after one more moment. */
export function foldFleet(show: FleetShow, moment: FleetMoment): FleetShow {
  switch (moment.kind) {
    case 'looking':
      return { ...show, looking: moment.vms };
    case 'azure': {
      const { eventId, resources, incarnation } = moment;
      const isKnown = show.events.some((event) => event.eventId === eventId);
      const events = isKnown ? show.events : [...show.events, { eventId, resources, fromNeighbours: 0 }];
      return { ...show, incarnation, events };
    }
    case 'hub': {
      const { recordId, transitionId, vmName, phase, eventId, observerAffected } = moment.record;
      const hub = withArrival(show.hub, moment.at, recordId);
      if (hub.copies > show.hub.copies) return { ...show, hub };
      const transitionIds = new Set(show.transitionIds).add(transitionId);
      if (observerAffected)
        return { ...show, hub, transitionIds, phases: new Map(show.phases).set(vmName ?? '', phase) };
      const events = show.events.map((event) =>
        event.eventId.toLowerCase() === eventId.toLowerCase()
          ? { ...event, fromNeighbours: event.fromNeighbours + 1 }
          : event,
      );
      return { ...show, hub, transitionIds, events };
    }
    case 'table':
      return { ...show, table: withArrival(show.table, moment.at, moment.recordId) };
  }
}

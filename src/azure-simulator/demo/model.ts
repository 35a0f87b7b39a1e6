import type { Phase } from '../../lifecycle/record.ts';
import type { BridgeState, Moment, Told } from './moment.ts';

/** All that the picture shows, folded from what happened. Times are seconds since the show began. */
export interface Show {
  /** In the order in which Azure announced them. */
  readonly events: readonly EventLane[];
  readonly bridge: readonly { readonly state: BridgeState; readonly from: number }[];
  readonly hub: Destination;
  readonly table: Destination;
  readonly outages: readonly { readonly from: number; readonly until: number | null }[];
  /** Records that wait in the outbox for the event hub. */
  readonly waiting: number;
  readonly incarnation: number;
  /** The first copy of each record as it was read back, newest last. */
  readonly records: readonly { readonly at: number; readonly record: Told }[];
}

/** One event: what Azure did with it, and what the records said of it. */
export interface EventLane {
  readonly eventId: string;
  readonly eventType: string;
  /** What the picture and the lines call it: `Freeze`, the next of its type `Freeze 2`. */
  readonly name: string;
  readonly scheduledAt: number;
  readonly startedAt: number | null;
  readonly removedAt: number | null;
  readonly notBefore: number | null;
  /** As the last record has it; null before the first. */
  readonly phase: Phase | null;
  readonly noticeSeconds: number | null;
  readonly observedPauseMs: number | null;
}

export interface Destination {
  readonly arrivals: readonly number[];
  readonly recordIds: readonly string[];
  /** What came again. */
  readonly copies: number;
}

export const nothing: Destination = { arrivals: [], recordIds: [], copies: 0 };
export const beginning: Show = {
  events: [],
  bridge: [],
  hub: nothing,
  table: nothing,
  outages: [],
  waiting: 0,
  incarnation: 1,
  records: [],
};

/** The show after one more moment. */
export function fold(show: Show, moment: Moment): Show {
  const { at } = moment;
  switch (moment.kind) {
    case 'azure':
      return { ...show, incarnation: moment.incarnation, events: withStep(show.events, moment) };
    case 'hub': {
      const hub = withArrival(show.hub, at, moment.record.recordId);
      if (hub.copies > show.hub.copies) return { ...show, hub };
      const records = [...show.records, { at, record: moment.record }];
      return { ...show, hub, records, events: withRecord(show.events, moment) };
    }
    case 'table':
      return { ...show, table: withArrival(show.table, at, moment.row.recordId) };
    case 'bridge':
      return { ...show, bridge: [...show.bridge, { state: moment.state, from: at }] };
    case 'outage':
      return { ...show, outages: withOutage(show.outages, at, moment.begins) };
    case 'waiting':
      return { ...show, waiting: moment.records };
  }
}

/** The name of an event, also of one that is announced only now. */
export function nameOf(events: Show['events'], eventId: string, eventType: string | null): string {
  const known = events.find((event) => event.eventId.toLowerCase() === eventId.toLowerCase());
  if (known) return known.name;
  const type = eventType ?? 'an event';
  const before = events.filter((event) => event.eventType === eventType).length;
  return before === 0 ? type : `${type} ${before + 1}`;
}

function withStep(events: Show['events'], { at, eventId, eventType, step }: Moment & { kind: 'azure' }) {
  if (!events.some((event) => event.eventId === eventId)) {
    const startedAt = step === 'started' ? at : null;
    const unknown = { notBefore: null, phase: null, noticeSeconds: null, observedPauseMs: null };
    const name = nameOf(events, eventId, eventType);
    return [...events, { eventId, eventType, name, scheduledAt: at, startedAt, removedAt: null, ...unknown }];
  }
  const moved = step === 'started' ? { startedAt: at } : step === 'removed' ? { removedAt: at } : {};
  return events.map((event) => (event.eventId === eventId ? { ...event, ...moved } : event));
}

function withRecord(events: Show['events'], { record, notBefore }: Moment & { kind: 'hub' }) {
  const { phase, noticeSeconds, observedPauseMs } = record;
  return events.map((event) =>
    event.eventId.toLowerCase() === record.eventId.toLowerCase()
      ? { ...event, phase, noticeSeconds, observedPauseMs, notBefore }
      : event,
  );
}

/** The destination after one more record or row came. */
export function withArrival({ arrivals, recordIds, copies }: Destination, at: number, recordId: string): Destination {
  const isCopy = recordIds.includes(recordId);
  return {
    arrivals: [...arrivals, at],
    recordIds: isCopy ? recordIds : [...recordIds, recordId],
    copies: copies + (isCopy ? 1 : 0),
  };
}

function withOutage(outages: Show['outages'], at: number, begins: boolean): Show['outages'] {
  if (begins) return [...outages, { from: at, until: null }];
  return outages.map((outage) => (outage.until === null ? { ...outage, until: at } : outage));
}

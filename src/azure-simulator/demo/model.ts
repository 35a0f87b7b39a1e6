import { noiseFloorMs } from '../../host/pauses.ts';
import type { LifecycleRecord, Phase } from '../../lifecycle/record.ts';
import type { IssuedStep } from '../index.ts';

/** What the demo reads of a record, or of a row. */
export type SentRecord = Pick<
  LifecycleRecord,
  | 'recordId'
  | 'transitionId'
  | 'eventId'
  | 'eventType'
  | 'vmId'
  | 'vmName'
  | 'streamId'
  | 'sequence'
  | 'phase'
  | 'evidence'
  | 'observedAt'
  | 'observerAffected'
  | 'notBefore'
  | 'noticeSeconds'
  | 'observedPauseMs'
>;

/** One thing that happened. `at`: seconds since the show began. */
export type Moment = { readonly at: number } & Happening;

export type Happening =
  /** This many VMs have a bridge that polls. */
  | { readonly kind: 'polling'; readonly vms: number }
  /** Azure changed its document. */
  | ({ readonly kind: 'azure' } & Omit<IssuedStep, 'at'>)
  /** A record was read back from the event hub; `notBefore` as seconds since the show began. */
  | { readonly kind: 'hub'; readonly record: SentRecord; readonly notBefore: number | null }
  /** A row is in the table. */
  | { readonly kind: 'table'; readonly row: SentRecord }
  | { readonly kind: 'bridge'; readonly state: BridgeState }
  /** The event hub refuses connections, or accepts them again. */
  | { readonly kind: 'outage'; readonly begins: boolean }
  /** Records pending in the outbox for the event hub. */
  | { readonly kind: 'pending'; readonly records: number };

/** `frozen` by SIGSTOP, `killed` by `kill -9`; `running` from its first poll. */
export type BridgeState = 'starting' | 'running' | 'frozen' | 'killed';

/** All that the picture shows, folded from what happened. Times are seconds since the show began. */
export interface Show {
  readonly vms: readonly string[];
  /** Update domains: VM number n is in domain n modulo this. */
  readonly domains: number;
  /** VMs whose bridge polls. */
  readonly polling: number;
  readonly incarnation: number;
  /** In the order in which Azure announced them. */
  readonly events: readonly ShownEvent[];
  /** The last phase that each VM reported of an event of its own. */
  readonly phases: ReadonlyMap<string, Phase>;
  readonly bridge: readonly { readonly state: BridgeState; readonly from: number }[];
  readonly hub: Destination;
  readonly table: Destination;
  readonly outages: readonly { readonly from: number; readonly until: number | null }[];
  /** Records pending in the outbox for the event hub. */
  readonly pending: number;
  /** The first copy of each record as it was read back, newest last. */
  readonly records: readonly { readonly at: number; readonly record: SentRecord }[];
  readonly transitionIds: ReadonlySet<string>;
}

/** One event: what Azure did with it, and what the records say of it. */
export interface ShownEvent {
  readonly eventId: string;
  readonly eventType: string;
  /** What the picture and the lines call it: `Freeze`, the next of its type `Freeze 2`. */
  readonly name: string;
  readonly scheduledAt: number;
  readonly startedAt: number | null;
  readonly removedAt: number | null;
  readonly notBefore: number | null;
  /** Of the last record; null before the first. */
  readonly phase: Phase | null;
  readonly noticeSeconds: number | null;
  readonly observedPauseMs: number | null;
  /** Records from VMs that the event is not about. */
  readonly fromOthers: number;
}

export interface Destination {
  readonly arrivals: readonly number[];
  readonly recordIds: readonly string[];
  /** Arrivals of a record that had arrived before. */
  readonly copies: number;
}

const empty: Destination = { arrivals: [], recordIds: [], copies: 0 };

/** The show before anything happened. */
export const beginningOf = (vms: readonly string[], domains = 1): Show => ({
  vms,
  domains,
  polling: 0,
  incarnation: 1,
  events: [],
  phases: new Map(),
  bridge: [],
  hub: empty,
  table: empty,
  outages: [],
  pending: 0,
  records: [],
  transitionIds: new Set(),
});

/** The show after one more moment. */
export function fold(show: Show, moment: Moment): Show {
  const { at } = moment;
  switch (moment.kind) {
    case 'polling':
      return { ...show, polling: moment.vms };
    case 'azure':
      return { ...show, incarnation: moment.incarnation, events: withStep(show.events, moment) };
    case 'hub': {
      const { record } = moment;
      const hub = withArrival(show.hub, at, record.recordId);
      if (hub.copies > show.hub.copies) return { ...show, hub };
      const { phases } = show;
      return {
        ...show,
        hub,
        records: [...show.records, { at, record }],
        events: withRecord(show.events, moment),
        phases: record.observerAffected ? new Map(phases).set(record.vmName ?? '', record.phase) : phases,
        transitionIds: new Set(show.transitionIds).add(record.transitionId),
      };
    }
    case 'table':
      return { ...show, table: withArrival(show.table, at, moment.row.recordId) };
    case 'bridge':
      return { ...show, bridge: [...show.bridge, { state: moment.state, from: at }] };
    case 'outage':
      return { ...show, outages: withOutage(show.outages, at, moment.begins) };
    case 'pending':
      return { ...show, pending: moment.records };
  }
}

export const isFleet = ({ vms }: Show): boolean => vms.length > 1;

/** Whether a measured pause exceeds the noise of a busy machine. */
export const isPause = (pauseMs: number | null): pauseMs is number => pauseMs !== null && pauseMs >= noiseFloorMs;

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
    const unknown = { notBefore: null, phase: null, noticeSeconds: null, observedPauseMs: null, fromOthers: 0 };
    const name = nameOf(events, eventId, eventType);
    return [...events, { eventId, eventType, name, scheduledAt: at, startedAt, removedAt: null, ...unknown }];
  }
  const moved = step === 'started' ? { startedAt: at } : step === 'removed' ? { removedAt: at } : {};
  return events.map((event) => (event.eventId === eventId ? { ...event, ...moved } : event));
}

function withRecord(events: Show['events'], { record, notBefore }: Moment & { kind: 'hub' }): Show['events'] {
  const { eventId, observerAffected, phase, noticeSeconds, observedPauseMs } = record;
  return events.map((event) => {
    if (event.eventId.toLowerCase() !== eventId.toLowerCase()) return event;
    if (!observerAffected) return { ...event, fromOthers: event.fromOthers + 1 };
    return { ...event, phase, noticeSeconds, observedPauseMs, notBefore };
  });
}

function withArrival({ arrivals, recordIds, copies }: Destination, at: number, recordId: string): Destination {
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

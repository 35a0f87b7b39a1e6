import { type EventState, foldEvent, type VmId, vmOf } from './fold-event.ts';
import { type NumberRange, NumberRanges } from './number-ranges.ts';
import { azureTime, type LifecycleRecord } from './record.ts';

/** All records of one outbox of one VM. A new one means that the VM lost its state. */
export interface StreamState {
  readonly streamId: string;
  readonly vm: VmId;
  /** Lower case. */
  readonly vmId: string;
  /** Of the records that arrived. */
  readonly firstPosition: number;
  readonly lastPosition: number;
  /** Positions that never arrived between two that did. Fresh ones may still be on their way, in another partition. */
  readonly missing: readonly NumberRange[];
  /** When the VM first reported in it, of what arrived, by Azure's clock. */
  readonly firstAt: Date;
  /** When the VM last reported in it, by Azure's clock. */
  readonly lastAt: Date;
}

/** What is known of one VM. */
export interface VmState {
  readonly vm: VmId;
  /** Lower case; null: the VM itself has reported nothing, others named it. */
  readonly vmId: string | null;
  /** The open events that affect it. */
  readonly events: readonly EventState[];
  /** The oldest first: more than one means that the VM lost its state. */
  readonly streams: readonly StreamState[];
}

export interface FleetViewOptions {
  /** Also fold records that `emit-test` wrote. Default: false. */
  readonly includeTests?: boolean;
}

interface Stream {
  readonly positions: NumberRanges;
  latest: LifecycleRecord;
  firstAt: number;
}

/**
 * What the records of a fleet say together: a pure function of the records that were added. The same records in any order, with any
 * number of copies, give the same answers.
 */
export class FleetView {
  readonly #includeTests: boolean;
  /** By lower-case event id, then by record id and stream. */
  readonly #events = new Map<string, Map<string, LifecycleRecord>>();
  readonly #folded = new Map<string, EventState>();
  /** By lower-case vmId. */
  readonly #snapshots = new Map<string, Map<string, LifecycleRecord>>();
  readonly #eventsOfVm = new Map<string, Set<string>>();
  readonly #streams = new Map<string, Stream>();
  /** When the last record of an event that is forgotten was observed. */
  readonly #forgotten = new Map<string, number>();

  constructor({ includeTests = false }: FleetViewOptions = {}) {
    this.#includeTests = includeTests;
  }

  /** @returns the lower-case ids of the events whose state may have changed; none for a copy. */
  add(record: LifecycleRecord): readonly string[] {
    this.#count(record);
    if (record.isTest && !this.#includeTests) return [];
    const vmId = record.vmId.toLowerCase();
    if (record.phase === 'Snapshot') {
      const isNews = keepEarliest(
        entryOf(this.#snapshots, vmId, () => new Map()),
        record,
      );
      const ids = isNews ? [...(this.#eventsOfVm.get(vmId) ?? [])] : [];
      for (const id of ids) this.#folded.delete(id);
      return ids;
    }
    if (!knownPhases.has(record.phase)) return [];
    const eventId = record.eventId.toLowerCase();
    if (azureTime(record) <= (this.#forgotten.get(eventId) ?? Number.NEGATIVE_INFINITY)) return [];
    if (
      !keepEarliest(
        entryOf(this.#events, eventId, () => new Map()),
        record,
      )
    )
      return [];
    entryOf(this.#eventsOfVm, vmId, () => new Set()).add(eventId);
    this.#folded.delete(eventId);
    return [eventId];
  }

  /** The state of an event; undefined: no record of it was added. */
  event(eventId: string): EventState | undefined {
    const id = eventId.toLowerCase();
    const records = this.#events.get(id);
    if (records === undefined) return undefined;
    return entryOf(this.#folded, id, () =>
      foldEvent(id, [...records.values()], (vmId) => [...(this.#snapshots.get(vmId)?.values() ?? [])]),
    );
  }

  /** Every event, ended ones too, until they are forgotten. */
  events(): readonly EventState[] {
    return [...this.#events.keys()].flatMap((id) => this.event(id) ?? []);
  }

  /** Every VM that reported anything or was named by an event. */
  vms(): readonly VmState[] {
    const vms = new Map<string, { vm: VmId; vmId: string | null; events: EventState[]; streams: StreamState[] }>();
    const entry = (vm: VmId) => entryOf(vms, vm.key, () => ({ vm, vmId: null, events: [], streams: [] }));
    for (const stream of this.streams()) {
      const known = entry(stream.vm);
      known.vmId = stream.vmId;
      known.streams.push(stream);
    }
    for (const event of this.events()) {
      for (const vm of event.named) entry(vm);
      for (const vm of event.affected) entry(vm).events.push(event);
    }
    return [...vms.values()];
  }

  /** Every stream, the one with the oldest last report first. */
  streams(): readonly StreamState[] {
    return [...this.#streams.values()]
      .map(
        ({ positions, latest, firstAt }): StreamState => ({
          streamId: latest.streamId,
          vm: vmOf(latest, latest.vmName),
          vmId: latest.vmId.toLowerCase(),
          firstPosition: positions.first ?? 0,
          lastPosition: positions.last ?? 0,
          missing: positions.missing,
          firstAt: new Date(firstAt),
          lastAt: new Date(azureTime(latest)),
        }),
      )
      .sort((a, b) => a.lastAt.getTime() - b.lastAt.getTime());
  }

  /**
   * Forgets ended and presumably ended events, and streams, of which every record is older, so that memory does not grow without limit. What remains is
   * the id of the event: a record of it that arrives later than that changes nothing, unless its step is a later one.
   * @param isKept events that are not forgotten yet.
   * @param abandonedBefore forgets open events too if no VM has reported them since, because a VM that was deleted reports no end; the ids
   * that remain; and snapshots, which may end an event that another partition brings only later. It has to be earlier than `before`, by more than the hub keeps messages. Default: never.
   * @param streamsBefore forgets streams of which every record is older. While the backlog is read it has to be as early as `abandonedBefore`:
   * a stream that is forgotten between the records of two partitions seems to lack some. Default: `before`.
   */
  forget(
    before: Date,
    isKept: (event: EventState) => boolean = () => false,
    abandonedBefore: Date = new Date(0),
    streamsBefore: Date = before,
  ): void {
    const isOld = (record: LifecycleRecord): boolean => azureTime(record) < before.getTime();
    const isAbandoned = (record: LifecycleRecord): boolean => azureTime(record) < abandonedBefore.getTime();
    for (const event of this.events()) {
      const records = [...(this.#events.get(event.eventId)?.values() ?? [])];
      const isOver =
        !event.isOpen || (event.presumedOverAt !== null && event.presumedOverAt < before) || records.every(isAbandoned);
      if (!isOver || !records.every(isOld) || isKept(event)) continue;
      this.#events.delete(event.eventId);
      this.#folded.delete(event.eventId);
      this.#forgotten.set(event.eventId, Math.max(...records.map(azureTime)));
      for (const { vmId } of records) this.#eventsOfVm.get(vmId.toLowerCase())?.delete(event.eventId);
    }
    for (const [eventId, at] of this.#forgotten) if (at < abandonedBefore.getTime()) this.#forgotten.delete(eventId);
    for (const [vmId, eventIds] of this.#eventsOfVm) if (eventIds.size === 0) this.#eventsOfVm.delete(vmId);
    for (const [key, { latest }] of this.#streams)
      if (azureTime(latest) < streamsBefore.getTime()) this.#streams.delete(key);
    for (const [vmId, snapshots] of this.#snapshots) {
      if ((this.#eventsOfVm.get(vmId)?.size ?? 0) === 0 && [...snapshots.values()].every(isAbandoned))
        this.#snapshots.delete(vmId);
    }
  }

  /** Positions are counted over all records, tests too. */
  #count(record: LifecycleRecord): void {
    const key = `${record.vmId.toLowerCase()} ${record.streamId}`;
    const stream = entryOf(this.#streams, key, () => ({
      positions: new NumberRanges(),
      latest: record,
      firstAt: azureTime(record),
    }));
    stream.positions.add(record.position);
    stream.firstAt = Math.min(stream.firstAt, azureTime(record));
    if (record.position > stream.latest.position) stream.latest = record;
  }
}

/** A phase that is not named here, today or in years to come, changes nothing. */
const knownPhases: ReadonlySet<string> = new Set([
  'Scheduled',
  'Updated',
  'Started',
  'Completed',
  'Canceled',
  'Ended',
  'Approved',
]);

/**
 * Of two records with one id, the earlier observation counts: they are copies. Those of two streams are not: a VM that lost its state
 * counts its steps from the beginning, and gives the second end of an event the id of the first.
 * @returns whether this record changed anything.
 */
function keepEarliest(records: Map<string, LifecycleRecord>, record: LifecycleRecord): boolean {
  const id = `${record.recordId} ${record.streamId}`;
  const known = records.get(id);
  if (known !== undefined) {
    // A record never changes; if two with one id do differ, the same one is kept in whichever order they come.
    const later = azureTime(known) - azureTime(record) || (known.observedAt > record.observedAt ? 1 : 0);
    if (later <= 0) return false;
  }
  records.set(id, record);
  return true;
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/**
 * `actOnce` for several processes: all state is in blobs, so that any process can handle any record.
 *
 *   events/<event id>    the records of one event. All are in one partition, unless the event hub got more partitions meanwhile
 *   observers/<vmId>     the events that one VM reported, and its snapshots: those are in another partition than the events
 *   vms/<key of the VM>  the events for which the VM is drained: two events of one VM may be in two partitions
 *
 * The state of an event follows from its records in any order and with any copies, so adding them is idempotent. A VM is drained or
 * restored only under the lease of its blob, by what the events' blobs contain then: a process that was paused cannot act on old news.
 */
import type { BlockBlobClient, ContainerClient } from '@azure/storage-blob';
// In a project of your own: npm install scheduled-events-bridge-consumer
import { type EventState, FleetView, type LifecycleRecord, type VmId } from '../../../src/consumer/index.ts';
import { readBlob, updateBlob, withLease } from './json-blobs.ts';

/** As for `actOnce`: both must be idempotent, and end within a deadline, because the records of a partition wait for them. */
export interface VmActions {
  drain(vm: VmId, event: EventState): Promise<void> | void;
  restore(vm: VmId, event: EventState): Promise<void> | void;
}

interface Observer {
  readonly events: readonly string[];
  readonly snapshots: readonly LifecycleRecord[];
}

/** By event id. `changing` is saved before an action: after a crash the action is repeated. */
type Drained = Record<string, 'changing' | 'drained'>;

export class SharedActions {
  readonly #container: ContainerClient;
  readonly #actions: VmActions;

  constructor(container: ContainerClient, actions: VmActions) {
    this.#container = container;
    this.#actions = actions;
  }

  /** Stores records. @returns the ids of the events for `act`, even if all records were known: a process may have died before it acted. */
  async add(records: readonly LifecycleRecord[]): Promise<ReadonlySet<string>> {
    const byObserver = Map.groupBy(
      records.filter(({ isTest }) => !isTest),
      ({ vmId }) => vmId.toLowerCase(),
    );
    const byEvent = new Map<string, LifecycleRecord[]>();
    await inParallel([...byObserver], async ([vmId, own]) => {
      const reported = Map.groupBy(own, ({ phase, eventId }) => (phase === 'Snapshot' ? '' : eventId.toLowerCase()));
      const { '': snapshots = [], ...ofEvents } = Object.fromEntries(reported);
      const observer = await this.#observe(vmId, Object.keys(ofEvents), snapshots);
      const touched = snapshots.length > 0 ? observer.events : Object.keys(ofEvents);
      for (const id of touched)
        byEvent.set(id, [...(byEvent.get(id) ?? []), ...(ofEvents[id] ?? []), ...observer.snapshots]);
    });
    await inParallel([...byEvent], async ([id, added]) => {
      await updateBlob<LifecycleRecord[]>(this.#blob('events', id), (known) => union(known ?? [], added));
    });
    return new Set(byEvent.keys());
  }

  /** Drains and restores the VMs of these events, as their records say. @throws if any failed, after it has tried all: then call it again. */
  async act(eventIds: ReadonlySet<string>): Promise<void> {
    const events = await this.#events(eventIds);
    const vms = new Map<string, VmId>();
    for (const { named, views } of events)
      for (const vm of [...named, ...views.map((view) => view.vm)]) vms.set(vm.key, vm);
    await inParallel([...vms.values()], (vm) => this.#bringInLine(vm, events));
  }

  /** One of the two sees the other, whichever is stored first: the record of an event, and a snapshot without it. */
  async #observe(vmId: string, events: readonly string[], snapshots: readonly LifecycleRecord[]): Promise<Observer> {
    const none: Observer = { events: [], snapshots: [] };
    const stored = await updateBlob<Observer>(this.#blob('observers', vmId), (known) => {
      const before = known ?? none;
      const ids = [...new Set([...before.events, ...events])];
      const all = union(before.snapshots, snapshots);
      return ids.length === before.events.length && all === null
        ? null
        : { events: ids, snapshots: all ?? before.snapshots };
    });
    return stored ?? none;
  }

  async #events(eventIds: Iterable<string>): Promise<readonly EventState[]> {
    const events = await Promise.all(
      [...eventIds].map(async (id) => {
        const { value } = await readBlob<LifecycleRecord[]>(this.#blob('events', id));
        const fleet = new FleetView();
        for (const record of value ?? []) fleet.add(record);
        return fleet.event(id);
      }),
    );
    return events.filter((event) => event !== undefined);
  }

  async #bringInLine(vm: VmId, events: readonly EventState[]): Promise<void> {
    const blob = this.#blob('vms', vm.key);
    const noted = (await readBlob<Drained>(blob)).value ?? {};
    if (events.every((event) => isDone(event, vm, noted))) return;
    await updateBlob<Drained>(blob, (known) => (known === null ? {} : null));
    await withLease<Drained>(blob, async (save) => {
      const drained = (await readBlob<Drained>(blob)).value ?? {};
      const before = { ...drained };
      const ids = new Set([...Object.keys(drained), ...events.map(({ eventId }) => eventId)]);
      for (const { eventId } of (await this.#events(ids)).filter((event) => !isDone(event, vm, drained)))
        drained[eventId] = 'changing';
      await save(drained);
      // Again: a process that stored a record since the first time has either done so before this, or it sees `changing` and waits.
      const current = (await this.#events(ids)).filter(({ eventId }) => drained[eventId] === 'changing');
      // New events first, so that the VM is not restored between two of them.
      for (const event of current.filter((one) => affects(one, vm))) {
        await this.#actions.drain(vm, event);
        drained[event.eventId] = 'drained';
        await save(drained);
      }
      for (const event of current.filter((one) => !affects(one, vm))) {
        const isLast = Object.keys(drained).length === 1;
        if (isLast && event.eventId in before) await this.#actions.restore(vm, event);
        delete drained[event.eventId];
        await save(drained);
      }
    });
  }

  #blob(folder: 'events' | 'observers' | 'vms', id: string): BlockBlobClient {
    return this.#container.getBlockBlobClient(`${folder}/${encodeURIComponent(id)}.json`);
  }
}

const affects = ({ affected }: EventState, { key }: VmId): boolean => affected.some((one) => one.key === key);

const isDone = (event: EventState, vm: VmId, noted: Drained): boolean =>
  noted[event.eventId] === (affects(event, vm) ? 'drained' : undefined);

/** Null: nothing is new. */
function union(known: readonly LifecycleRecord[], added: readonly LifecycleRecord[]): LifecycleRecord[] | null {
  const identify = ({ streamId, recordId, observedAt }: LifecycleRecord): string =>
    [streamId, recordId, observedAt].join(' ');
  const all = new Map([...known, ...added].map((record) => [identify(record), record]));
  return all.size > known.length ? [...all.values()] : null;
}

/** A failure does not keep the others from being tried. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const results = await Promise.allSettled(items.map(work));
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, errors.join('; '));
}

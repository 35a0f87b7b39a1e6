import { FleetView } from './fleet-view.ts';
import type { EventState, VmId } from './fold-event.ts';
import type { HubReader } from './follow-hub.ts';
import type { Message } from './parse.ts';
import type { LifecycleRecord } from './record.ts';
import { StateConflictError, type StateStore } from './state-store.ts';

/** What an application does when an event affects a VM, and when it no longer does. */
export interface ActOnceOptions {
  /** Moves work off the VM. Must be idempotent: it is repeated if it throws, or if the process dies meanwhile. */
  drain(vm: VmId, event: EventState): Promise<void> | void;
  /** Brings work back: no event for which the VM was drained affects it any more. Must be idempotent. */
  restore(vm: VmId, event: EventState): Promise<void> | void;
  /**
   * For the log: an action failed and will be retried; the state could not be saved, and actions continue; a message is invalid and was
   * skipped; reading from the hub failed and continues if it can. After a `StateConflictError` no action follows: end the process.
   */
  onError(error: unknown): void;
  /** Other messages of the hub: heartbeats, and messages that this version does not read. Default: they are skipped. */
  onOther?(message: Extract<Message, { kind: 'heartbeat' | 'ignored' }>): void;
  /** Seconds before a failed action is retried. Default: 5. */
  readonly retrySeconds?: number;
  /** How long an ended event is kept in memory, in hours. Default: 24. */
  readonly rememberHours?: number;
}

/** Applies incoming records. Pass it to `followHub`, or call its methods with what another transport delivers. */
export interface Actions extends HubReader {
  /** What is known of the fleet. */
  readonly fleet: FleetView;
  /** Adds records. Acts only after `onHistoryRead`, because most events announced in the history have already ended. */
  onRecords(records: readonly LifecycleRecord[]): void;
  onMessages(messages: readonly Message[]): void;
  onHistoryRead(): void;
  /** Resolves when every action that is due has succeeded or failed. */
  settled(): Promise<void>;
  onError(error: unknown): void;
}

/** `draining` is saved before the action, so that a process that dies during it knows that the VM has to be restored. */
type Progress = 'draining' | 'drained';
interface Drained {
  readonly vm: VmId;
  /** By lower-case event id. */
  readonly events: Record<string, Progress>;
}

/**
 * Drains a VM for each event that affects it, and restores it once, after the last of them: however often records are resent, in
 * which order they arrive, how many VMs report an event, and whenever the process is killed.
 *
 * Each action is called once. It is repeated only if it threw, or if the process died between the action and saving its outcome, because
 * the two cannot be one step: so actions must be idempotent. A VM whose drain was interrupted is restored after the event.
 *
 * @throws if `drain`, `restore` or `onError` is not a function, or the state in the store cannot be read or is not that of `actOnce`.
 *
 * @example
 * const actions = await actOnce(fileStore('state.json'), { drain, restore, onError: console.error });
 * await followHub(client, actions);
 */
export async function actOnce(store: StateStore, options: ActOnceOptions): Promise<Actions> {
  for (const name of ['drain', 'restore', 'onError'] as const)
    if (typeof options?.[name] !== 'function')
      throw new TypeError(`actOnce: ${name} must be a function, but is ${typeof options?.[name]}`);
  return new Actor(store, options, readState(await store.load()));
}

class Actor implements Actions {
  readonly fleet = new FleetView();
  readonly #store: StateStore;
  readonly #options: ActOnceOptions;
  /** By the key of the VM. */
  readonly #drained: Map<string, Drained>;
  /** Open events by the key of the VM that they affect. */
  readonly #affecting = new Map<string, Set<string>>();
  /** VMs by the event that affected them when it was last evaluated. */
  readonly #affectedBy = new Map<string, readonly VmId[]>();
  readonly #vms = new Map<string, VmId>();
  /** VMs with an action in progress, one at a time each; and those of which an action failed. */
  readonly #busy = new Map<string, Promise<void>>();
  readonly #failed = new Map<string, { readonly retryAt: number }>();
  #isHistoryRead = false;
  /** Another process uses the same state, so this one acts no longer. */
  #isSuperseded = false;
  #saving: Promise<void> = Promise.resolve();
  #forgetAt = 0;

  constructor(store: StateStore, options: ActOnceOptions, drained: Map<string, Drained>) {
    this.#store = store;
    this.#options = options;
    this.#drained = drained;
  }

  onMessages(messages: readonly Message[]): void {
    for (const message of messages) {
      if (message.kind === 'invalid') this.#options.onError(new Error(message.problem));
      else if (message.kind !== 'record') this.#options.onOther?.(message);
    }
    this.onRecords(messages.flatMap((message) => (message.kind === 'record' ? [message.record] : [])));
  }

  onRecords(records: readonly LifecycleRecord[]): void {
    const changed = new Set(records.flatMap((record) => this.fleet.add(record)));
    if (!this.#isHistoryRead) return;
    const vms = new Set([...changed].flatMap((eventId) => this.#look(eventId)));
    const now = Date.now();
    const due = [...this.#failed].filter(([, { retryAt }]) => retryAt <= now).map(([key]) => key);
    for (const key of [...vms, ...due]) this.#work(key);
    this.#forget(now);
  }

  onHistoryRead(): void {
    this.#isHistoryRead = true;
    for (const { eventId } of this.fleet.events()) this.#look(eventId);
    for (const key of [...this.#affecting.keys(), ...this.#drained.keys()]) this.#work(key);
  }

  onError(error: unknown): void {
    this.#options.onError(error);
  }

  async settled(): Promise<void> {
    while (this.#busy.size > 0) await Promise.all(this.#busy.values());
    await this.#saving;
  }

  /** @returns the keys of the VMs that the event concerns, or did. */
  #look(eventId: string): readonly string[] {
    const affected = this.fleet.event(eventId)?.affected ?? [];
    const before = this.#affectedBy.get(eventId) ?? [];
    for (const { key } of before) this.#affecting.get(key)?.delete(eventId);
    for (const vm of affected) {
      this.#vms.set(vm.key, vm);
      this.#affecting.set(vm.key, (this.#affecting.get(vm.key) ?? new Set()).add(eventId));
    }
    this.#affectedBy.set(eventId, affected);
    const noted = [...this.#drained].filter(([, { events }]) => eventId in events).map(([key]) => key);
    return [...new Set([...before.map(({ key }) => key), ...affected.map(({ key }) => key), ...noted])];
  }

  #work(key: string): void {
    if (this.#busy.has(key) || this.#isSuperseded) return;
    const work = this.#bringInLine(key).finally(() => this.#busy.delete(key));
    this.#busy.set(key, work);
  }

  /** One action after the other, until the saved state of the VM matches its events. A failed action is left for the next batch. */
  async #bringInLine(key: string): Promise<void> {
    this.#failed.delete(key);
    const failed = new Set<string>();
    for (;;) {
      const act = this.#nextAct(key, failed);
      if (act === null) break;
      try {
        await act.run();
      } catch (error) {
        if (this.#isSuperseded) return;
        failed.add(act.eventId);
        this.#failed.set(key, { retryAt: Date.now() + 1000 * (this.#options.retrySeconds ?? 5) });
        this.#options.onError(error);
      }
    }
  }

  /** New events first, so that a VM is not restored between two of them. */
  #nextAct(key: string, failed: ReadonlySet<string>): { readonly eventId: string; run(): Promise<void> } | null {
    const { events = {} } = this.#drained.get(key) ?? {};
    for (const eventId of this.#affecting.get(key) ?? []) {
      const event = this.fleet.event(eventId);
      if (events[eventId] !== 'drained' && !failed.has(eventId) && event !== undefined)
        return { eventId, run: () => this.#drain(key, event) };
    }
    for (const eventId of Object.keys(events)) {
      // The hub may no longer hold the records of an event: unknown does not mean over.
      const event = this.fleet.event(eventId);
      if (event !== undefined && !failed.has(eventId) && !this.#affecting.get(key)?.has(eventId))
        return { eventId, run: () => this.#release(key, event) };
    }
    return null;
  }

  async #drain(key: string, event: EventState): Promise<void> {
    const vm = this.#vms.get(key);
    if (vm === undefined) return;
    await this.#note(vm, event.eventId, 'draining');
    await this.#options.drain(vm, event);
    await this.#note(vm, event.eventId, 'drained');
  }

  async #release(key: string, event: EventState): Promise<void> {
    const noted = this.#drained.get(key);
    if (noted === undefined) return;
    if (Object.keys(noted.events).length === 1) await this.#options.restore(noted.vm, event);
    await this.#note(noted.vm, event.eventId, null);
  }

  async #note(vm: VmId, eventId: string, progress: Progress | null): Promise<void> {
    const { [eventId]: _, ...others } = this.#drained.get(vm.key)?.events ?? {};
    const events = progress === null ? others : { ...others, [eventId]: progress };
    if (Object.keys(events).length > 0) this.#drained.set(vm.key, { vm, events });
    else this.#drained.delete(vm.key);
    await this.#save();
    if (this.#isSuperseded) throw superseded;
  }

  /** Saves one state after the other. If it fails, actions continue: a VM with half a minute of notice cannot wait for a disk. */
  #save(): Promise<void> {
    this.#saving = this.#saving.then(async () => {
      try {
        await this.#store.save(JSON.stringify({ format, drained: Object.fromEntries(this.#drained) }));
      } catch (error) {
        if (this.#isSuperseded) return;
        this.#isSuperseded = error instanceof StateConflictError;
        this.#options.onError(error);
      }
    });
    return this.#saving;
  }

  #forget(now: number): void {
    const hourMs = 3_600_000;
    if (now < this.#forgetAt) return;
    this.#forgetAt = now + hourMs;
    const before = now - (this.#options.rememberHours ?? 24) * hourMs;
    const noted = new Set([...this.#drained.values()].flatMap(({ events }) => Object.keys(events)));
    this.fleet.forget(new Date(before), ({ eventId }) => noted.has(eventId), new Date(before - longestRetentionMs));
    for (const eventId of this.#affectedBy.keys())
      if (this.fleet.event(eventId) === undefined) this.#affectedBy.delete(eventId);
    for (const [key, events] of this.#affecting) {
      if (events.size > 0 || this.#drained.has(key)) continue;
      this.#affecting.delete(key);
      this.#vms.delete(key);
    }
  }
}

/** No event hub keeps messages longer: https://learn.microsoft.com/azure/event-hubs/event-hubs-quotas */
const longestRetentionMs = 90 * 24 * 3_600_000;

/** Ends the actions in progress. It is not reported, because the `StateConflictError` was. */
const superseded = new Error('superseded');

const format = 'scheduled-events-bridge-consumer/1';

function readState(text: string | null): Map<string, Drained> {
  if (text === null) return new Map();
  try {
    const state = JSON.parse(text);
    if (state.format === format) return new Map(Object.entries(state.drained as Record<string, Drained>));
  } catch {
    // The message is the same.
  }
  throw new Error(
    `The store holds no state of actOnce (expected the format ${format}): move it aside to start with an empty state.`,
  );
}

import type { ClockChange, Endpoint, Entry, Impact, Listing, Outage, Pause, PlatformEvent, Vm } from './world.ts';
import { contains, overlaps } from './world.ts';

type Draft<T> = { -readonly [Key in keyof T]: T[Key] extends readonly (infer Item)[] ? Item[] : T[Key] };

/** A VM in the making. */
export type DraftVm = Draft<Omit<Vm, 'endpoint'>> & { endpoint: Draft<Endpoint> };

/** A VM that nothing happens to. */
export const quietVm = (name: string): DraftVm => ({
  name,
  joinsMs: 0,
  removedMs: null,
  showsHost: true,
  identityMs: Number.NEGATIVE_INFINITY,
  outages: [],
  pauses: [],
  movesMs: [],
  clock: [],
  driftPpm: 0,
  processOutages: [],
  endpoint: {
    apiVersion: '2020-07-01',
    hasEtag: true,
    firstIncarnation: 5,
    stride: 1,
    resets: [],
    mistakes: [],
    unreadable: [],
    failures: [],
    slow: [],
    withoutDate: [],
  },
});

/** Whether the VM exists, is up and is not paused for all of this time: two impacts never overlap on one VM. */
export function isFree(vm: DraftVm, fromMs: number, toMs: number): boolean {
  const span = { fromMs: fromMs - 2000, toMs: toMs + 2000 };
  if (vm.removedMs !== null && span.toMs >= vm.removedMs) return false;
  return ![...vm.outages, ...vm.pauses].some((other) => overlaps(other, span));
}

/** An event in the making: each call says what Azure does next. */
export class DraftEvent {
  readonly id: string;
  readonly listings: Listing[] = [];
  readonly impacts: Impact[] = [];
  outcome: PlatformEvent['outcome'] = 'unfinished';
  startedMs: number | null = null;
  approved: PlatformEvent['approved'] = null;
  #entry: Entry;

  constructor(id: string, entry: Entry) {
    this.id = id;
    this.#entry = entry;
  }

  get entry(): Entry {
    return this.#entry;
  }

  /** Lists it, with what changes. */
  list(wantedMs: number, change: Partial<Entry> = {}): this {
    this.#entry = { ...this.#entry, ...change };
    const atMs = this.#after(wantedMs);
    this.listings.push({ atMs, entry: this.#entry });
    if (this.#entry.status.toLowerCase() === 'started') this.startedMs ??= atMs;
    return this;
  }

  /** Off the list; it may be listed again. */
  unlist(wantedMs: number): this {
    this.listings.push({ atMs: this.#after(wantedMs), entry: null });
    return this;
  }

  #after(wantedMs: number): number {
    const lastMs = this.listings.at(-1)?.atMs;
    return lastMs === undefined ? wantedMs : Math.max(wantedMs, lastMs + 50);
  }

  complete(atMs: number): this {
    this.outcome = 'completed';
    return this.unlist(atMs);
  }

  cancel(atMs: number): this {
    this.outcome = 'canceled';
    return this.unlist(atMs);
  }

  pause(vm: DraftVm, fromMs: number, lengthMs: number, more: Partial<Pause> = {}): void {
    if (!isFree(vm, fromMs, fromMs + lengthMs)) return;
    const span = { fromMs, toMs: fromMs + lengthMs };
    vm.pauses.push({ ...span, cause: this.id, pollInFlight: null, clocks: 'run', ...more });
    this.impacts.push({ ...span, vm: vm.name, kind: 'pause' });
  }

  outage(vm: DraftVm, fromMs: number, lengthMs: number, more: Partial<Outage> = {}): boolean {
    if (!isFree(vm, fromMs, fromMs + lengthMs)) return false;
    const span = { fromMs, toMs: fromMs + lengthMs };
    vm.outages.push({ ...span, cause: this.id, isClean: true, ...more });
    this.impacts.push({ ...span, vm: vm.name, kind: 'outage' });
    return true;
  }

  remove(vm: DraftVm, atMs: number): void {
    if (!isFree(vm, atMs, Number.POSITIVE_INFINITY)) return;
    vm.removedMs = atMs;
    this.impacts.push({ fromMs: atMs, toMs: Number.POSITIVE_INFINITY, vm: vm.name, kind: 'removal' });
  }

  finish(): PlatformEvent {
    const { id, outcome, startedMs, approved, impacts } = this;
    return { id, listings: this.listings, outcome, startedMs, approved, impacts };
  }
}

/** When the clocks stopped as long as the machine did, time synchronisation corrects them 5 s later. */
function clocksThatStood({ clock, pauses }: DraftVm): ClockChange[] {
  const stood = pauses.filter(({ clocks }) => clocks !== 'run');
  // No clock is set while the machine is paused.
  const set = clock.map((change) => {
    const pause = stood.find((span) => contains(span, change.atMs));
    return pause ? { ...change, atMs: pause.toMs + 1 } : change;
  });
  const late = stood.flatMap(({ fromMs, toMs }) => {
    const before = set.filter(({ atMs }) => atMs <= fromMs).at(-1)?.errorMs ?? 0;
    const isSetBefore = set.some(({ atMs }) => toMs < atMs && atMs <= toMs + 5000);
    const right = { atMs: toMs + 5000, errorMs: before, isStep: true };
    return [{ atMs: toMs, errorMs: before - (toMs - fromMs), isStep: false }, ...(isSetBefore ? [] : [right])];
  });
  return [...set, ...late].sort((a, b) => a.atMs - b.atMs);
}

/** Everything in chronological order, as readers of a VM expect it. */
export function finishVm(vm: DraftVm): Vm {
  const byStart = (a: { fromMs: number }, b: { fromMs: number }): number => a.fromMs - b.fromMs;
  vm.outages.sort(byStart);
  vm.pauses.sort(byStart);
  vm.processOutages.sort(byStart);
  vm.movesMs.sort((a, b) => a - b);
  vm.clock = clocksThatStood(vm);
  vm.endpoint.resets.sort((a, b) => a.atMs - b.atMs);
  return vm;
}

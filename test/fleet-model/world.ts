/**
 * What truly happens in one group of VMs, generated before any VM observes it. All times are milliseconds since the beginning of
 * the world, on a clock that is right; `epochMs` is when that was.
 */
export interface World {
  readonly title: string;
  readonly lengthMs: number;
  /** `group`: every VM is shown every event. `alone`: each is shown only those that name it. */
  readonly view: 'group' | 'alone';
  /** Share of the others' events that a VM publishes: 0 or 1. */
  readonly witnessRate: 0 | 1;
  readonly vms: readonly Vm[];
  readonly events: readonly PlatformEvent[];
}

export const epochMs = Date.UTC(2026, 2, 1);

/** One entry of the list, as Azure means it. */
export interface Entry {
  readonly status: string;
  readonly type: string;
  readonly source: string;
  readonly resources: readonly string[];
  /** Whole seconds. Blank on the wire once Started. */
  readonly notBeforeMs: number | null;
  readonly durationSeconds: number;
}

/** The entry from this time on; null: it is no longer listed. */
export interface Listing {
  readonly atMs: number;
  readonly entry: Entry | null;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The real impact of an event on one VM. `removal` never ends. */
export interface Impact extends Span {
  readonly vm: string;
  readonly kind: 'pause' | 'outage' | 'removal';
}

export interface PlatformEvent {
  readonly id: string;
  readonly listings: readonly Listing[];
  /** `completed`: Azure carried it out. `canceled`: it never began. `unfinished`: still listed when the world ends. */
  readonly outcome: 'completed' | 'canceled' | 'unfinished';
  /** When Azure began it, listed as Started or not. */
  readonly startedMs: number | null;
  /** A bridge of the fleet approved it. */
  readonly approved: { readonly vm: string; readonly atMs: number } | null;
  readonly impacts: readonly Impact[];
}

/** The machine is off; it is back with another boot id. */
export interface Outage extends Span {
  /** Id of the event that caused it; null: the guest restarted for its own reasons. */
  readonly cause: string | null;
  /** Shut down in good order, so what was in memory only is stored. */
  readonly isClean: boolean;
}

/** The machine is paused and resumes. */
export interface Pause extends Span {
  /** Id of the event that caused it; null: a stall that has nothing to do with Azure. */
  readonly cause: string | null;
  /** What becomes of a poll that is under way when it begins; null: none is. */
  readonly pollInFlight: 'answered' | 'failed' | null;
  /** Which clocks of the guest stop with it. Without the monotonic one (`stop`) the 100 ms tick notices nothing. */
  readonly clocks: 'run' | 'wall-stops' | 'stop';
}

/** How wrong the clock of the guest is from this time on. */
export interface ClockChange {
  readonly atMs: number;
  readonly errorMs: number;
  /** The clock was set, which shows as a step of wall against monotonic time. */
  readonly isStep: boolean;
}

export interface ProcessOutage extends Span {
  readonly isClean: boolean;
  readonly losesState: boolean;
}

/** The counter of the endpoint restarts; the list is empty for a while. */
export interface EndpointReset {
  readonly atMs: number;
  readonly emptyMs: number;
  readonly incarnation: number;
}

export interface Endpoint {
  readonly apiVersion: string;
  readonly hasEtag: boolean;
  readonly firstIncarnation: number;
  /** How far the counter goes up with each change: more than 1 in big groups. */
  readonly stride: number;
  readonly resets: readonly EndpointReset[];
  /** The event is missing by mistake. */
  readonly mistakes: readonly (Span & { readonly eventId: string })[];
  /** The list has an entry without a readable EventId. */
  readonly unreadable: readonly Span[];
  readonly failures: readonly (Span & { readonly code: string })[];
  /** `servedAfter`: share (0 to 1) of the time under way after which the answer is made. */
  readonly slow: readonly (Span & { readonly answerMs: number; readonly servedAfter: number })[];
  readonly withoutDate: readonly Span[];
}

export interface Vm {
  readonly name: string;
  readonly joinsMs: number;
  /** Deleted by Azure. */
  readonly removedMs: number | null;
  readonly showsHost: boolean;
  /** Until then the observer does not know who it is. */
  readonly identityMs: number;
  readonly outages: readonly Outage[];
  readonly pauses: readonly Pause[];
  /** Times at which it runs on another physical host. */
  readonly movesMs: readonly number[];
  readonly clock: readonly ClockChange[];
  readonly driftPpm: number;
  readonly processOutages: readonly ProcessOutage[];
  readonly endpoint: Endpoint;
}

export const contains = ({ fromMs, toMs }: Span, atMs: number): boolean => fromMs <= atMs && atMs < toMs;
export const overlaps = (a: Span, b: Span): boolean => a.fromMs < b.toMs && b.fromMs < a.toMs;

/** The entry that Azure means at this time. */
export function entryAt(event: PlatformEvent, atMs: number): Entry | null {
  let entry: Entry | null = null;
  for (const listing of event.listings) {
    if (listing.atMs > atMs) break;
    entry = listing.entry;
  }
  return entry;
}

/** When Azure took it off the list for good; null while it is listed. */
export function leftForGoodMs(event: PlatformEvent): number | null {
  const last = event.listings.at(-1);
  return last !== undefined && last.entry === null ? last.atMs : null;
}

/** Guest's wall clock minus true time. */
export function clockErrorMs(vm: Vm, atMs: number): number {
  let errorMs = 0;
  for (const change of vm.clock) {
    if (change.atMs > atMs) break;
    errorMs = change.errorMs;
  }
  return errorMs + Math.round((vm.driftPpm * atMs) / 1e6);
}

export const statusIs = (entry: Entry, status: string): boolean => entry.status.toLowerCase() === status.toLowerCase();
export const names = (resources: readonly string[], vm: string): boolean => resources.includes(vm);

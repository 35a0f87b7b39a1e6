/**
 * What truly happened in a fleet, written down before any bridge observes it. Rows of the tables are made from it (`rows.ts`), and the answers
 * that queries have to give are read from it, never from rows. It shares nothing with the product nor with the other generator of rows.
 */

/** Milliseconds since 1970, by a clock that is right. */
export type Ms = number;

export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** Queries are asked at noon. */
export const now: Ms = Date.UTC(2026, 4, 20, 12);

/** So long before now; what is days ago happened at seven minutes past, so that nothing is close to a full hour. */
export const ago = (days: number, hours = 0, minutes = 0): Ms =>
  now - days * day + hours * hour + (minutes + (days >= 1 ? 7 : 0)) * minute;

export interface Span {
  readonly from: Ms;
  /** Infinity: it lasts. */
  readonly to: Ms;
}

export interface Vm {
  readonly name: string;
  readonly vmId: string;
  readonly subscriptionId: string;
  readonly resourceGroup: string;
  readonly location: string;
  readonly scaleSet: string | null;
  /** VMs of one group are shown each other's events. */
  readonly group: string;
  readonly zone: string | null;
  readonly faultDomain: string | null;
  readonly size: string;
  readonly isSpot: boolean;
  readonly owner: string | null;
  /** From its creation to its deletion. */
  readonly lifetime: Span;
  /** Its clock minus the right one. */
  readonly clockErrorMs: Ms;
  /** Its bridge publishes the events of the others of its group too. */
  readonly isWitness: boolean;
  /** Version of its bridge from a time on, the first one since it exists. */
  readonly versions: readonly { readonly at: Ms; readonly version: string }[];
  /** Its bridge loses what it remembers and begins another stream. */
  readonly stateLostAt: Ms | null;
  /** The VM runs and its bridge does not. */
  readonly unwatched: readonly Span[];
  /** Nothing leaves the VM; records wait on its disk. */
  readonly cutOff: Span | null;
  /** When it goes down for good its bridge has time to say so. */
  readonly reportsStop: boolean;
  /** A command wrote a test record then. */
  readonly testedAt: Ms | null;
  /** It has the Azure Monitor agent. */
  readonly hasAgent: boolean;
}

/** What happens to a VM. `removal`: it is deleted. */
export interface Impact extends Span {
  readonly vm: string;
  readonly kind: 'pause' | 'outage' | 'removal';
}

export interface Approval {
  /** The VM whose bridge approved. */
  readonly by: string;
  readonly at: Ms;
  readonly result: 'accepted' | 'refused';
}

export interface AzureEvent {
  readonly id: string;
  readonly group: string;
  readonly type: 'Freeze' | 'Reboot' | 'Redeploy' | 'Preempt';
  readonly source: 'Platform' | 'User';
  /** Names of the VMs that it concerns. */
  readonly vms: readonly string[];
  /** Null: it is listed as started from the first moment. */
  readonly announcedAt: Ms | null;
  readonly notBefore: Ms | null;
  /** Null: it never began, or has not begun. */
  readonly startedAt: Ms | null;
  /** Infinity: it is listed still. */
  readonly removedAt: Ms;
  readonly durationSeconds: number;
  readonly approval: Approval | null;
  readonly impacts: readonly Impact[];
}

export interface Fleet {
  /** When queries are asked. */
  readonly now: Ms;
  readonly vms: readonly Vm[];
  readonly events: readonly AzureEvent[];
}

export const isCanceled = ({ startedAt, removedAt }: AzureEvent): boolean =>
  startedAt === null && Number.isFinite(removedAt);

/** When it came in the list. */
export const appearedAt = ({ announcedAt, startedAt }: AzureEvent): Ms => announcedAt ?? startedAt ?? Infinity;

export const impactOn = ({ impacts }: AzureEvent, vm: Vm): Impact | undefined =>
  impacts.find((impact) => impact.vm === vm.name);

/** The events that name a VM, the first one first. */
export const eventsOf = (fleet: Fleet, vm: Vm): readonly AzureEvent[] =>
  fleet.events
    .filter(({ group, vms }) => group === vm.group && vms.includes(vm.name))
    .toSorted((a, b) => appearedAt(a) - appearedAt(b));

export function vmNamed({ vms }: Fleet, group: string, name: string): Vm {
  const found = vms.find((vm) => vm.group === group && vm.name === name);
  if (found === undefined) throw new Error(`no VM ${name} in ${group}`);
  return found;
}

/** What is left of the spans without those taken out. */
export function without(spans: readonly Span[], taken: readonly Span[]): readonly Span[] {
  return taken.reduce<readonly Span[]>(
    (left, hole) =>
      left.flatMap((span) =>
        [
          { from: span.from, to: Math.min(span.to, hole.from) },
          { from: Math.max(span.from, hole.to), to: span.to },
        ].filter(({ from, to }) => from < to),
      ),
    spans,
  );
}

/** Random numbers that are the same in every run: mulberry32 (public domain). */
export function randomOf(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * bound);
  };
}

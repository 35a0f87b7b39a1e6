import { DraftEvent, type DraftVm, finishVm, quietVm } from './draft.ts';
import type { Entry, World } from './world.ts';

/** What has to be said of one event, by one VM or (no VM) by the fold over all. */
export interface Expected {
  readonly event: string;
  readonly vm?: string;
  /** The last end; null: none. One of these phases. */
  readonly end?: readonly string[] | null;
  /** Of the last record, within two polls. */
  readonly noticeSeconds?: number | null;
  readonly startedSeconds?: number | null;
  readonly pauseMs?: number | null;
  readonly outageSeconds?: number | null;
  /** All phases in order. */
  readonly phases?: readonly string[];
  /** Evidence of the first record. */
  readonly begins?: readonly string[];
}

/** A small world made for one rule, with what has to be said of it. */
export interface Case {
  readonly title: string;
  readonly world: World;
  readonly expected: readonly Expected[];
}

export const second = 1000;
export const minute = 60 * second;
export const day = 24 * 60 * minute;

/** Freeze of vm-a, announced a minute after the beginning, with 15 minutes of notice. */
export const announcedMs = minute + 500;

export const announce = (id: string, entry: Partial<Entry> = {}, atMs = announcedMs): DraftEvent =>
  new DraftEvent(id, {
    status: 'Scheduled',
    type: 'Freeze',
    source: 'Platform',
    resources: ['vm-a'],
    notBeforeMs: Math.floor(atMs / second) * second + 900 * second,
    durationSeconds: 5,
    ...entry,
  }).list(atMs);

/** What a case is made of; without VMs it has one, to which nothing else happens. */
interface Scene {
  readonly events: readonly DraftEvent[];
  readonly vms?: readonly DraftVm[];
  readonly lengthMs?: number;
  readonly witnessRate?: 0 | 1;
}

export function world(title: string, { events, vms = [quietVm('vm-a')], lengthMs, witnessRate = 0 }: Scene): World {
  const lastMs = Math.max(...events.flatMap(({ listings }) => listings.map(({ atMs }) => atMs)));
  return {
    title,
    lengthMs: lengthMs ?? lastMs + 30 * minute,
    view: 'group',
    witnessRate,
    vms: vms.map((vm) => finishVm({ ...vm, joinsMs: vm.joinsMs === 0 ? -10 * minute : vm.joinsMs })),
    events: events.map((event) => event.finish()),
  };
}

export const started = { status: 'Started' };

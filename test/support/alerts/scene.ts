import { encodeRow } from '../../../src/sinks/log-analytics/encode.ts';
import { type Group, type GroupVm, type Play, playGroup } from '../fleet-rows/group-play.ts';
import { heartbeatRows } from '../fleet-rows/heartbeats.ts';
import { type Arriving, arrivingAfter } from './watch.ts';

const hour = 3600;
const minute = 60;

/** What happens begins here: six hours before, the fleet is quiet. */
export const sceneStarts = new Date('2026-03-02T06:00:00Z');
/** When the situation has ended, or has lasted for seven hours. */
export const sceneEnds = sceneAt(7 * 60);
/** This many minutes after the start. */
export function sceneAt(minutes: number): Date {
  return new Date(sceneStarts.getTime() + 1000 * minute * minutes);
}
const quietSeconds = 6 * hour;
const from = new Date(sceneStarts.getTime() - 1000 * quietSeconds);

export interface Scene {
  /** VMs of the scale set `web`. Default 20. */
  readonly vms?: number;
  /** Of every VM. */
  readonly traits?: Partial<GroupVm>;
  /** Of a VM, by its number: seconds count from the start. */
  readonly of?: Readonly<Record<number, Partial<GroupVm>>>;
  /** Seconds count from the start. */
  readonly plays?: readonly Play[];
  readonly witnessRate?: number;
  /** VMs, by number, that say that they stop when they leave. */
  readonly reportsStop?: readonly number[];
  /** How far the event hub is behind for these VMs, in minutes. */
  readonly hubBehind?: Readonly<Record<number, number>>;
  readonly heartbeatMinutes?: number;
  /** Minutes from and to which VMs, by number, see no valid document. */
  readonly blind?: Readonly<Record<number, readonly [from: number, to: number]>>;
  /** Minutes at which VMs, by number, discard a record. */
  readonly discards?: Readonly<Record<number, readonly number[]>>;
  /** How long it lasts. Default 7. */
  readonly hours?: number;
  /** From the moment at which a row is made to that at which it can be queried. Default 90. */
  readonly latencySeconds?: number;
}

/** Times of a VM, which count from the start of the scene. */
const moved = (vm: Partial<GroupVm>): Partial<GroupVm> =>
  Object.fromEntries(
    (['leavesAt', 'silentFrom', 'silentTo', 'losesStateAt'] as const).flatMap((key) => {
      const seconds = vm[key];
      return seconds === undefined ? [] : [[key, seconds + quietSeconds]];
    }),
  );

const blindIn = (span: readonly [number, number] | undefined) =>
  span && { blind: { from: sceneAt(span[0]), to: sceneAt(span[1]) } };

/** The rows of a scale set with a bridge on every VM, to which something happens. */
export function rowsOfScene(scene: Scene): Arriving {
  const { vms = 20, plays = [], witnessRate = 0, heartbeatMinutes = 60, latencySeconds = 90, hours = 7 } = scene;
  const lasts = quietSeconds + hours * hour;
  const group: Group = {
    name: 'web',
    witnessRate,
    vms: Array.from({ length: vms }, (_, number): GroupVm => {
      const own = scene.of?.[number] ?? {};
      return {
        name: `web_${number}`,
        scaleSet: 'web',
        faultDomain: String(number % 5),
        tags: { owner: 'web-team' },
        ...scene.traits,
        ...own,
        ...moved(own),
      };
    }),
    plays: plays.map((play) => ({ ...play, at: play.at + quietSeconds })),
  };
  const histories = playGroup(group, from, lasts);
  const heartbeats = histories.flatMap(({ vm, observer, records, streams }, number) =>
    heartbeatRows({
      observer,
      records,
      streamId: streams[0]?.streamId ?? '',
      bridgeVersion: '1.0.0',
      // Spread over the hour, as the bridge itself does it.
      from: new Date(from.getTime() + (60_000 * heartbeatMinutes * number) / vms),
      to: new Date(from.getTime() + 1000 * Math.min(vm.leavesAt ?? lasts, lasts)),
      everyMinutes: heartbeatMinutes,
      reportsStop: scene.reportsStop?.includes(number) ?? false,
      hubBehindMinutes: scene.hubBehind?.[number] ?? 0,
      expiredAt: (scene.discards?.[number] ?? []).map(sceneAt),
      ...blindIn(scene.blind?.[number]),
    }),
  );
  const records = histories.flatMap((history) => history.records.map(encodeRow));
  return {
    VmLifecycle_CL: arrivingAfter(latencySeconds, records),
    VmLifecycleBridge_CL: arrivingAfter(90, heartbeats),
    Heartbeat: [],
    DCRLogErrors: [],
  };
}

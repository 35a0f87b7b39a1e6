import { testRecord } from '../../../src/lifecycle/test-record.ts';
import { encodeRow, type Row } from '../../../src/sinks/log-analytics/encode.ts';
import { day, demoGroups, fleetSeconds } from './demo-groups.ts';
import { drawn, playGroup, type VmHistory } from './group-play.ts';
import { heartbeatRows } from './heartbeats.ts';

/** When the demo fleet is queried. */
export const fleetNow = new Date('2026-03-15T12:00:00Z');

const from = new Date(fleetNow.getTime() - 1000 * fleetSeconds);
const timeAt = (second: number): Date => new Date(from.getTime() + 1000 * second);

/** What goes wrong on the way to the table, by VM. */
const lostPosition: Readonly<Record<string, number>> = { web_9: 2 };
/** From the second day on its network was cut for three days: the service put the time of arrival in place of TimeGenerated. */
const cutOff: Readonly<Record<string, { readonly from: number; readonly to: number }>> = {
  api_11: { from: 1.9 * day, to: 4.9 * day },
};
const testedOn: readonly string[] = ['web_0', 'build-1'];

/** Read-only: all tests of a process are given the same rows. */
interface FleetRows {
  readonly VmLifecycle_CL: readonly Readonly<Row>[];
  readonly VmLifecycleBridge_CL: readonly Readonly<Row>[];
  readonly now: Date;
}

let made: FleetRows | undefined;

/** The rows of the demo fleet, generated once per process. */
export function fleetRows(): FleetRows {
  made ??= generateFleetRows();
  return made;
}

/**
 * Generates the rows of a fleet of about 130 VMs over 14 days, the same in every run: every record by the real decision and the real
 * encoder, every heartbeat by the real encoder. Some records arrive twice, some late, one never; two are tests.
 */
export function generateFleetRows(): FleetRows {
  const histories = demoGroups().flatMap((group) => playGroup(group, from, fleetSeconds));
  return {
    VmLifecycle_CL: byArrival(histories.flatMap(arrivals)),
    VmLifecycleBridge_CL: byArrival(histories.flatMap((history) => heartbeatsOf(history, heartbeatMinutes))),
    now: fleetNow,
  };
}

/** Four hours keep the tables small. */
const heartbeatMinutes = 240;

const byArrival = (rows: readonly Row[]): Row[] =>
  rows.toSorted((a, b) => Date.parse(String(a.TimeGenerated)) - Date.parse(String(b.TimeGenerated)));

/** The records of a VM as rows of the table. */
function arrivals({ vm, observer, records, state }: VmHistory): Row[] {
  const { name } = vm;
  const sent = records.filter(({ position }) => position !== lostPosition[name]).map(encodeRow);
  const rows = sent.map((row) => arrived(row, cutOff[name]));
  const again = rows.filter(({ RecordId }) => drawn(`again ${RecordId}`, 12) === 0);
  if (!testedOn.includes(name)) return [...rows, ...again];
  const at = timeAt(fleetSeconds - 600);
  const versions = { imdsApiVersion: '2020-07-01', bridgeVersion: vm.bridgeVersion ?? '1.0.0' };
  const test = testRecord(state, { unique: name, observer, at, ...versions });
  return [...rows, ...again, encodeRow(test.record)];
}

/** What is older than two days when it arrives gets the time of its arrival. */
function arrived(row: Row, cut: { readonly from: number; readonly to: number } | undefined): Row {
  const second = (Date.parse(String(row.ObservedAt)) - from.getTime()) / 1000;
  const isLate = cut !== undefined && second >= cut.from && cut.to - second > 2 * day;
  return isLate ? { ...row, TimeGenerated: timeAt(cut.to).toISOString() } : row;
}

/** A bridge that a command stopped says so; one whose VM is gone, or that fell silent, does not. */
const said = (name: string): boolean => name === 'shop_3';

function heartbeatsOf({ vm, observer, records, streams }: VmHistory, everyMinutes: number): Row[] {
  const end = Math.min(vm.leavesAt ?? Infinity, fleetSeconds);
  return streams.flatMap(({ streamId, from: began }, index) =>
    heartbeatRows({
      observer,
      records: records.filter((record) => record.streamId === streamId),
      streamId,
      bridgeVersion: vm.bridgeVersion ?? '1.0.0',
      from: timeAt(began + drawn(`heartbeat of ${vm.name}`, 60 * everyMinutes)),
      to: timeAt(streams[index + 1]?.from ?? end),
      everyMinutes,
      reportsStop: said(vm.name),
      configuration: vm.tags?.ring ?? '',
      ...(vm.clockOffsetSeconds === undefined ? {} : { clockOffsetSeconds: vm.clockOffsetSeconds }),
      ...(vm.name === 'web_9' ? { deadLetters: 1 } : {}),
      ...(vm.name === 'web_12' ? { pollFailureShare: 0.2 } : {}),
      ...(vm.name === 'web_20' ? { hubBehindMinutes: 180 } : {}),
    }),
  );
}

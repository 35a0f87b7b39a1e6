import { findScenario, type Scenario } from '../../../src/azure-simulator/scenarios/index.ts';
import { encodeRow, type Row } from '../../../src/sinks/log-analytics/encode.ts';
import { type GroupVm, observerOf, type Play, playGroup } from '../../support/fleet-rows/group-play.ts';
import { type BridgeHistory, heartbeatRows } from '../../support/fleet-rows/heartbeats.ts';
import type { GivenRow } from '../../tools/kql/index.ts';

/** A few VMs with a bridge, from an hour before noon of the first of March on. Minutes are those after noon. */
export interface Stage {
  /** By name. `web_0` is in the scale set `web`. */
  readonly vms: Readonly<Record<string, Partial<GroupVm> & Partial<Pick<BridgeHistory, OfBridge>>>>;
  readonly plays?: readonly Play[];
  readonly witnessRate?: number;
  readonly hosts?: readonly string[];
  /** When the query is asked. */
  readonly askedAt: number;
  /** Default 60. */
  readonly heartbeatMinutes?: number;
}
type OfBridge = 'blind' | 'deadLetters' | 'expiredAt' | 'hubBehindMinutes' | 'pollFailureShare' | 'reportsStop';

/** Rows by table, with every table that a query of the pack reads. */
export type Tables = Readonly<Record<TableName, readonly GivenRow[]>>;
export type TableName = 'VmLifecycle_CL' | 'VmLifecycleBridge_CL' | 'Heartbeat' | 'AzureActivity';

const from = new Date('2026-03-01T11:00:00Z');
const timeAt = (second: number): Date => new Date(from.getTime() + 1000 * second);

/** Seconds after the stage opens, as VMs and plays count them. */
export const seconds = (minutes: number): number => 60 * (60 + minutes);

/** ISO 8601. */
export const clock = (minutes: number): string => timeAt(seconds(minutes)).toISOString();

/** A scenario that begins this many minutes after noon. */
export function play(scenario: string | Scenario, minutes: number, ...on: readonly string[]): Play {
  const found = typeof scenario === 'string' ? findScenario(scenario) : scenario;
  if (found === undefined) throw new Error(`there is no scenario ${scenario}`);
  return { scenario: found, at: seconds(minutes), on };
}

/** Steps with a name. */
export const made = (name: string, ...steps: Scenario['steps']): Scenario => ({
  name,
  description: name,
  demoSpeed: 1,
  steps,
});

export function staged({ vms, plays = [], askedAt, heartbeatMinutes = 60, ...group }: Stage): Tables {
  const until = seconds(askedAt);
  const members = Object.entries(vms).map(([name, traits]) => ({ name, ...traits }));
  const histories = playGroup({ name: 'stage', vms: members, plays, ...group }, from, until);
  const heartbeats = histories.flatMap(({ vm, observer, records, streams }): Row[] => {
    const end = timeAt(Math.min(vm.leavesAt ?? until, until));
    const of = members.find(({ name }) => name === vm.name) ?? {};
    return heartbeatRows({
      ...of,
      observer,
      records,
      streamId: streams[0]?.streamId ?? '',
      bridgeVersion: vm.bridgeVersion ?? '1.0.0',
      from: timeAt(vm.joinsAt ?? 0),
      to: end,
      everyMinutes: heartbeatMinutes,
    });
  });
  return {
    VmLifecycle_CL: histories.flatMap(({ records }) => records.map(encodeRow)),
    VmLifecycleBridge_CL: heartbeats,
    Heartbeat: [],
    AzureActivity: [],
  };
}

/** As Azure's own tables spell it, in capitals here and there. */
const resourceIdOf = (vm: GroupVm): string => {
  const { resourceId } = observerOf(vm);
  return (resourceId ?? '')
    .replace('microsoft.compute', 'Microsoft.Compute')
    .replace('/virtualmachines/', '/virtualMachines/');
};

/** A heartbeat of the Azure Monitor agent of a VM. */
export const agentReports = (vm: string, minutes: number): GivenRow => ({
  TimeGenerated: clock(minutes),
  Computer: vm.replaceAll('_', '-'),
  ResourceProvider: 'Microsoft.Compute',
  _ResourceId: resourceIdOf({ name: vm }),
});

/** What Resource Health reports of a VM. `nested`: its properties one level deeper, as some activity logs have them. */
export const healthReports = (
  vm: string,
  minutes: number,
  given: { readonly status?: string; readonly cause?: string; readonly nested?: boolean } = {},
): GivenRow => {
  const { status = 'Unavailable', cause = 'PlatformInitiated', nested = false } = given;
  const properties = { title: 'Virtual machine is down', currentHealthStatus: status, cause };
  return {
    TimeGenerated: clock(minutes),
    CategoryValue: 'ResourceHealth',
    ActivityStatusValue: 'Active',
    CorrelationId: `outage of ${vm} at ${minutes}`,
    Properties: JSON.stringify(nested ? { eventProperties: properties } : properties),
    _ResourceId: resourceIdOf({ name: vm }),
  };
};

/** A request in the activity log: for a VM, or for the scale set of one. */
export const requested = (
  operation: string,
  minutes: number,
  caller: string,
  given: { readonly vm: string; readonly ofItsSet?: boolean; readonly status?: string },
): GivenRow => {
  const id = resourceIdOf({ name: given.vm });
  return {
    TimeGenerated: clock(minutes),
    CategoryValue: 'Administrative',
    ActivityStatusValue: given.status ?? 'Start',
    OperationNameValue: operation.toUpperCase(),
    Caller: caller,
    CallerIpAddress: '203.0.113.7',
    _ResourceId: given.ofItsSet ? id.slice(0, id.lastIndexOf('/virtualMachines/')) : id,
  };
};

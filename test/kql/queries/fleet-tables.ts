import { fleetRows } from '../../support/fleet-rows/demo-fleet.ts';
import { drawn } from '../../support/fleet-rows/group-play.ts';
import type { GivenRow } from '../../tools/kql/index.ts';
import type { Tables } from './stage.ts';

const fleet = fleetRows();

/** When the fleet is queried. */
export const fleetNow = fleet.now.toISOString();

const idOf = (vm: string): string => {
  const row = fleet.VmLifecycleBridge_CL.find(({ VmName }) => VmName === vm);
  if (row === undefined) throw new Error(`the demo fleet has no VM ${vm}`);
  return String(row.ResourceId).replace('/virtualmachines/', '/virtualMachines/');
};

/** A record in six takes a minute, all others a few seconds. */
const arriving = (row: GivenRow): GivenRow => {
  const seconds = drawn(`delay of ${row.RecordId}`, 6) === 0 ? 60 : 2 + drawn(`way of ${row.RecordId}`, 6);
  return { ...row, 'ingestion_time()': new Date(Date.parse(String(row.TimeGenerated)) + 1000 * seconds).toISOString() };
};

const agents = ['web_0', 'sql-1', 'shop_8'].map((vm) => ({
  TimeGenerated: '2026-03-15T11:59:00.000Z',
  Computer: vm.replaceAll('_', '-'),
  ResourceProvider: 'Microsoft.Compute',
  _ResourceId: idOf(vm),
}));

const withoutBridge = {
  ...agents[1],
  Computer: 'legacy-1',
  _ResourceId: idOf('sql-1').replace('sql-1', 'legacy-1'),
};

const outage = (vm: string, at: string, cause: string): GivenRow => ({
  TimeGenerated: at,
  CategoryValue: 'ResourceHealth',
  ActivityStatusValue: 'Active',
  CorrelationId: `${vm} ${at}`,
  Properties: JSON.stringify({ title: 'Virtual machine is down', currentHealthStatus: 'Unavailable', cause }),
  _ResourceId: idOf(vm),
});

const request = (vm: string, at: string, operation: string): GivenRow => ({
  TimeGenerated: at,
  CategoryValue: 'Administrative',
  ActivityStatusValue: 'Start',
  OperationNameValue: `MICROSOFT.COMPUTE/VIRTUALMACHINES/${operation}/ACTION`,
  Caller: 'mary@contoso.com',
  _ResourceId: idOf(vm),
});

/** The demo fleet, with what Azure's own tables contain of a few of its VMs. */
export const fleetTables: Tables = {
  VmLifecycle_CL: fleet.VmLifecycle_CL.map(arriving),
  VmLifecycleBridge_CL: fleet.VmLifecycleBridge_CL,
  Heartbeat: [...agents, withoutBridge],
  AzureActivity: [
    outage('train_4', '2026-03-08T15:00:20.000Z', 'PlatformInitiated'),
    outage('web_3', '2026-03-07T21:15:50.000Z', 'PlatformInitiated'),
    outage('sql-2', '2026-03-10T12:15:30.000Z', 'UserInitiated'),
    request('sql-2', '2026-03-10T11:59:00.000Z', 'RESTART'),
    request('build-2', '2026-03-15T11:53:30.000Z', 'RESTART'),
  ],
};

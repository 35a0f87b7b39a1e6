import { healthReports, play, requested, seconds } from '../stage.ts';
import { adding, type QueryCase } from './case.ts';

const two = { web_0: {}, web_1: {} };
const alone = { 'sql-1': { scaleSet: null, sees: 'own' } } as const;

export const outageCases: readonly QueryCase[] = [
  {
    query: 'outages-with-warning',
    of: 'a VM that was rebooted as announced, and one that went down with no word',
    stage: { vms: two, plays: [play('reboot', 0, 'web_0')], askedAt: 60 },
    change: adding({
      AzureActivity: [
        healthReports('web_0', 15.5),
        healthReports('web_1', 30, { cause: 'UserInitiated', nested: true }),
      ],
    }),
    show: ['OutageAt', 'VmName', 'Cause', 'HadWarning', 'EventType', 'WarnedMinutesBefore'],
    rows: [
      '12:30:00 | web_1 | UserInitiated | false | - | -',
      '12:15:30 | web_0 | PlatformInitiated | true | Reboot | 15.5',
    ],
  },
  {
    query: 'outages-with-warning',
    of: 'a host that failed hours after its migration had been called off',
    stage: { vms: two, plays: [play('canceled', 0, 'web_0')], askedAt: 240 },
    change: adding({ AzureActivity: [healthReports('web_0', 180)] }),
    show: ['OutageAt', 'HadWarning'],
    rows: ['15:00:00 | false'],
  },
  {
    query: 'outages-with-warning',
    of: 'an outage ten days after a freeze, whose end its bridge saw only then',
    stage: {
      vms: { web_0: { silentFrom: seconds(16), silentTo: seconds(14400) } },
      plays: [play('freeze', 0, 'web_0')],
      askedAt: 14460,
      heartbeatMinutes: 1440,
    },
    change: adding({ AzureActivity: [healthReports('web_0', 14390)] }),
    show: ['OutageAt', 'HadWarning'],
    rows: ['03-11 11:50:00 | false'],
  },
  {
    query: 'outages-with-warning',
    of: 'a VM that is well again',
    stage: { vms: two, plays: [play('reboot', 0, 'web_0')], askedAt: 60 },
    change: adding({ AzureActivity: [healthReports('web_0', 20, { status: 'Available' })] }),
    show: ['OutageAt'],
    rows: [],
  },
  {
    query: 'warned-share-by-cause',
    of: 'two outages by the platform, one of them announced, and one by a user',
    stage: { vms: two, plays: [play('reboot', 0, 'web_0')], askedAt: 120 },
    change: adding({
      AzureActivity: [
        healthReports('web_0', 15.5),
        healthReports('web_1', 90),
        healthReports('web_1', 30, { cause: 'UserInitiated', nested: true }),
      ],
    }),
    show: ['Cause', 'Outages', 'Warned', 'WarnedPercent'],
    rows: ['PlatformInitiated | 2 | 1 | 50', 'UserInitiated | 1 | 0 | 0'],
  },
  {
    query: 'warned-share-by-cause',
    of: 'a reboot without an entry in Resource Health',
    stage: { vms: two, plays: [play('reboot', 0, 'web_0')], askedAt: 60 },
    show: ['Cause'],
    rows: [],
  },
  {
    query: 'who-asked-for-it',
    of: 'a restart that a user requested, long after two other requests',
    stage: { vms: alone, plays: [play('user-reboot', 0, 'sql-1')], askedAt: 60 },
    change: adding({
      AzureActivity: [
        requested('Microsoft.Compute/virtualMachines/deallocate/action', -50, 'too-early@contoso.com', { vm: 'sql-1' }),
        requested('Microsoft.Compute/virtualMachines/restart/action', -2, 'mary@contoso.com', { vm: 'sql-1' }),
        requested('Microsoft.Compute/virtualMachines/restart/action', -1, 'another-vm@contoso.com', { vm: 'sql-2' }),
        requested('Microsoft.Authorization/locks/write', -1, 'another-thing@contoso.com', { vm: 'sql-1' }),
      ],
    }),
    show: ['FirstSeenAt', 'VmName', 'EventType', 'Caller', 'RequestedAt'],
    rows: ['12:00:00 | sql-1 | Reboot | mary@contoso.com | 11:58:00'],
  },
  {
    query: 'who-asked-for-it',
    of: 'a deletion requested for the scale set, and one without a known requester',
    stage: { vms: two, plays: [play('terminate', 0, 'web_0'), play('terminate', 40, 'web_1')], askedAt: 60 },
    change: adding({
      AzureActivity: [
        requested('Microsoft.Compute/virtualMachineScaleSets/delete/action', -5, 'autoscale', {
          vm: 'web_0',
          ofItsSet: true,
        }),
      ],
    }),
    show: ['VmName', 'EventType', 'Caller', 'RequestedAt'],
    rows: ['web_1 | Terminate | - | -', 'web_0 | Terminate | autoscale | 11:55:00'],
  },
  {
    query: 'who-asked-for-it',
    of: 'a freeze by the platform while a user restarts the VM',
    stage: { vms: alone, plays: [play('freeze', 0, 'sql-1')], askedAt: 60 },
    change: adding({
      AzureActivity: [
        requested('Microsoft.Compute/virtualMachines/restart/action', -2, 'mary@contoso.com', { vm: 'sql-1' }),
      ],
    }),
    show: ['Caller'],
    rows: [],
  },
];

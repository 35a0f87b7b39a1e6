import { expect, test } from 'vitest';
import { readAlertsText } from '../../infra/costs-alerts.ts';
import { assumptions, valuesOf } from '../../infra/costs-model.ts';
import { alertReadsIn, readPerDay } from '../../infra/costs-reads.ts';
import { sampleRows } from '../../infra/costs-sizes.ts';

/** Values of round lengths: 20 bytes of time, 10 of id, 7 of state. */
const rows = {
  VmLifecycle_CL: { TimeGenerated: 'x'.repeat(20), VmId: 'x'.repeat(10), Phase: 'x'.repeat(9) },
  VmLifecycleBridge_CL: {
    TimeGenerated: 'x'.repeat(20),
    VmId: 'x'.repeat(10),
    State: 'running',
    Sinks: 'x'.repeat(963),
  },
  Heartbeat: { TimeGenerated: 'x'.repeat(20), _ResourceId: 'x'.repeat(180) },
};
const assumed = { ...valuesOf(assumptions), heartbeatMinutes: 60, agentHeartbeatMinutes: 1 };
const fleet = { vms: 1000, recordsPerMinute: 2, assumed };

const rule = (query: string, evaluationFrequency = 'PT1H'): string =>
  JSON.stringify({ logAlerts: [{ name: 'A', enabled: true, evaluationFrequency, query }] });

test.for([
  {
    name: 'heartbeats of six hours, each hour',
    yaml: rule(
      'VmLifecycleBridge_CL\n| where TimeGenerated > ago(6h)\n| summarize arg_max(TimeGenerated, State) by VmId',
    ),
    // 1,000 an hour, 6 hours, 24 times; 37 bytes.
    read: { rows: 144_000, gigabytes: 0.005328 },
  },
  {
    name: 'all columns of heartbeats',
    yaml: rule('VmLifecycleBridge_CL\n| where TimeGenerated > ago(6h)\n| summarize arg_max(TimeGenerated, *) by VmId'),
    read: { rows: 144_000, gigabytes: 0.144 },
  },
  {
    name: 'records of two days, every 5 minutes',
    yaml: rule("VmLifecycle_CL\n| where TimeGenerated > ago(2d)\n| where Phase == 'Sinks'", 'PT5M'),
    // 2 a minute, 2,880 minutes, 288 times; 29 bytes.
    read: { rows: 1_658_880, gigabytes: 0.04810752 },
  },
  {
    name: 'half an hour of the agent',
    yaml: rule('Heartbeat\n| where TimeGenerated > ago(30m)\n| distinct _ResourceId'),
    // 1,000 a minute, 30 minutes, 24 times; 200 bytes.
    read: { rows: 720_000, gigabytes: 0.144 },
  },
  {
    name: 'the function, which reads both tables',
    yaml: rule('VmEventStates(ago(2d), ago(6h))\n| where IsOpen'),
    // 2 a minute of 2 days, and 1,000 an hour of 6 hours, 24 times.
    read: { rows: 138_240 + 144_000, gigabytes: expect.any(Number) },
  },
])('a day of $name is counted', ({ yaml, read }) => {
  const [alert] = alertReadsIn(yaml, rows);
  if (alert === undefined) throw new Error('nothing is read');
  const found = readPerDay(alert, rows, fleet);
  expect({ ...found, gigabytes: Number(found.gigabytes.toFixed(9)) }).toEqual(read);
});

test.for([
  'VmLifecycle_CL\n| count',
  'VmBridgeCoverage(14d)\n| count',
  'VmLifecycleBridge_CL\n| where TimeGenerated > ago(6h)\n| join kind = inner (VmLifecycle_CL) on VmId',
])('a query without a time range is refused: %s', (query) => {
  expect(() => alertReadsIn(rule(query), rows)).toThrow(/^A in alerts\.yaml reads a table without/);
});

test('no alert reads weeks, and none that runs more often than hourly reads more than six hours of heartbeats', () => {
  const alerts = alertReadsIn(readAlertsText(), sampleRows());
  expect(alerts.length).toBeGreaterThan(10);
  const limit = (table: string, everyMinutes: number): number => {
    if (table === 'Heartbeat') return 30;
    return table === 'VmLifecycleBridge_CL' && everyMinutes < 60 ? 360 : 2880;
  };
  const wide = alerts.flatMap(({ name, everyMinutes, reads }) =>
    reads
      .filter(({ table, minutesBack }) => minutesBack > limit(table, everyMinutes))
      .map(({ table }) => `${name} ${table}`),
  );
  expect(wide).toEqual([]);
});

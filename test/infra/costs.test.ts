import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { costTables, printCosts } from '../../infra/costs.ts';
import { alertRulesIn, readAlertsText } from '../../infra/costs-alerts.ts';
import { type AlertRule, assumptions, estimate, limits, prices, valuesOf } from '../../infra/costs-model.ts';
import { billedBytes, measureSizes, type Sizes } from '../../infra/costs-sizes.ts';
import { root } from '../support/source-tree.ts';

const tablesInReadme = /(<!-- costs -->\n)([\s\S]*?)(\n<!-- \/costs -->)/;

/** `UPDATE=1 npm run test:unit -- test/infra/costs.test.ts` regenerates the tables. */
test('the costs in infra/costs.md are those that the script computes now', () => {
  const file = join(root, 'infra/costs.md');
  const readme = readFileSync(file, 'utf8');
  const [, , shown] = tablesInReadme.exec(readme) ?? [];
  expect(shown, 'infra/costs.md holds <!-- costs --> and <!-- /costs -->').toBeDefined();
  const tables = costTables({ alerts: readAlertsText() });
  if (process.env.UPDATE)
    writeFileSync(
      file,
      readme.replace(tablesInReadme, (_, begin, __, end) => begin + tables + end),
    );
  else expect(shown).toBe(tables);
});

test.for([
  { name: 'a text by its bytes', row: { a: 'äb' }, bytes: 3 },
  { name: 'a number and a flag by their text', row: { a: 12.5, b: true }, bytes: 8 },
  { name: 'null as nothing', row: { a: null, b: '' }, bytes: 0 },
  { name: 'a list and an object by their JSON', row: { a: ['x'], b: { c: 1 } }, bytes: 12 },
  { name: 'no name of a column', row: { aVeryLongName: 'x' }, bytes: 1 },
])('a row is billed by its values: $name', ({ row, bytes }) => {
  expect(billedBytes(row)).toBe(bytes);
});

test('sizes are measured with the encoders: a message holds more than a row, and a row more than what is billed', () => {
  const { record, heartbeat } = measureSizes();
  expect(record.message).toBeGreaterThan(record.row);
  expect(record.row).toBeGreaterThan(record.billed);
  expect(heartbeat.row).toBeGreaterThan(heartbeat.billed);
  expect(heartbeat.billed).toBeGreaterThan(300);
  expect(record.billed).toBeGreaterThan(1000);
  expect(record.message).toBeLessThan(64 * 1024);
});

/** Round figures, so that the results can be calculated mentally. */
const sizes: Sizes = {
  record: { message: 3000, row: 2000, billed: 1000 },
  heartbeat: { row: 1000, billed: 1000 },
};
const assumed = {
  ...valuesOf(assumptions),
  eventsPerVmMonth: 2,
  recordsPerEvent: 5,
  heartbeatMinutes: 60,
  busyShare: 0.1,
};
const price = { ...valuesOf(prices), logsPerGb: 2, throughputUnitHour: 0.01, ingressPerMillion: 1 };

test('records, heartbeats and money of a fleet follow from its size', () => {
  const { dollars, ...one } = estimate(100_000, sizes, [5, 'metric'], assumed, price);
  expect(one).toMatchObject({ recordsPerMonth: 1_000_000, recordGb: 1, throughputUnits: 2, shards: 2 });
  // 100,000 an hour, 24 hours, 30.4 days, 1,000 bytes each.
  expect(one.heartbeatGb).toBeCloseTo(72.96);
  expect(one.keptGb).toBeCloseTo((73.96 * 365) / 30.4);
  expect(one.heartbeatRequestsPerMinute).toBeCloseTo(1666.67, 1);
  expect(one.busy.requestsPerMinute).toBeCloseTo(11_666.67, 1);
  expect(one.busy.connections).toBe(10_000);
  expect(dollars.ingestion).toBeCloseTo(147.92);
  expect(dollars.eventHubs).toBeCloseTo(2 * 0.01 * 729.6 + 1);
  // 59 days to read beyond the 31 that are free, and 275 more.
  expect(dollars.retention).toBeCloseTo((73.96 * (59 * 0.1 + 275 * 0.02)) / 30.4);
  expect(dollars.alerts).toBeCloseTo(1.6);
  expect(dollars.total).toBeCloseTo(dollars.ingestion + dollars.retention + dollars.eventHubs + dollars.alerts);
});

const cases: readonly {
  name: string;
  vms: number;
  changes?: Partial<typeof assumed>;
  expected: Partial<ReturnType<typeof estimate>>;
}[] = [
  { name: 'a small fleet takes one shard of one unit', vms: 10, expected: { shards: 1, throughputUnits: 1 } },
  {
    name: 'without heartbeats none is charged',
    vms: 1000,
    changes: { heartbeatMinutes: 0 },
    expected: { heartbeatGb: 0 },
  },
  { name: 'a namespace is full at 5,000 connections', vms: 50_000, expected: { shards: 1 } },
  { name: 'and one more VM needs a second one', vms: 50_010, expected: { shards: 2 } },
  {
    name: 'a heartbeat every 5 minutes is more than a rule takes at 100,000 VMs',
    vms: 100_000,
    changes: { heartbeatMinutes: 5, busyShare: 0.01 },
    expected: { shards: 2 },
  },
  {
    name: 'when all VMs observe an event at once, bytes determine the units',
    vms: 30_000,
    changes: { busyShare: 1, heartbeatMinutes: 0 },
    // 500 messages a second of 3,000 bytes in 6 namespaces.
    expected: { shards: 6, throughputUnits: 6 },
  },
  {
    name: 'when every VM of a group reports the others, records come a hundred times',
    vms: 1000,
    changes: { witnessRate: 1 },
    expected: { recordsPerMonth: 1_000_000 },
  },
  {
    name: 'nothing is paid for long-term retention where all of it is readable',
    vms: 1000,
    changes: { retentionDays: 31, totalRetentionDays: 31 },
    expected: { dollars: expect.objectContaining({ retention: 0 }) },
  },
];

test.for(cases)('costs: $name', ({ vms, changes, expected }) => {
  expect(estimate(vms, sizes, [], { ...assumed, ...changes }, price)).toMatchObject(expected);
});

test('units are counted in every shard, as many as the fullest direction of one takes', () => {
  const big = { ...sizes, record: { ...sizes.record, message: 60_000 } };
  const { shards, throughputUnits } = estimate(50_000, big, [], { ...assumed, heartbeatMinutes: 0 }, price);
  // 5,000 messages in a minute, 83 a second, 5 MB a second.
  expect({ shards, throughputUnits }).toEqual({ shards: 1, throughputUnits: 5 });
  expect(limits.bytesPerSecondPerUnit).toBe(1_000_000);
});

test.for([
  [1, 3],
  [5, 1.5],
  [10, 1],
  [15, 0.5],
  [60, 0.5],
  ['near-real-time', 3],
  ['metric', 0.1],
] as const)(
  'an alert rule of %s is priced by how often it is evaluated',
  ([rule, dollars]: readonly [AlertRule, number]) => {
    expect(estimate(1, sizes, [rule], assumed, valuesOf(prices)).dollars.alerts).toBe(dollars);
  },
);

test.for([
  {
    name: 'a query by its interval',
    yaml: 'logAlerts: [{ evaluationFrequency: PT5M }, { evaluationFrequency: PT1H }]',
    rules: [5, 60],
  },
  { name: 'a query once a day', yaml: 'logAlerts: [{ enabled: true, evaluationFrequency: P1D }]', rules: [1440] },
  { name: 'a rule over rows by none', yaml: 'rowAlerts: [{ name: A1 }]', rules: ['near-real-time'] },
  {
    name: 'a rule over a metric',
    yaml: 'metricAlerts: [{ metricName: x, evaluationFrequency: PT1M }]',
    rules: ['metric'],
  },
  { name: 'nothing for a rule over the activity log', yaml: 'activityAlerts: [{ operationName: x }]', rules: [] },
  {
    name: 'nothing for a rule that is off',
    yaml: 'rowAlerts: [{ name: A1, enabled: false }]\nlogAlerts: []',
    rules: [],
  },
])('alert rules are priced from their file: $name', ({ yaml, rules }) => {
  expect(alertRulesIn(yaml)).toEqual(rules);
});

test('an interval that is no duration is refused by name', () => {
  expect(() => alertRulesIn('logAlerts: [{ evaluationFrequency: PT5S }]')).toThrow(
    /^PT5S in alerts\.yaml is no duration/,
  );
});

function run(...args: string[]) {
  const result = { code: -1, out: '', err: '' };
  result.code = printCosts(args, {
    print(text) {
      result.out += text;
    },
    say(text) {
      result.err += text;
    },
  });
  return result;
}

test('other fleets and prices are estimated on request', () => {
  const { code, out, err } = run('--vms', '2500', '--set', 'logsPerGb=2.76', '--set', 'heartbeatMinutes=15');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain('| 2,500 VMs |');
  expect(out).toContain('| `logsPerGb` | 2.76 |');
  expect(out).toContain('a heartbeat every 15 min | ');
  expect(out).not.toContain('10,000 VMs');
});

test.for([
  { name: 'an unknown figure', args: ['--set', 'gold=1'], message: /names: eventsPerVmMonth, .*logsPerGb/ },
  {
    name: 'a price that is no number',
    args: ['--set', 'logsPerGb=cheap'],
    message: /a number from 0 on for logsPerGb/,
  },
  { name: 'a fleet of no VM', args: ['--vms', '0'], message: /whole numbers above 0/ },
  { name: 'an empty list of fleets', args: ['--vms', '10,,20'], message: /whole numbers above 0/ },
  { name: 'a misspelt option', args: ['--vm', '10'], message: /'--vm' .*--vms/ },
])('costs refuses $name in one line', ({ args, message }) => {
  const { code, out, err } = run(...args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(message);
  expect(err.trimEnd().split('\n')).toHaveLength(1);
});

test('the help of costs shows an example and the exit codes', () => {
  const { code, out } = run('--help');
  expect(code).toBe(0);
  for (const word of ['--vms', '--set', 'npm run', '\n  0 ', '\n  2 ']) expect(out).toContain(word);
});

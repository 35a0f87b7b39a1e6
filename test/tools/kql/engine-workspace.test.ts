import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openKql, storedFunction } from './index.ts';

const now = '2026-08-01T12:00:00Z';
const kql = openKql();

const reboot = {
  EventId: 'e-1',
  EventType: 'Reboot',
  ObservedAt: '2026-08-01T11:00:00.000Z',
  AffectedResources: ['vm-1', 'vm-2'],
  NoticeSeconds: 899.5,
  ObserverAffected: true,
};

test('a query of the shipped tables binds without a word, with the columns it gives', () => {
  expect(kql.bind('VmLifecycle_CL | summarize Latest = max(ObservedAt) by EventType')).toEqual({
    diagnostics: [],
    columns: [
      { name: 'EventType', type: 'string' },
      { name: 'Latest', type: 'datetime' },
    ],
  });
});

test.each([
  { fault: 'a renamed column', query: 'VmLifecycle_CL | project EvntType', code: 'KS142' },
  { fault: 'a table that is not there', query: 'VmLifecycle | take 1', code: 'KS204' },
  {
    fault: 'a join of a kind that is not there',
    query: 'VmLifecycle_CL | join kind=innr Heartbeat on Computer',
    code: 'KS005',
  },
  { fault: 'a text that is added to', query: 'VmLifecycle_CL | extend n = EventType + 1', code: 'KS106' },
  { fault: 'a function that is not there', query: 'VmLifecycle_CL | where isnul(EventType)', code: 'KS211' },
])('$fault is reported by the language service', ({ query, code }) => {
  expect(kql.bind(query).diagnostics.map((each) => each.code)).toContain(code);
});

test.each(['Heartbeat', 'AzureActivity', 'AzureMetrics', 'DCRLogErrors', 'VmLifecycleBridge_CL'])(
  '%s is a table of the workspace',
  (table) => {
    const { diagnostics, columns } = kql.bind(`${table} | where TimeGenerated > ago(1d)`);
    expect(diagnostics).toEqual([]);
    expect(columns.length).toBeGreaterThan(5);
  },
);

test('a query runs over the given rows, with times and arrays as they are on the wire', () => {
  const answer = kql.execute(
    'VmLifecycle_CL | where ObserverAffected and ObservedAt > ago(2h) | mv-expand Vm = AffectedResources to typeof(string) | project EventId, Vm, NoticeSeconds, Zone',
    { tables: { VmLifecycle_CL: [reboot] }, now },
  );
  expect(answer.rows).toEqual([
    ['e-1', 'vm-1', 899.5, ''],
    ['e-1', 'vm-2', 899.5, ''],
  ]);
});

test.each([
  {
    name: 'a column that the table has not',
    row: { EvntType: 'Reboot' },
    message: 'VmLifecycle_CL has no column EvntType',
  },
  {
    name: 'a text where a number belongs',
    row: { Sequence: '1' },
    message: '"1" is not a value of type int',
  },
  {
    name: 'an invalid date',
    row: { ObservedAt: 'soon' },
    message: '"soon" is not a value of type datetime',
  },
])('rows with $name are refused', ({ row, message }) => {
  expect(() => kql.execute('VmLifecycle_CL', { tables: { VmLifecycle_CL: [row] }, now })).toThrow(message);
});

test('the moment of arrival is known as long as a row is that of its table', () => {
  const tables = { VmLifecycle_CL: [{ ...reboot, 'ingestion_time()': '2026-08-01T11:00:05Z' }] };
  const latency = 'VmLifecycle_CL | extend Late = ingestion_time() - ObservedAt';
  expect(kql.execute(`${latency} | project Late`, { tables, now }).rows).toEqual([['00:00:05']]);
  expect(kql.execute('VmLifecycle_CL', { tables, now }).columns.map(({ name }) => name)).not.toContain(
    'ingestion_time()',
  );
  const joined = 'VmLifecycle_CL | join kind=inner VmLifecycle_CL on EventId | extend Late = ingestion_time()';
  expect(() => kql.execute(joined, { tables, now })).toThrow(/no longer those of a table/);
});

test('rows are read once for many queries', () => {
  const given = [reboot];
  const tables = kql.load({ VmLifecycle_CL: given });
  given.pop();
  const counts = ['VmLifecycle_CL | count', 'VmLifecycle_CL | summarize count()'].map((query) =>
    kql.execute(query, { tables, now }).rows.flat(),
  );
  expect(counts).toEqual([[1], [1]]);
});

test('an unknown table is refused', () => {
  expect(() => kql.load({ Nothing_CL: [] })).toThrow('there is no table Nothing_CL in the workspace');
});

test('a stored function takes parameters from its first line, with defaults, and calls another', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kql-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, 'VmRecent.kql'),
    '// params: (Lookback:timespan=1h)\nVmAll\n| where ObservedAt > ago(Lookback)\n',
  );
  writeFileSync(
    join(folder, 'VmAll.kql'),
    'let kept = (isTest: bool) { isTest != true };\nVmLifecycle_CL | where kept(IsTest)\n',
  );
  const stored = openKql({ functionsFrom: [folder] });
  const tables = { VmLifecycle_CL: [reboot, { ...reboot, EventId: 'e-2', ObservedAt: '2026-08-01T08:00:00Z' }] };
  const idsOf = (query: string) => stored.execute(`${query} | project EventId`, { tables, now }).rows.flat();
  expect(stored.bind('VmRecent()').diagnostics).toEqual([]);
  expect(idsOf('VmRecent(Lookback=2h)')).toEqual(['e-1']);
  expect(idsOf('VmRecent(6h) | sort by EventId desc')).toEqual(['e-2', 'e-1']);
  expect(idsOf('VmRecent()')).toEqual([]);
});

test('a fault in the body of a stored function is reported at the call', () => {
  const faulty = openKql({ functions: [storedFunction('VmBad', 'VmLifecycle_CL | where EvntType == "x"')] });
  expect(faulty.bind('VmBad()').diagnostics.map(({ severity }) => severity)).toContain('Error');
});

test.each([
  { given: 'a text', call: `VmSince('2h')`, message: 'The parameter Lookback is timespan, and is given a string.' },
  {
    given: 'a number',
    call: 'VmSince(Lookback=2)',
    message: 'The parameter Lookback is timespan, and is given a long.',
  },
])(
  '$given for a timespan of a stored function is reported, though the language service accepts it',
  ({ call, message }) => {
    const body = '// params: (Lookback:timespan=1h)\nVmLifecycle_CL | where ObservedAt > ago(Lookback)';
    const stored = openKql({ functions: [storedFunction('VmSince', body)] });
    expect(stored.bind(call).diagnostics.map((diagnostic) => diagnostic.message)).toEqual([message]);
    expect(stored.bind('VmSince(2h)').diagnostics).toEqual([]);
  },
);

test('a query is formatted as Microsoft formats it, and formatting it again changes nothing', () => {
  const formatted = kql.format('VmLifecycle_CL|where EventType=="Reboot"|summarize count() by EventType');
  expect(formatted).toBe('VmLifecycle_CL | where EventType == "Reboot" | summarize count() by EventType');
  expect(kql.format(formatted)).toBe(formatted);
});

test('the analyzers name an expensive search', () => {
  expect(kql.analyze('VmLifecycle_CL | where EventType contains "Reboot"').map(({ code }) => code)).toContain('KS500');
});

test('a stored function is evaluated again for another argument, another time and other rows, and not confused with one declared in a query', () => {
  const functions = [
    storedFunction(
      'Since',
      '// params: (Lookback:timespan=1h)\nVmLifecycle_CL | where ObservedAt > ago(Lookback) | count',
    ),
    storedFunction(
      'Twice',
      '// params: (Lookback:timespan=1h)\nSince(Lookback) | extend n = toscalar(Since(2 * Lookback))',
    ),
  ];
  const workspace = openKql({ functions });
  const tables = workspace.load({
    VmLifecycle_CL: [reboot, { ...reboot, ObservedAt: '2026-08-01T09:30:00.000Z' }],
  });
  const ask = (query: string, at = now, given = tables) => workspace.execute(query, { tables: given, now: at }).rows;
  expect(ask('Since(30m)')).toEqual([[0]]);
  expect(ask('Since(2h)')).toEqual([[1]]);
  expect(ask('Since(3h)')).toEqual([[2]]);
  expect(ask('Twice(90m)')).toEqual([[1, 2]]);
  expect(ask('Since(2h)', '2026-08-01T11:15:00Z')).toEqual([[2]]);
  expect(
    ask(
      'Since(3h)',
      now,
      workspace.select(tables, (table, place) => table === 'VmLifecycle_CL' && place === 1),
    ),
  ).toEqual([[1]]);
  expect(ask('let Since = (Lookback:timespan) { print Count = 7 }; Since(3h)')).toEqual([[7]]);
});

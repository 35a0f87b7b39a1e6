import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { phases } from '../../../src/lifecycle/record.ts';
import { columnOf, encodeRow } from '../../../src/sinks/log-analytics/encode.ts';
import { sampleEntry, sampleRecord } from '../../support/sample-record.ts';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}
const file = new URL('../../../bicep/schema/columns.json', import.meta.url);
const tables: Record<string, readonly Column[]> = JSON.parse(readFileSync(file, 'utf8')).tables;
const lifecycle = tables.VmLifecycle_CL ?? [];

test('the columns of the lifecycle table are those that the encoder fills, in its order', () => {
  expect(lifecycle.map(({ name }) => name)).toEqual(Object.keys(encodeRow(sampleRecord())));
});

test('every field of a record has a column: its name in PascalCase, except the duration', () => {
  const fields = Object.keys(sampleRecord());
  expect(Object.keys(columnOf).sort()).toEqual([...fields].sort());
  for (const [field, column] of Object.entries(columnOf)) {
    const pascal = field.charAt(0).toUpperCase() + field.slice(1);
    expect(column).toBe(field === 'durationSeconds' ? 'DurationInSeconds' : pascal);
  }
});

const fits: Record<string, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  int: (value) => Number.isInteger(value),
  long: (value) => Number.isInteger(value),
  real: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  dateTime: (value) => typeof value === 'string' && new Date(value).toISOString() === value,
  dynamic: (value) => typeof value === 'object' && value !== null,
};

test('every value of a row is of the type that its column declares', () => {
  const row = encodeRow(sampleRecord());
  for (const { name, type } of lifecycle) {
    expect(fits[type]?.(row[name]), `${name} is ${JSON.stringify(row[name])}, declared ${type}`).toBe(true);
  }
});

test('fractions are kept only where the column holds them', () => {
  const real = lifecycle.filter(({ type }) => type === 'real').map(({ name }) => name);
  expect(real).toEqual(['NoticeSeconds', 'StartedSeconds', 'ObservedOutageSeconds']);
});

const reserved = ['_ResourceId', 'id', '_SubscriptionId', 'TenantId', 'Type', 'UniqueId', 'Title'];

for (const [table, columns] of Object.entries(tables)) {
  test(`Log Analytics accepts every column name of ${table}, and each has a description`, () => {
    const names = columns.map(({ name }) => name);
    expect(names[0]).toBe('TimeGenerated');
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
    for (const { name, type, description } of columns) {
      expect(name).toMatch(/^[A-Za-z][A-Za-z0-9_]{0,44}$/);
      expect(reserved.map((word) => word.toLowerCase())).not.toContain(name.toLowerCase());
      expect(Object.keys(fits)).toContain(type);
      expect(description.length).toBeGreaterThan(5);
    }
  });
}

test('the bridge table has the columns that show that a bridge runs and that nothing is missing', () => {
  const names = (tables.VmLifecycleBridge_CL ?? []).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['VmId', 'StreamId', 'LastPosition', 'Sinks', 'State', 'IsTest']));
});

test('a field over 64 KB is cut by us and shows it, since the service cuts without a word', () => {
  const row = encodeRow(sampleRecord({ description: 'ä'.repeat(40_000), rawEvent: { Note: 'x'.repeat(70_000) } }));
  expect(Buffer.byteLength(String(row.Description))).toBeLessThanOrEqual(64 * 1024);
  expect(row.Description).toMatch(/…$/);
  expect(Buffer.byteLength(JSON.stringify(row.RawEvent))).toBeLessThanOrEqual(64 * 1024);
});

test('an unknown value stays null in a row', () => {
  expect(encodeRow(sampleRecord({ zone: null, notBefore: null }))).toMatchObject({ Zone: null, NotBefore: null });
});

test('a row is less than 50 bytes longer than its record: a batch within the limits of the sink is not measured', () => {
  const entries = phases.flatMap((phase) => [
    sampleEntry({ phase }),
    sampleEntry({ phase, description: 'ä"\n\u2028'.repeat(500), rawEvent: { Note: 'x'.repeat(9_000) } }),
    sampleEntry({ phase, observedAt: '2026-03-04T12:00:00.000Z', tags: {}, rawEvent: {}, durationSeconds: -1 }),
  ]);
  for (const entry of entries) {
    const rowAndComma = Buffer.byteLength(JSON.stringify(encodeRow(entry.record))) + 1;
    expect(rowAndComma - entry.json.length).toBeLessThan(50);
  }
});

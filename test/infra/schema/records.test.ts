import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { heartbeat } from '../../../src/heartbeat/row.ts';
import { phases } from '../../../src/lifecycle/record.ts';
import { cloudEventAttributes } from '../../../src/sinks/cloud-event.ts';
import { encodeHeartbeat } from '../../../src/sinks/event-hubs/heartbeat.ts';
import { columnOf } from '../../../src/sinks/log-analytics/encode.ts';
import { sampleFacts } from '../../heartbeat/facts.ts';
import { temporaryDirectory } from '../../support/bridge-process.ts';
import { publishedSchema, validatorOf } from '../../support/published-schema.ts';
import { sampleRecord } from '../../support/sample-record.ts';
import { root } from '../../support/source-tree.ts';

type Types = string | readonly string[];
interface Property {
  readonly type: Types;
  readonly format?: string;
  readonly description?: string;
  readonly items?: { readonly type: string; readonly properties?: unknown };
  readonly examples?: readonly unknown[];
}
interface Schema {
  readonly $id: string;
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Property>>;
}
const fixtures = join(root, 'test/fixtures');
const record: Schema = publishedSchema('lifecycle-record.v1.json');
const heartbeats: Schema = publishedSchema('heartbeat.v1.json');
const { tables } = JSON.parse(readFileSync(join(root, 'bicep/schema/columns.json'), 'utf8'));
const typesOf = ({ type }: Property): readonly string[] => [type].flat();
const camelCase = (name: string): string => `${name.charAt(0).toLowerCase()}${name.slice(1)}`;

const contracts = [
  {
    name: 'lifecycle-record.v1.json',
    schema: record,
    sample: sampleRecord(),
    table: 'VmLifecycle_CL',
    fieldOf: new Map<string, string>(Object.entries(columnOf).map(([field, column]) => [column, field])),
    dataSchema: cloudEventAttributes(sampleRecord()).dataschema,
  },
  {
    name: 'heartbeat.v1.json',
    schema: heartbeats,
    sample: heartbeat(sampleFacts()),
    table: 'VmLifecycleBridge_CL',
    fieldOf: new Map(tables.VmLifecycleBridge_CL.map(({ name }: { name: string }) => [name, camelCase(name)])),
    dataSchema: encodeHeartbeat(sampleFacts(), 'id').properties?.['cloudEvents:dataschema'],
  },
] as const;

/** What a column of each type may hold, as JSON Schema. */
const typesOfColumn: Readonly<Record<string, readonly string[]>> = {
  string: ['string'],
  dateTime: ['string'],
  int: ['integer'],
  long: ['integer'],
  real: ['number'],
  boolean: ['boolean'],
  dynamic: ['array', 'object'],
};

describe.each(contracts)('$name', ({ name, schema, sample, table, fieldOf, dataSchema }) => {
  const problemsOf = validatorOf(name);

  test('is named by the CloudEvent as its data schema', () => {
    expect(dataSchema).toBe(schema.$id);
  });

  test('has every written field, and every column of the table, with its type', () => {
    const columns: readonly { name: string; type: string }[] = tables[table];
    const ofColumns = columns.flatMap(({ name: column }) => fieldOf.get(column) ?? []);
    expect(Object.keys(schema.properties).sort()).toEqual(Object.keys(sample).sort());
    expect(Object.keys(schema.properties)).toEqual(ofColumns);
    for (const { name: column, type } of columns.filter((one) => fieldOf.has(one.name))) {
      const property = schema.properties[String(fieldOf.get(column))] as Property;
      const [kind, ...more] = typesOf(property).filter((one) => one !== 'null');
      expect([column, more]).toEqual([column, []]);
      expect(typesOfColumn[type], column).toContain(kind);
      expect(property.format, column).toBe(type === 'dateTime' ? 'date-time' : undefined);
    }
  });

  test('describes every field, and its examples are valid', () => {
    for (const [field, { description = '', examples = [] }] of Object.entries(schema.properties)) {
      expect(description.length, field).toBeGreaterThan(3);
      for (const example of examples) expect([field, problemsOf({ ...sample, [field]: example })]).toEqual([field, []]);
    }
  });

  test('accepts what is written, also with fields that a later version adds', () => {
    expect(problemsOf(sample)).toEqual([]);
    expect(problemsOf({ ...sample, fieldOfALaterVersion: { any: 'thing' } })).toEqual([]);
  });

  test.each(Object.keys(schema.properties))('refuses %s where it is missing or of a wrong type', (field) => {
    const { [field]: _, ...without } = sample as unknown as Record<string, unknown>;
    const isInFirst = schema.required.includes(field);
    expect(problemsOf(without).length > 0, 'missing').toBe(isInFirst || schema === record);
    const types = typesOf(schema.properties[field] as Property);
    const wrong = { string: 1, integer: 'one', number: 'one', boolean: 'true', array: 'a', object: [1] };
    for (const [type, value] of Object.entries(wrong)) {
      if (types.includes(type)) expect(problemsOf({ ...sample, [field]: value }), `${type} ${value}`).not.toEqual([]);
    }
    expect(problemsOf({ ...sample, [field]: null }).length === 0).toBe(types.includes('null'));
    expect(problemsOf({ ...sample, [field]: '' }).length === 0).toBe(
      types.includes('string') && !/"(minLength|pattern)"/.test(JSON.stringify(schema.properties[field])),
    );
    if (isTime(field)) {
      for (const time of ['2026-03-14', '2026-03-14T09:26:53Z', '2026-02-30T09:26:53.123Z', 'Sat, 14 Mar 2026'])
        expect(problemsOf({ ...sample, [field]: time }), time).not.toEqual([]);
    }
  });
  const isTime = (field: string): boolean => schema.properties[field]?.format === 'date-time';

  test('refuses what is no object', () => {
    for (const value of [null, 1, 'text', [], [sample]]) expect(problemsOf(value)).not.toEqual([]);
  });
});

describe('versions of the record', () => {
  const problemsOf = validatorOf('lifecycle-record.v1.json');

  test('the known phases are examples, and any other is valid', () => {
    expect(record.properties.phase?.examples).toEqual(expect.arrayContaining([...phases]));
    expect(record.properties.phase?.examples).toHaveLength(phases.length);
    const open = { phase: 'Pondered', eventType: 'Teleport', eventSource: 'Fate', evidence: ['a-later-word'] };
    expect(problemsOf({ ...sampleRecord(), ...open })).toEqual([]);
  });

  test('a record of a later minor version is valid, one of another major version is not', () => {
    expect(problemsOf({ ...sampleRecord(), schemaVersion: '1.23' })).toEqual([]);
    for (const schemaVersion of ['2.0', '1', '11.0', '1.x', '0.9'])
      expect(problemsOf({ ...sampleRecord(), schemaVersion }), schemaVersion).not.toEqual([]);
  });

  test('startSeen and eventsInSight may be missing in 1.0 only', () => {
    const { startSeen: _, eventsInSight: __, ...first } = sampleRecord();
    expect(problemsOf({ ...first, schemaVersion: '1.0' })).toEqual([]);
    expect(problemsOf({ ...first, schemaVersion: '1.1' })).toHaveLength(3);
  });

  const outboxes = readdirSync(join(fixtures, 'outboxes')).filter((name) => name.endsWith('.sqlite.gz'));

  test.each(outboxes)('the records that wait in the outbox %s are valid', (name) => {
    using directory = temporaryDirectory('released');
    const file = join(directory.path, 'outbox.sqlite');
    writeFileSync(file, gunzipSync(readFileSync(join(fixtures, 'outboxes', name))));
    const db = new DatabaseSync(file);
    const bodies = db.prepare('SELECT json FROM bodies').all();
    db.close();
    expect(bodies.length).toBeGreaterThan(4);
    for (const { json } of bodies) {
      const stored = JSON.parse(Buffer.from(json as Uint8Array).toString());
      expect(problemsOf(stored)).toEqual([]);
      // What a release wrote stays required, and nothing else becomes so.
      if (stored.schemaVersion === '1.0') expect(Object.keys(stored).sort()).toEqual([...record.required].sort());
    }
  });

  test('the stored records of recorded documents are valid', () => {
    for (const name of readdirSync(join(fixtures, 'records'))) {
      for (const one of JSON.parse(readFileSync(join(fixtures, 'records', name), 'utf8')))
        expect(problemsOf(one)).toEqual([]);
    }
  });
});

/** A property as a type of TypeScript. */
function typeScriptOf(property: Property): string {
  const kinds: Readonly<Record<string, string>> = {
    integer: 'number',
    object: 'Readonly<Record<string, unknown>>',
    array: `readonly ${property.items?.properties ? 'Readonly<Record<string, unknown>>' : property.items?.type}[]`,
  };
  return typesOf(property)
    .map((type) => kinds[type] ?? type)
    .join(' | ');
}

test('the compiler finds the schema and the type of a record to be the same', () => {
  using directory = temporaryDirectory('types');
  const fields = Object.entries(record.properties).map(([field, one]) => `readonly ${field}: ${typeScriptOf(one)};`);
  const compile = (edit: (source: string) => string): string => {
    const source = `import type { LifecycleRecord } from './src/lifecycle/record.ts';
interface Published {\n${fields.join('\n')}\n}
// The schema leaves open what the type closes.
type Open = 'phase' | 'changes' | 'tags';
export const read = (written: LifecycleRecord): Published => ({ ...written, changes: written.changes.map((one) => ({ ...one })) });
export const kept = (published: Published): Omit<LifecycleRecord, Open> => published;
export const same: readonly (keyof LifecycleRecord)[] = [] as readonly (keyof Published)[];\n`;
    writeFileSync(join(directory.path, 'types.ts'), edit(source));
    const { stdout } = spawnSync(
      join(root, 'node_modules/.bin/tsc'),
      ['-p', join(directory.path, 'tsconfig.json'), '--pretty', 'false'],
      { encoding: 'utf8' },
    );
    return stdout;
  };
  for (const name of ['src', 'node_modules']) symlinkSync(join(root, name), join(directory.path, name));
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  const config = { compilerOptions, files: ['types.ts'] };
  writeFileSync(join(directory.path, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(directory.path, 'package.json'), '{"type": "module"}');
  expect(compile((source) => source)).toBe('');
  expect(compile((source) => source.replace('notBefore: string | null', 'notBefore: string'))).toContain('TS2322');
  expect(compile((source) => source.replace('vmId: string', 'vmId: string | null'))).toContain('TS2322');
});

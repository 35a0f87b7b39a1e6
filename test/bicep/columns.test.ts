import { expect, test } from 'vitest';
import { streams as simulated } from '../../src/azure-simulator/cli/streams.ts';
import { options } from '../../src/config.ts';
import { columnOf, encodeRow } from '../../src/sinks/log-analytics/encode.ts';
import { sampleRecord } from '../support/sample-record.ts';
import { type Deployed, deployedBy } from '../tools/bicep/deployed.ts';
import { evaluateFile } from '../tools/bicep/evaluate.ts';
import { bicepFiles, textOf } from '../tools/bicep/files.ts';
import { createProject } from '../tools/bicep/project.ts';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}
type Columns = Readonly<Record<string, readonly Column[]>>;
const path = 'bicep/schema/columns.json';
const { tables } = JSON.parse(textOf(path) ?? '') as { tables: Columns };
const names = Object.keys(tables).sort();

const platforms = bicepFiles().filter((file) => /using '\.\.\/main\.bicep'/.test(textOf(file) ?? ''));
const typeOfTable = 'Microsoft.OperationalInsights/workspaces/tables';
const typeOfRule = 'Microsoft.Insights/dataCollectionRules';

/** The tables and rules that a parameter file deploys, from the repository as it is, or with one file changed. */
function deployed(platform: string, changed: Readonly<Record<string, string>> = {}) {
  const resources = deployedBy(
    createProject((file) => changed[file] ?? textOf(file), null),
    platform,
  );
  const of = (type: string): Deployed[] => resources.filter((resource) => resource.type === type);
  return { tables: of(typeOfTable), rules: of(typeOfRule) };
}

type Schema = {
  readonly properties: { readonly schema: { readonly name: string; readonly columns: readonly Column[] } };
};
type Rule = {
  readonly properties: {
    readonly streamDeclarations: Readonly<Record<string, { readonly columns: readonly Omit<Column, 'description'>[] }>>;
    readonly dataFlows: readonly {
      readonly streams: readonly string[];
      readonly transformKql: string;
      readonly outputStream: string;
    }[];
  };
};
const schemas = (of: readonly Deployed[]) => of.map(({ body }) => (body as Schema).properties.schema);

test.for(platforms)('the tables that %s makes have the columns of columns.json, in their order', (platform) => {
  const made = schemas(deployed(platform).tables);
  expect(made.map(({ name }) => name).sort()).toEqual(names);
  for (const { name, columns } of made) expect(columns).toEqual(tables[name]);
});

/** A rule has the types of a table under its own names, and no guid. */
const inRule = (type: string): string => (type === 'dateTime' ? 'datetime' : type);

test.for(platforms)('the rules of %s take the same columns, and write each stream to its table', (platform) => {
  const { rules } = deployed(platform);
  expect(rules.length).toBeGreaterThan(0);
  for (const { body } of rules) {
    const { streamDeclarations, dataFlows } = (body as Rule).properties;
    expect(Object.keys(streamDeclarations).sort()).toEqual(names.map((name) => `Custom-${name}`));
    for (const name of names) {
      const declared = (tables[name] ?? []).map((column) => ({ name: column.name, type: inRule(column.type) }));
      expect(streamDeclarations[`Custom-${name}`]?.columns).toEqual(declared);
    }
    expect(dataFlows.map(({ streams, outputStream }) => [...streams, outputStream]).sort()).toEqual(
      names.map((name) => [`Custom-${name}`, `Custom-${name}`]),
    );
    // A transformation could drop or rename what was declared.
    expect(new Set(dataFlows.map(({ transformKql }) => transformKql))).toEqual(new Set(['source']));
  }
});

test('a column that is renamed in one place only is seen', () => {
  const renamed = (textOf(path) ?? '').replace('"RecordId"', '"RecordIdentifier"');
  const [small = ''] = platforms;
  const [columns = []] = schemas(deployed(small, { [path]: renamed }).tables)
    .filter(({ name }) => name === 'VmLifecycle_CL')
    .map((schema) => schema.columns.map(({ name }) => name));
  const filled = Object.keys(encodeRow(sampleRecord()));
  expect(filled.filter((name) => !columns.includes(name))).toEqual(['RecordId']);
  expect(columns.filter((name) => !filled.includes(name))).toEqual(['RecordIdentifier']);
});

test('record, encoder, table and simulator have the same columns', () => {
  const columns = (tables.VmLifecycle_CL ?? []).map(({ name }) => name);
  expect(Object.keys(encodeRow(sampleRecord()))).toEqual(columns);
  // TimeGenerated repeats ObservedAt: it is the one column that no field is called after.
  const fields: readonly string[] = Object.keys(sampleRecord()).map((field) => Reflect.get(columnOf, field));
  expect(['TimeGenerated', ...fields].sort()).toEqual([...columns].sort());
  expect(simulated).toEqual(Object.fromEntries(names.map((name) => [`Custom-${name}`, tables[name]])));
});

test('a bridge without other configuration sends to the streams that the rule declares', () => {
  const rule = evaluateFile(createProject(textOf, null), 'bicep/modules/data-collection-rule.bicep', {});
  const byDefault = (key: string) => options.find((option) => option.path === key)?.fallback;
  expect(rule.output('streamName')).toBe(byDefault('sinks.logAnalytics.streamName'));
  expect(rule.output('heartbeatStreamName')).toBe(byDefault('heartbeat.streamName'));
});

/** https://learn.microsoft.com/azure/azure-monitor/logs/create-custom-table */
const reserved = ['_ResourceId', 'id', '_SubscriptionId', 'TenantId', 'Type', 'UniqueId', 'Title'].concat([
  '_ItemId',
  '_TimeReceived',
  '_BilledSize',
  '_IsBillable',
  'SourceSystem',
  'MG',
  'ManagementGroupName',
]);

test.for(names)('Log Analytics takes the name, the number and the types of the columns of %s', (name) => {
  expect(name).toMatch(/^[A-Za-z][A-Za-z0-9_]{0,58}_CL$/);
  const columns = tables[name] ?? [];
  expect(columns.length).toBeLessThanOrEqual(500);
  for (const column of columns) {
    expect(column.name).toMatch(/^[A-Za-z][A-Za-z0-9_]{0,44}$/);
    expect(reserved.map((word) => word.toLowerCase())).not.toContain(column.name.toLowerCase());
    expect(['string', 'int', 'long', 'real', 'boolean', 'dateTime', 'dynamic']).toContain(column.type);
  }
  expect(columns.find((column) => column.name === 'TimeGenerated')?.type).toBe('dateTime');
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { LifecycleRecord } from '../../../src/lifecycle/record.ts';
import { encodeRow } from '../../../src/sinks/log-analytics/encode.ts';
import { publishedSchema } from '../../support/published-schema.ts';
import { root } from '../../support/source-tree.ts';
import { openKql } from '../../tools/kql/index.ts';
import { bodyOf, readHistories } from './histories/read.ts';

const fileOf = (path: string): string => readFileSync(join(root, 'infra/examples', path), 'utf8');
const commands = fileOf('data-explorer/tables.kql');

const part = (of: string, pattern: RegExp): string => {
  const [, found] = pattern.exec(of) ?? [];
  if (found === undefined) throw new Error(`not found: ${pattern}`);
  return found;
};

interface Column {
  readonly name: string;
  readonly type: string;
}
const columns: readonly Column[] = JSON.parse(readFileSync(join(root, 'bicep/schema/columns.json'), 'utf8')).tables
  .VmLifecycle_CL;

test('the table of Azure Data Explorer has the columns of the one in Log Analytics', () => {
  const kustoTypes: Readonly<Record<string, string>> = { dateTime: 'datetime', boolean: 'bool' };
  const declared = part(commands, /^\.create-merge table VmLifecycle_CL \(\n([\s\S]*?)\n\)/m);
  expect(declared.split(',').map((line) => line.trim())).toEqual(
    columns.map(({ name, type }) => `${name}: ${kustoTypes[type] ?? type}`),
  );
});

test('the update policy of Azure Data Explorer calls its function, with valid JSON in both policies', () => {
  const name = part(commands, /^\.create-or-alter function [^\n]*\n(\w+)\(\) \{/m);
  const [policy] = JSON.parse(part(commands, /policy update\n```\n([\s\S]*?)\n```/));
  expect(policy).toEqual({
    IsEnabled: true,
    Source: part(commands, /^\.create-merge table (\w+) \(Message: dynamic\)/m),
    Query: `${name}()`,
    IsTransactional: true,
  });
  expect(JSON.parse(part(commands, /ingestion json mapping '\w+'\n'(.*)'/))).toEqual([
    { column: 'Message', Properties: { Path: '$' } },
  ]);
});

/** What the hub holds that is JSON: other messages are not ingested. */
const messages = [...readHistories().values()].flatMap(({ runs }) =>
  runs.flatMap(({ before, steps }) =>
    [...before, ...steps.flatMap((step) => step.messages)].flatMap((message) => {
      try {
        return [JSON.parse(bodyOf(message).toString())];
      } catch {
        return [];
      }
    }),
  ),
);
/** Those with the fields of a record, of any version 1.x. */
const records = messages.filter((one) => one?.vmId !== undefined && one.schemaVersion.startsWith('1.'));

test('the update policy of Azure Data Explorer makes the rows that the bridge sends to Log Analytics', () => {
  const kql = openKql();
  const now = new Date().toISOString();
  const body = part(commands, /^\w+\(\) \{\n([\s\S]*?)\n\}/m);
  const literals = messages.map((message) => `dynamic(${JSON.stringify(message)})`).join(',\n');
  const query = `let VmLifecycleMessages = datatable(Message: dynamic)[\n${literals}\n];\n${body}`;
  const { columns: found, rows } = kql.execute(query, { tables: {}, now });
  const names = columns.map(({ name }) => name);
  const known = records.map((record: LifecycleRecord) => {
    const row = encodeRow(record);
    return Object.fromEntries(names.map((name) => [name, row[name]]));
  });
  const expected = kql.execute(`VmLifecycle_CL | project ${names.join(', ')}`, {
    tables: { VmLifecycle_CL: known },
    now,
  });
  expect(found).toEqual(expected.columns);
  expect(rows.length).toBeGreaterThan(80);
  // A message that only claims to be a record gives a row of which most cells are empty.
  const isWhole = (row: readonly unknown[]): boolean => row[names.indexOf('VmId')] !== '';
  expect(rows.filter(isWhole)).toEqual(expected.rows);
});

test('the query of Stream Analytics reads only fields of the record, and writes to the outputs that its README names', () => {
  const query = fileOf('stream-analytics/query.asaql').replaceAll(/--.*$/gm, '');
  const fields = new Set(Object.keys(publishedSchema('lifecycle-record.v1.json').properties));
  const words = query.replaceAll(/'[^']*'/g, '').match(/\b[a-z][A-Za-z]+\b/g) ?? [];
  const others = new Set(['vmlifecycle', 'announcements', 'ends', 'hour', 'vm', 'vmName']);
  expect(words.filter((word) => fields.has(word)).length).toBeGreaterThan(20);
  expect([...new Set(words)].filter((word) => !fields.has(word) && !others.has(word))).toEqual([]);
  const outputs = [...query.matchAll(/^INTO (\w+)$/gm)].map(([, name]) => `\`${name}\``);
  for (const output of outputs) expect(fileOf('stream-analytics/README.md')).toContain(output);
  expect(outputs).toHaveLength(2);
});

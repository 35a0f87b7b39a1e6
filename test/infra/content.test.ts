import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { readTree } from '../support/source-tree.ts';

const tree = readTree(
  'infra/consume.md',
  'infra/content.bicep',
  'infra/{kql,alerts,workbooks}/**/*.*',
  'infra/params/*.bicepparam',
  'bicep/modules/data-collection-rule.bicep',
  'bicep/schema/columns.json',
);
const textOf = (path: string): string => {
  const text = tree.get(path);
  if (text === undefined) throw new Error(`There is no ${path}`);
  return text;
};
const under = (folder: string): readonly string[] => [...tree.keys()].filter((path) => path.startsWith(folder));
const content = textOf('infra/content.bicep');

/** What `content.bicep` loads, with the name that it gives it where it gives one. */
const loaded = [
  ...content.matchAll(/(?:name: '([^']+)'\s+displayName: '[^']+'\s+body: )?load\w+Content\('([^']+)'\)/g),
].map(([, name, path]) => ({ name, path: `infra/${path}` }));

test('every function, query, workbook and list of alerts in infra is deployed, once', () => {
  const files = [...tree.keys()].filter((path) => /\.(kql|yaml|workbook)$/.test(path));
  expect(files.length).toBeGreaterThan(3);
  expect(loaded.map(({ path }) => path).sort()).toEqual(files.sort());
});

test('a function and a query are deployed by the name of their file', () => {
  const named = loaded.filter(({ path }) => path.startsWith('infra/kql/'));
  expect(named.length).toBeGreaterThan(1);
  for (const { name, path } of named) expect(name, path).toBe(basename(path, '.kql'));
});

test.each(under('infra/kql/functions/'))(
  '%s has its parameters in the first line and its question in the second',
  (path) => {
    const [first, second] = textOf(path).split('\n');
    expect(first).toMatch(/^\/\/ params: \((\w+:\w+(=\w+)?(, )?)*\)$/);
    expect(second).toMatch(/^\/\/ \S.*\?/);
  },
);

test('consume.md names every query of the pack once, under what it is opened for', () => {
  const [, table = ''] = textOf('infra/consume.md').split('| to find out | open |');
  const named = [...(table.split('\n\n')[0] ?? '').matchAll(/`([\w-]+)`/g)].map(([, name]) => name);
  expect(named.sort()).toEqual(
    under('infra/kql/queries/')
      .map((path) => basename(path, '.kql'))
      .sort(),
  );
});

test.each(under('infra/kql/queries/'))('%s opens with the question that it answers', (path) => {
  expect(textOf(path).split('\n')[0]).toMatch(/^\/\/ \S.*\?$/);
});

test.each(under('infra/workbooks/').filter((path) => path.endsWith('.workbook')))(
  '%s names no resource, and no two of its parts have one name',
  (path) => {
    const text = textOf(path);
    expect(text).not.toMatch(/\/subscriptions\/[0-9a-f]{8}-/i);
    expect(text).not.toContain('fromTemplateId');
    const { items }: { readonly items: readonly { readonly name?: string }[] } = JSON.parse(text);
    const names = items.map(({ name }) => name);
    expect(names).not.toContain(undefined);
    expect(names).toEqual([...new Set(names)]);
  },
);

test('the streams in the outputs are those of the tables in columns.json', () => {
  const outputs = [
    ...textOf('bicep/modules/data-collection-rule.bicep').matchAll(/^output \w+ string = '(Custom-\w+)'$/gm),
  ];
  const tables = Object.keys(JSON.parse(textOf('bicep/schema/columns.json')).tables);
  expect(outputs.map(([, stream]) => stream)).toEqual(tables.map((table) => `Custom-${table}`));
});

test.each(
  under('infra/params/').filter(
    (path) => textOf(path).includes('regions: [') && textOf(path).includes("using '../main.bicep'"),
  ),
)('in %s no region belongs to two shards', (path) => {
  const regions = [...textOf(path).matchAll(/regions: \[([^\]]+)\]/g)].flatMap(([, list]) => list?.match(/\w+/g) ?? []);
  expect(regions).toEqual([...new Set(regions)]);
});

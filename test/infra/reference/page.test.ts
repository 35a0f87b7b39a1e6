import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commonFailures, imdsFailures, sinkFailures } from '../../../infra/reference/failures.ts';
import { otherVariables } from '../../../infra/reference/meanings.ts';
import { referencePages } from '../../../infra/reference/page.ts';
import { environmentName } from '../../../src/config/options.ts';
import { options } from '../../../src/config.ts';
import { heartbeat } from '../../../src/heartbeat/row.ts';
import { sampleFacts } from '../../heartbeat/facts.ts';
import { withoutComments } from '../../support/import-rule.ts';
import { sampleRecord } from '../../support/sample-record.ts';
import { readTree, root } from '../../support/source-tree.ts';

const code = readTree('src/**/*.ts');
const { tables } = JSON.parse(readFileSync(join(root, 'bicep/schema/columns.json'), 'utf8'));
const pages = referencePages({ code, tables });
const folder = join(root, 'infra/reference');

/** `UPDATE=1 npm run test:unit -- test/infra/reference` updates them. */
test.for([...pages])('the page %s is the one that the code makes', ([name, text]) => {
  if (process.env.UPDATE) writeFileSync(join(folder, name), text);
  else expect(readFileSync(join(folder, name), 'utf8')).toBe(text);
});

test('the folder has no other page, and its README names each', () => {
  const names = readdirSync(folder).filter((name) => name.endsWith('.md'));
  expect(names.toSorted()).toEqual(['README.md', ...pages.keys()].toSorted());
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');
  for (const name of pages.keys()) expect(readme).toContain(`](${name})`);
});

/** Words like `link-detached` in quotes, in the files that distinguish failures. */
function codesIn(...patterns: readonly string[]): string[] {
  const text = [...readTree(...patterns).values()].map(withoutComments).join('\n');
  const calls =
    /\b(?:retry|rejected)\(\s*(?:'[a-z-]+'|cause),\s*'([a-z-]+)'|\b(?:transient|poison)\('([a-z-]+)'|\bbyProxy/g;
  return [...text.matchAll(calls)].flatMap(([, one, other]) => one ?? other ?? []);
}

test('every code by which Azure and the way to it can fail is explained', () => {
  const known = [commonFailures(), ...sinkFailures.values()].flat().map((failure) => failure.code);
  const found = codesIn('src/azure/*.ts', 'src/sinks/**/*.ts', 'src/sender/*.ts');
  expect(found.length).toBeGreaterThan(30);
  expect(found.filter((one) => !known.includes(one))).toEqual([]);
  for (const operation of ['token', 'connect', 'send', 'upload', 'check', 'close'])
    expect(known).toContain(`${operation}-timeout`);
});

test('every code of a failed poll of the metadata service is explained', () => {
  const known = imdsFailures().map((failure) => failure.code);
  const text = [...readTree('src/imds/{document,http-failure,client}.ts').values()].map(withoutComments).join('\n');
  const found = [...text.matchAll(/(?:code: |noDocument\(|unavailable\(|Meaning = \[\s*)'([a-z-]+)'/g)].map(
    ([, one = '']) => one,
  );
  expect(found.length).toBeGreaterThan(10);
  expect(found.filter((one) => !known.includes(one))).toEqual([]);
  const statuses = [
    ...(readTree('src/imds/http-status.ts').values().next().value ?? '').matchAll(/^ {2}(\d{3}):/gm),
  ].map(([, one]) => `http-${one}`);
  expect(statuses.filter((one) => !known.includes(one))).toEqual([]);
});

test('every variable that the program reads is explained', () => {
  const known = [...otherVariables.flatMap(({ names }) => names), ...options.map(({ path }) => environmentName(path))];
  const read = [...code].filter(([path]) => !path.startsWith('src/azure-simulator/'));
  const found = read.flatMap(([, text]) => [
    ...[...withoutComments(text).matchAll(/\benv\.([A-Za-z_]\w*)/g)].map(([, name = '']) => name),
    ...[...withoutComments(text).matchAll(/'([A-Z][A-Z_]+_(?:PROXY|FILE|HOST|ENDPOINT|HEADER|SECRET|SOCKET))'/g)].map(
      ([, name = '']) => name,
    ),
  ]);
  expect(found.length).toBeGreaterThan(10);
  expect([...new Set(found)].filter((name) => !known.includes(name))).toEqual([]);
});

/** The second cells of the rows of a section. */
const secondCells = (title: string): (string | undefined)[] =>
  [...(records.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '').matchAll(/^\| `[^|]*` \| ([^|]*) \|/gm)].map(
    ([, text]) => text?.replaceAll('`', ''),
  );
const records = pages.get('records.md') ?? '';

test('the fields named for Event Hubs are those of the JSON there, TimeGenerated being a column only', () => {
  expect(secondCells('Fields of a record').toSorted()).toEqual(['-', ...Object.keys(sampleRecord())].toSorted());
  expect(records).toContain('| `TimeGenerated` | - |');
  expect(records).toContain('| `DurationInSeconds` | `durationSeconds` |');
  expect(secondCells('Fields of a heartbeat').toSorted()).toEqual(Object.keys(heartbeat(sampleFacts())).toSorted());
});

test.for([...pages])('nothing in %s is left empty or unresolved', ([, page]) => {
  expect(page).not.toMatch(/undefined|\[object|\$\{|‹(null|value)?›/);
  for (const title of page.matchAll(/^## (.*)$/gm)) {
    const body = page.slice(title.index).split('\n## ')[0] ?? '';
    expect(body.match(/^\| /gm)?.length, title[1]).toBeGreaterThan(3);
  }
  const widths = page
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.replaceAll('\\|', '').split('|').length);
  expect(Math.max(...widths)).toBeLessThanOrEqual(7);
});

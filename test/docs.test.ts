import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { configTable } from '../infra/readme/config-table.ts';
import { createProgram as createSimulator } from '../src/azure-simulator/cli/program.ts';
import { createProgram as createBridge } from '../src/cli/program.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { readConfig } from '../src/config/read-config.ts';
import { endEvidence, phases, stepEvidence } from '../src/lifecycle/record.ts';
import { sampleRecord } from './support/sample-record.ts';
import { readTree, root } from './support/source-tree.ts';

const documents = readTree('README.md', '.github/**/*.md', '{src,test,infra,bicep}/**/*.md');
const examples = readTree('infra/examples/*.json');

const optionsPage = 'infra/configuration.md';
const optionsTable = /(<!-- config-table -->\n)([\s\S]*?)(\n<!-- \/config-table -->)/;

/** `UPDATE=1 npm run test:unit -- test/docs.test.ts` regenerates the table. */
test('the table of options is the one of the code', () => {
  const file = join(root, optionsPage);
  const page = readFileSync(file, 'utf8');
  const [, , table] = optionsTable.exec(page) ?? [];
  expect(table, `${optionsPage} has <!-- config-table --> and <!-- /config-table -->`).toBeDefined();
  if (process.env.UPDATE)
    writeFileSync(
      file,
      page.replace(optionsTable, (_, begin, __, end) => begin + configTable() + end),
    );
  else expect(table).toBe(configTable());
});

test('the table of options has a row for every option, the overrides of the observer being one', () => {
  const rows = configTable().split('\n');
  expect(rows[2]).toMatch(/^\| `imds\.endpoint` \| `"http:\/\/169\.254\.169\.254"` \| /);
  expect(rows).toContainEqual(expect.stringMatching(/^\| `sinks\.logAnalytics\.ruleId` \| \*required\* \|/));
  expect(rows).toContainEqual(expect.stringMatching(/^\| `observer\.<field>` \| - \| .*`vmId`/));
  expect(rows.filter((row) => /^\| `observer\./.test(row))).toHaveLength(2);
  for (const row of rows) expect(row.replaceAll('\\|', '').split('|')).toHaveLength(6);
});

test.for([...examples.keys()])('the example %s is a configuration', (path) => {
  expect(loadConfig({ file: join(root, path), env: {} })).toMatchObject({ config: expect.anything() });
});

test('there are examples of configurations', () => {
  expect(examples.size).toBeGreaterThan(2);
});

/** Fenced blocks of JSON, each with its document. */
const blocks = [...documents].flatMap(([path, text]) =>
  [...text.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, json = ''], i) => ({
    path,
    json,
    name: `${path} block ${i + 1}`,
  })),
);

test('every block of JSON in a document can be parsed, and one with sinks is a configuration', () => {
  const problems = blocks.flatMap(({ name, json }) => {
    try {
      const value = JSON.parse(json);
      if (typeof value !== 'object' || value === null || !('sinks' in value)) return [];
      const source = { value, source: name, keepsSecrets: true };
      return readConfig({ documents: [source], env: {}, defaultStateDirectory: '/x' }).problems ?? [];
    } catch (error) {
      return [`${name}: ${(error as Error).message}`];
    }
  });
  expect(problems).toEqual([]);
});

/** Those of both programs, as `npm start --` takes them. */
const commands = [createBridge, createSimulator].flatMap(
  (create) => create({ env: {}, stop: new AbortController().signal, print: () => {} }).commands,
);

const simulatorPage = 'infra/examples/local-azure.md';

test('the ports in the documents are those that simulate listens on', () => {
  const simulate = commands.find((one) => one.name() === 'simulate');
  const first: number = simulate?.options.find(({ long }) => long === '--port')?.defaultValue;
  const [, from, to] = /[Ii]t listens on ports (\d+) to (\d+)/.exec(documents.get(simulatorPage) ?? '') ?? [];
  expect([Number(from), Number(to)]).toEqual([first, first + 5]);
});

test('the record in the README has fields, phases and evidence that records have', () => {
  const shown = blocks.map(({ json }) => JSON.parse(json)).find((value) => 'phase' in value);
  const known = sampleRecord();
  for (const [field, value] of Object.entries(shown)) {
    expect(known, field).toHaveProperty(field);
    expect(Array.isArray(value), field).toBe(Array.isArray(known[field as keyof typeof known]));
  }
  expect(phases).toContain(shown.phase);
  for (const word of shown.evidence) expect([...endEvidence, ...stepEvidence]).toContain(word);
});

/** As GitHub makes them of the headings of a document. */
const anchorsOf = (text: string): string[] =>
  [...text.replace(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  );

test('every link between documents leads to a file, and to a heading where it names one', () => {
  const links = [...documents].flatMap(([path, text]) =>
    [...text.matchAll(/\]\(([^)\s#]*)(?:#([^)\s]*))?\)/g)]
      .filter(([, target = '']) => !/^[a-z]+:/.test(target))
      .map(([, target = '', anchor]) => ({ path, target, anchor })),
  );
  const broken = links.filter(({ path, target, anchor }) => {
    const to = target === '' ? path : join(dirname(path), target);
    if (!existsSync(join(root, to))) return true;
    return anchor !== undefined && !anchorsOf(readFileSync(join(root, to), 'utf8')).includes(anchor);
  });
  expect(links.length).toBeGreaterThan(100);
  expect(broken).toEqual([]);
});

/** Folders that a path in a document may be relative to, beside that of the document. */
const bases = ['', 'src', 'src/sinks', 'infra', 'bicep', 'test'];

test('every project file that a document names by its path exists', () => {
  const path = /`([\w.@-]+(?:\/[\w.@-]+)+\.(?:ts|md|json|yaml|bicep|bicepparam|kql|sh|svg))`/g;
  const named = [...documents].flatMap(([from, text]) =>
    [...text.replace(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(path)].map(([, to = '']) => ({ from, to })),
  );
  const missing = named.filter(
    ({ from, to }) => ![...bases, dirname(from)].some((base) => existsSync(join(root, base, to))),
  );
  expect(named.length).toBeGreaterThan(60);
  expect(missing).toEqual([]);
});

test('the README has at most 220 lines, and any other document at most 250', () => {
  const most = (path: string): number => (path === 'README.md' ? 220 : 250);
  const long = [...documents].filter(([path, text]) => text.trimEnd().split('\n').length > most(path));
  expect(long.map(([path]) => path)).toEqual([]);
});

test('the README compares the bridge with the feed of Azure before line 60', () => {
  const lines = (documents.get('README.md') ?? '').split('\n');
  expect(lines.indexOf("## Why not Azure's own feed?")).toBeGreaterThan(0);
  expect(lines.indexOf("## Why not Azure's own feed?")).toBeLessThan(60);
});

/** Each client in the table of those that were tried, with where its version is pinned. */
const pinned: readonly (readonly [
  names: readonly string[],
  file: string,
  pin: (name: string, version: string) => string,
])[] = [
  [
    ['@azure/event-hubs', '@azure/monitor-ingestion', '@azure/identity'],
    'package.json',
    (name, version) => `"${name}": "${version}"`,
  ],
  [
    ['azure-eventhub', 'azure-monitor-ingestion', 'azure-identity'],
    'test/third-party/python/requirements.txt',
    (name, version) => `${name}==${version}\n`,
  ],
  [
    ['azeventhubs', 'azlogs', 'azidentity'],
    'test/third-party/go/go.mod',
    (name, version) => `/${name}${name === 'azeventhubs' ? '/v2' : ''} v${version}\n`,
  ],
  [
    ['azure-messaging-eventhubs', 'azure-monitor-ingestion', 'azure-identity'],
    'test/third-party/java/pom.xml',
    (name, version) => `<artifactId>${name}</artifactId>\n      <version>${version}<`,
  ],
  [
    ['azure_messaging_eventhubs', 'azure_identity'],
    'test/third-party/rust/Cargo.lock',
    (name, version) => `name = "${name}"\nversion = "${version}"\n`,
  ],
];

test('the versions of clients that the page of clients names are those that are tested', () => {
  const page = documents.get(simulatorPage) ?? '';
  for (const [names, file, pin] of pinned) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${names[0]}\``)) ?? '';
    const versions = row.split('|')[2]?.trim().split(', ') ?? [];
    expect([file, versions.length]).toEqual([file, names.length]);
    const text = readFileSync(join(root, file), 'utf8');
    for (const [at, name] of names.entries()) expect(text, file).toContain(pin(name, versions[at] ?? ''));
  }
});

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { configTable } from '../infra/readme/config-table.ts';
import { createProgram } from '../src/cli/program.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { readConfig } from '../src/config/read-config.ts';
import { endEvidence, phases, stepEvidence } from '../src/lifecycle/record.ts';
import { sampleRecord } from './support/sample-record.ts';
import { readTree, root } from './support/source-tree.ts';

const documents = readTree('README.md', '{src,test,infra,bicep}/**/*.md');
const examples = readTree('infra/examples/*.json');

const tableInReadme = /(<!-- config-table -->\n)([\s\S]*?)(\n<!-- \/config-table -->)/;

/** `UPDATE=1 npm run test:unit -- test/docs.test.ts` writes the table anew. */
test('the table of options in the README is the one of the code', () => {
  const file = join(root, 'README.md');
  const readme = readFileSync(file, 'utf8');
  const [, , table] = tableInReadme.exec(readme) ?? [];
  expect(table, 'README.md holds <!-- config-table --> and <!-- /config-table -->').toBeDefined();
  if (process.env.UPDATE)
    writeFileSync(
      file,
      readme.replace(tableInReadme, (_, begin, __, end) => begin + configTable() + end),
    );
  else expect(table).toBe(configTable());
});

const subscriberInReadme = /(<!-- subscriber -->\n)([\s\S]*?)(<!-- \/subscriber -->)/;

/** The same command writes it anew. */
test('the subscriber in the README is the one that is tested', () => {
  const file = join(root, 'README.md');
  const readme = readFileSync(file, 'utf8');
  const block = `\`\`\`ts\n${readFileSync(join(root, 'infra/examples/subscriber.ts'), 'utf8')}\`\`\`\n`;
  if (process.env.UPDATE)
    writeFileSync(
      file,
      readme.replace(subscriberInReadme, (_, begin, __, end) => begin + block + end),
    );
  else expect(subscriberInReadme.exec(readme)?.[2]).toBe(block);
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

/** Fenced blocks of JSON with the document they stand in. */
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

/** Command lines in fenced blocks and in code spans: `npm …` and `node dist/…`. */
const commandLines = [...documents].flatMap(([path, text]) =>
  [...text.matchAll(/(?:^|`)((?:npm (?:run|start)|node dist\/scheduled-events-bridge\.cjs)\b[^`\n#]*)/gm)].map(
    ([, line = '']) => ({ path, line: line.trim() }),
  ),
);

test('every command shown in a document is one that there is, with options that it has', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  const { commands } = createProgram({ env: {}, stop: new AbortController().signal, print: () => {} });
  const problems = commandLines.flatMap(({ path, line }) => {
    const [, script, rest = ''] = /^npm run (\S+)(?: -- (.*))?$/.exec(line) ?? [];
    if (script !== undefined && !(script in scripts)) return [`${path}: npm run ${script}`];
    if (script !== undefined && script !== 'demo') return [];
    const words = (script ? `demo ${rest}` : line.replace(/^(npm start --|node \S+) /, '')).trim().split(/\s+/);
    const command = commands.find((one) => one.name() === words[0]);
    if (!command) return [`${path}: ${line} (no such command)`];
    const unknown = words.filter((word) => word.startsWith('--') && !command.options.some((one) => one.long === word));
    return unknown.map((option) => `${path}: ${line} (no such option: ${option})`);
  });
  expect(commandLines.length).toBeGreaterThan(8);
  expect(problems).toEqual([]);
});

test('the ports that the README names are those that simulate takes', () => {
  const { commands } = createProgram({ env: {}, stop: new AbortController().signal, print: () => {} });
  const simulate = commands.find((one) => one.name() === 'simulate');
  const first: number = simulate?.options.find(({ long }) => long === '--port')?.defaultValue;
  const [, from, to] = /it listens on ports (\d+) to (\d+)/.exec(documents.get('README.md') ?? '') ?? [];
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

test('every relative link in a document leads somewhere', () => {
  const broken = [...documents].flatMap(([path, text]) =>
    [...text.matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target) && !existsSync(join(root, dirname(path), target)))
      .map((target) => `${path} -> ${target}`),
  );
  expect(broken).toEqual([]);
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
  const page = documents.get('infra/examples/local-azure.md') ?? '';
  for (const [names, file, pin] of pinned) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${names[0]}\``)) ?? '';
    const versions = row.split('|')[2]?.trim().split(', ') ?? [];
    expect([file, versions.length]).toEqual([file, names.length]);
    const text = readFileSync(join(root, file), 'utf8');
    for (const [at, name] of names.entries()) expect(text, file).toContain(pin(name, versions[at] ?? ''));
  }
});

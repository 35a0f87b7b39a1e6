import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, expect, test } from 'vitest';
import { Failure } from '../../src/cli/exit-codes.ts';
import { createProgram } from '../../src/cli/program.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { authenticationsOf } from '../../src/config/sample.ts';
import { sinks } from '../../src/sinks/registry.ts';
import { root } from '../support/source-tree.ts';

const folder = mkdtempSync(join(tmpdir(), 'config-verb-'));
afterAll(() => rmSync(folder, { recursive: true }));
const existing = join(folder, 'existing.json');
writeFileSync(existing, '{}\n');

/** Runs `config …`; returns what it prints. */
async function config(...args: readonly string[]): Promise<string> {
  const printed: string[] = [];
  const print = (text: string): void => void printed.push(text);
  const program = createProgram({ env: {}, stop: new AbortController().signal, print });
  await program.parseAsync(['config', ...args], { from: 'user' });
  return printed.join('');
}

const published: object = JSON.parse(readFileSync(join(root, 'infra/schema/configuration.v1.json'), 'utf8'));
const validate = new Ajv2020({ allowUnionTypes: true, strictTypes: false }).compile(published);

const ways = sinks.flatMap((sink) => {
  const known = authenticationsOf(sink);
  return (known.length === 0 ? [null] : known).map((auth) => ({ key: sink.key, name: sink.name, auth }));
});

/** As written in the samples. */
const placeholders = /\b(NAMESPACE|NAME|KEY|REGION-1|HOST|PATH)\b|f{32}/g;

test.for(ways)(
  'init makes a configuration for $name with $auth that the JSON Schema accepts, and the bridge once its placeholders are replaced',
  async (way) => {
    const file = join(folder, `${way.name}-${way.auth}.json`);
    const auth = way.auth === null ? [] : ['--auth', way.auth];
    const printed = await config('init', '--sink', way.name, ...auth, '--output', file);
    expect(printed).toContain(`Wrote ${file}`);
    const unedited = loadConfig({ file, env: {} }).problems ?? [];
    for (const problem of unedited) {
      expect(problem).toMatch(
        new RegExp(`^sinks\\.${way.key}\\.\\w+ still has the placeholders? \\S.* in ${file}: replace (it|them)\\.$`),
      );
    }
    const { $comment: _, ...values } = JSON.parse(readFileSync(file, 'utf8')).sinks[way.key];
    const named = unedited.flatMap((problem) => (/placeholders? (.*) in \//.exec(problem)?.[1] ?? '').split(', '));
    expect(named).toHaveLength(JSON.stringify(values).match(placeholders)?.length ?? 0);
    const edited = join(folder, `${way.name}-${way.auth}-edited.json`);
    const text = readFileSync(file, 'utf8').replaceAll(placeholders, (word) =>
      /^f/.test(word) ? 'a'.repeat(32) : 'abc',
    );
    writeFileSync(edited, text, { mode: 0o600 });
    const loaded = loadConfig({ file: edited, env: {} });
    expect(loaded.problems).toBeUndefined();
    const configured = Object.entries(loaded.config?.sinks ?? {}).filter(([, section]) => section !== null);
    expect(configured.map(([key]) => key)).toEqual([way.key]);
    const document = JSON.parse(readFileSync(file, 'utf8'));
    expect([validate(document), validate.errors]).toEqual([true, null]);
    expect(document.$schema).toBe('./configuration.v1.json');
    for (const [key, value] of Object.entries(document.sinks[way.key])) {
      if (key !== '$comment') expect(document.sinks[way.key].$comment.join('\n'), key).toContain(`${key}: `);
      expect(value).not.toBe('');
    }
  },
);

test('init writes all sinks that are named into one configuration, and prints it without --output', async () => {
  const names = sinks.map(({ name }) => name);
  const printed = await config('init', ...names.flatMap((name) => ['--sink', name]));
  const document = JSON.parse(printed);
  expect(Object.keys(document.sinks).filter((key) => key !== '$comment')).toEqual(sinks.map(({ key }) => key));
  expect(document.sinks.$comment).toEqual([expect.stringMatching(/^stdout: One JSON record per line/)]);
  expect(document.identity.clientId).toBeNull();
});

test.for([
  ['event-hubs', 'connection-string', 0o600],
  ['event-hubs', 'managed-identity', 0o644],
] as const)('the file for %s with %s has a mode that fits what belongs in it', async ([name, auth, mode]) => {
  const before = process.umask(0o022);
  const file = join(folder, `mode-${auth}.json`);
  await config('init', '--sink', name, '--auth', auth, '--output', file).finally(() => process.umask(before));
  expect(statSync(file).mode & 0o777).toBe(mode);
});

test('the sample for a connection string has no managed identity in it, and the other way round', async () => {
  const byKey = await config('init', '--sink', 'event-hubs', '--auth', 'connection-string');
  expect(JSON.parse(byKey)).not.toHaveProperty('identity');
  expect(JSON.parse(byKey).sinks.eventHubs).not.toHaveProperty('fullyQualifiedNamespace');
  const byIdentity = await config('init', '--sink', 'event-hubs');
  expect(JSON.parse(byIdentity)).toHaveProperty('identity');
  expect(JSON.parse(byIdentity).sinks.eventHubs).not.toHaveProperty('connectionString');
});

test('schema prints the published JSON Schema', async () => {
  expect(JSON.parse(await config('schema'))).toEqual(published);
  const file = join(folder, 'schema.json');
  expect(await config('schema', '--output', file)).toBe(`Wrote ${file}.\n`);
});

test.for([
  [['init', '--sink', 'eventhubs'], 'did you mean event-hubs?'],
  [['init', '--sink', 'carrier-pigeon'], 'expected one of event-hubs, '],
  [['init', '--sink', 'stdout', '--auth', 'kerberos'], 'Allowed choices are managed-identity, '],
])('config %j is refused with what to do', async ([args, message]) => {
  await expect(config(...(args as string[]))).rejects.toThrow(message as string);
});

test.for([
  [['init', '--sink', 'stdout', '--auth', 'connection-string'], '--auth connection-string applies to event-hubs'],
  [['init', '--sink', 'stdout', '--output', existing], 'exists and is not overwritten: name a new file, or'],
  [['schema', '--output', existing], 'exists and is not overwritten: name a new file, or remove this one.'],
  [['schema', '--output', join(folder, 'no/such')], `There is no directory ${join(folder, 'no')}: create it, or name`],
  [['schema', '--output', folder], `${folder} is a directory: name a file in it.`],
  [['schema', '--output', ''], 'The name of the file to write is empty: name a file.'],
  [['init'], `config init needs --sink, once for each destination: ${sinks.map(({ name }) => name).join(', ')}.`],
] as const)('config %j reports what is wrong with the command line', async ([args, message]) => {
  const failure = await config(...args).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Failure);
  expect(failure).toMatchObject({ reason: 'usage', message: expect.stringContaining(message) });
  expect(readFileSync(existing, 'utf8')).toBe('{}\n');
});

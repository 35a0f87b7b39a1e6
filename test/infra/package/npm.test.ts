import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeNpmPackage, npmPackageName } from '../../../infra/package/npm.ts';
import { type AzureSimulator, startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import { FleetView } from '../../../src/consumer/index.ts';
import { producer, useSimulator } from '../../azure-simulator/sdk-clients.ts';
import { historyOf } from '../../consumer/worlds.ts';
import { epochMs } from '../../fleet-model/world.ts';
import { temporaryDirectory } from '../../support/bridge-process.ts';
import { olderNode } from '../../support/older-node.ts';
import { cleanEnvironment } from '../../support/program.ts';
import { root } from '../../support/source-tree.ts';
import { until } from '../../support/until.ts';

const directory = temporaryDirectory('npm-package');
const made = join(directory.path, 'made');
/** Another user's project. */
const project = join(directory.path, 'project');
const installed = join(project, 'node_modules', npmPackageName);
const readme = readFileSync(join(root, 'infra/npm/README.md'), 'utf8');
const blocks = [...readme.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
const npm = (...args: readonly string[]): string =>
  execFileSync('npm', args, {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, npm_config_update_notifier: 'false' },
  });

beforeAll(async () => {
  await makeNpmPackage(made);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "name": "project", "version": "1.0.0", "type": "module" }');
  const [{ filename = '' } = {}] = JSON.parse(npm('pack', made, '--json')) as { filename?: string }[];
  npm('install', '--offline', '--no-audit', `./${filename}`);
  // The clients of Azure, as they are here.
  symlinkSync(join(root, 'node_modules/@azure'), join(project, 'node_modules/@azure'));
  symlinkSync(join(root, 'node_modules/@types'), join(project, 'node_modules/@types'));
  writeFileSync(join(project, 'subscriber.mjs'), blocks[0] ?? '');
  writeFileSync(join(project, 'fleet.mjs'), blocks[1] ?? '');
});
afterAll(() => directory[Symbol.dispose]());

test('the npm package holds one module, its types, the schemas and documents, and has no dependencies', () => {
  expect(readdirSync(installed).sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'index.js',
    'package.json',
    'schema',
    'types',
  ]);
  expect(readdirSync(join(installed, 'schema')).sort()).toEqual(['heartbeat.v1.json', 'lifecycle-record.v1.json']);
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(Object.keys(manifest).filter((key) => /dependencies/i.test(key))).toEqual([]);
  const imports = [...readFileSync(join(installed, 'index.js'), 'utf8').matchAll(/^import .* from "(.*)";$/gm)];
  expect(imports.map(([, from = '']) => from).sort()).toEqual(['node:fs/promises', 'node:os', 'node:path']);
});

test('the npm package does not replace a folder that holds something else', async () => {
  const before = readdirSync(project);
  await expect(makeNpmPackage(project)).rejects.toThrow(`${project} holds something other than ${npmPackageName}`);
  expect(readdirSync(project)).toEqual(before);
});

test('the npm package compiles in a strict project with the client of Event Hubs', () => {
  const source = `import { EventHubConsumerClient } from '@azure/event-hubs';
import { BlockBlobClient } from '@azure/storage-blob';
import { actOnce, blobStore, FleetView, fileStore, followHub, type LifecycleRecord, parseEventData, parseHttp } from '${npmPackageName}';
import schema from '${npmPackageName}/schema/lifecycle-record.v1.json' with { type: 'json' };
const client = new EventHubConsumerClient('$Default', 'Endpoint=x', 'hub');
const actions = await actOnce(fileStore('state.json'), { drain: async ({ name }) => { name.trim(); }, restore() {}, onError: console.error });
await actOnce(blobStore(new BlockBlobClient('https://account.blob.core.windows.net/container/state.json')), { drain() {}, restore() {}, onError: console.error });
const { close } = await followHub(client, actions, { since: new Date() });
const fleet = new FleetView();
client.subscribe({ processEvents: async (events) => { for (const event of events) { const message = parseEventData(event); if (message.kind === 'record') fleet.add(message.record); } }, processError: async () => {} });
const phases: readonly string[] = parseHttp({ headers: new Headers(), body: '' }).flatMap((message) => message.kind === 'record' ? [message.record.phase] : []);
const count = (record: LifecycleRecord): number => record.affectedResources.length + (record.eventsInSight?.length ?? 0);
console.log(schema.$id, phases, count, close);\n`;
  const compile = (files: Readonly<Record<string, string>>): string => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
    const options = {
      strict: true,
      target: 'es2022',
      module: 'nodenext',
      noEmit: true,
      resolveJsonModule: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      types: ['node'],
    };
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: options, files: Object.keys(files) }),
    );
    try {
      execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', project, '--pretty', 'false'], { encoding: 'utf8' });
      return '';
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  };
  // Declarations of other packages are their makers' concern.
  const ours = (output: string): string[] =>
    output.split('\n').filter((line) => /(^|\/)(strict|wrong)\.ts\(|scheduled-events-bridge-consumer\//.test(line));
  // In one run: most of the time is for the declarations of the Azure clients.
  const wrong = source.replace('record.phase]', 'record.phases]');
  expect(ours(compile({ 'strict.ts': source, 'wrong.ts': wrong }))).toEqual([
    expect.stringMatching(/^(.*\/)?wrong\.ts\(.*'phases'/),
  ]);
});

const { node, whyNot } = olderNode();
const [major = 0, minor = 0] = (node?.version ?? '').split('.').map(Number);
const isSupported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12);
const why = node !== null && !isSupported ? ` (skipped: ${node.version} is not one that it supports)` : whyNot;

test.skipIf(!isSupported)(`the npm package runs on an older Node.js${why}`, () => {
  const script = `import('./fleet.mjs').then(({ openEvents }) => console.log(openEvents().length))`;
  expect(execFileSync(node?.path ?? '', ['-e', script], { cwd: project, encoding: 'utf8' })).toBe('0\n');
});

describe('the subscriber of the README', () => {
  let azure: AzureSimulator;
  beforeAll(async () => {
    azure = await startAzureSimulator({ vms: [], hubs: [{ name: 'vm-lifecycle' }] });
    useSimulator(azure);
  });
  afterAll(() => azure.close());

  /** One run of it, from its start until it is killed. */
  function start() {
    const child = spawn(process.execPath, ['subscriber.mjs'], {
      cwd: project,
      // The variables for it in variables.sh, which the simulator writes.
      env: {
        ...cleanEnvironment(),
        AZURE_POD_IDENTITY_AUTHORITY_HOST: azure.imds.url,
        NODE_EXTRA_CA_CERTS: azure.caFile,
        EVENT_HUBS_NAMESPACE: azure.eventHubs.fullyQualifiedNamespace,
        EVENT_HUBS_CUSTOM_ENDPOINT: azure.eventHubs.customEndpoint,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const out = { acts: '', errors: '' };
    child.stdout.on('data', (chunk) => {
      out.acts += chunk;
    });
    child.stderr.on('data', (chunk) => {
      out.errors += chunk;
    });
    const exited = once(child, 'exit');
    return {
      acts: () => out.acts.split('\n').slice(0, -1),
      errors: () => out.errors,
      async kill() {
        child.kill('SIGKILL');
        await exited;
      },
    };
  }

  test.each<[when: string, env: Record<string, string>, expected: { status: number; stderr: string }]>([
    ['no variable is set', {}, { status: 2, stderr: 'Set EVENT_HUBS_NAMESPACE or EVENT_HUBS_CONNECTION_STRING.\n' }],
    [
      'the event hub cannot be reached',
      {
        EVENT_HUBS_CONNECTION_STRING:
          'Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true',
      },
      { status: 1, stderr: expect.stringMatching(/^Cannot read the event hub vm-lifecycle: .*ECONNREFUSED.*\n$/) },
    ],
  ])('exits with one line if %s', { timeout: 60_000 }, (_, env, expected) => {
    const options = { cwd: project, env: { ...cleanEnvironment(), ...env }, encoding: 'utf8' } as const;
    const { status, stderr } = spawnSync(process.execPath, ['subscriber.mjs'], options);
    expect({ status, stderr }).toEqual(expected);
  });

  test('misses nothing and repeats nothing in effect though it is killed over and over', {
    timeout: 120_000,
  }, async () => {
    rmSync(join(project, 'subscriber-state.json'), { force: true });
    const { arrivals, world } = historyOf(5047);
    const now = Date.now();
    const shifted = arrivals.map((record) => ({
      ...record,
      observedAt: new Date(Date.parse(record.observedAt) - epochMs - world.lengthMs + now).toISOString(),
    }));
    const client = producer(azure, { hub: 'vm-lifecycle' });
    const send = async (records: typeof shifted): Promise<void> => {
      for (const record of records) {
        const batch = await client.createBatch({ partitionKey: record.eventId.toLowerCase() });
        expect(batch.tryAdd({ body: record })).toBe(true);
        await client.sendBatch(batch);
      }
    };
    const runs: ReturnType<typeof start>[] = [];
    const acts = (): string[] => runs.flatMap((run) => run.acts());
    const drained = (): string[] => {
      const vms = new Set<string>();
      for (const act of acts()) {
        const [verb, vm = ''] = act.split(/[ :]/);
        if (verb === 'drain') vms.add(vm);
        else vms.delete(vm);
      }
      return [...vms].sort();
    };
    const openEvents = (records: typeof shifted) => {
      const view = new FleetView();
      for (const record of records) view.add(record);
      return view.events().flatMap(({ eventId, affected }) => affected.map(({ name }) => ({ name, eventId })));
    };
    const wanted = (records: typeof shifted): string[] =>
      [...new Set(openEvents(records).map(({ name }) => name))].sort();
    const parts = 3;
    const size = Math.ceil(shifted.length / parts);
    for (let part = 1; part <= parts; part += 1) {
      await send(shifted.slice((part - 1) * size, part * size));
      const expected = wanted(shifted.slice(0, part * size));
      const isInLine = (): boolean => JSON.stringify(drained()) === JSON.stringify(expected);
      // One that is killed at its first act, and one that does the rest.
      const short = start();
      runs.push(short);
      await until(() => short.acts().length > 0 || isInLine(), {
        what: `an act; ${short.errors()}`,
        timeoutMs: 40_000,
      });
      await short.kill();
      const run = start();
      runs.push(run);
      await until(isInLine, {
        what: `${expected.join(' ')} to be drained, not ${drained().join(' ')}; ${run.errors()}`,
        timeoutMs: 40_000,
      });
      await run.kill();
    }
    // Killed between an act and its note it would repeat the act: this run has noted everything.
    const noting = start();
    runs.push(noting);
    const stateFile = join(project, 'subscriber-state.json');
    const isNoted = (): boolean => {
      const { drained: noted } = JSON.parse(readFileSync(stateFile, 'utf8'));
      const all = Object.values(noted) as { vm: { name: string }; events: Record<string, string> }[];
      const pairs = all.flatMap(({ vm, events }) => Object.keys(events).map((eventId) => `${vm.name} ${eventId}`));
      const due = openEvents(shifted).map(({ name, eventId }) => `${name} ${eventId}`);
      return JSON.stringify(pairs.sort()) === JSON.stringify(due.sort()) && !JSON.stringify(all).includes('draining');
    };
    await until(isNoted, { what: `a note of every act; ${noting.errors()}`, timeoutMs: 40_000 });
    await noting.kill();
    const [first] = shifted;
    if (first === undefined) throw new Error('an empty history');
    const fence = {
      ...first,
      eventId: 'fence',
      vmId: 'fence',
      vmName: 'fence',
      recordId: 'fence',
      phase: 'Scheduled' as const,
    };
    await send([{ ...fence, observerAffected: true, affectedResources: ['fence'], affectedResourceCount: 1 }]);
    await client.close();
    const last = start();
    runs.push(last);
    await until(() => last.acts().length > 0, { what: `the fence; ${last.errors()}`, timeoutMs: 40_000 });
    expect(last.acts()).toEqual([expect.stringMatching(/^drain fence: /)]);
    await last.kill();
    expect(acts().length).toBeGreaterThan(2 * parts);
    expect(runs.map((run) => run.errors())).toEqual(runs.map(() => ''));
  });
});

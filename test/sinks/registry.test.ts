import { execFileSync } from 'node:child_process';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { samplesOf } from '../../src/config/schema.ts';
import type { Config } from '../../src/config.ts';
import { configuredSinks, onlySink, sinks, tokenScopes } from '../../src/sinks/registry.ts';
import { withoutComments } from '../support/import-rule.ts';
import { readTree } from '../support/source-tree.ts';

const around = { credential: { getToken: async () => null }, clock: systemClock, startDue: () => false };
const eventHubs = {
  fullyQualifiedNamespace: 'x.servicebus.windows.net',
  connectionString: null,
  eventHubName: 'vm-lifecycle',
  customEndpoint: null,
  transport: 'amqp',
  idleCloseSeconds: 60,
  connectJitterSeconds: 0,
} as const;
const logAnalytics = {
  endpoint: 'https://x.ingest.monitor.azure.us',
  ruleId: 'dcr-0',
  streamName: 'Custom-VmLifecycle_CL',
};

/** No sink but these. */
const only = (some: Partial<Config['sinks']>): Config['sinks'] => ({
  ...onlySink({} as Config['sinks'], null),
  ...some,
});

test('there is a sink for each section of the configuration, and no other', () => {
  const namesOf = (some: Partial<Config['sinks']>) => configuredSinks(only(some)).map(({ sink }) => sink.name);
  expect(namesOf({})).toEqual([]);
  expect(namesOf({ eventHubs })).toEqual(['event-hubs']);
  expect(namesOf({ eventHubs, logAnalytics, stdout: {} })).toEqual(['event-hubs', 'log-analytics', 'stdout']);
});

test.for(sinks)('the descriptor of $name has the same facts as the loaded sink', async (sink) => {
  const [sample = {}] = Object.values(samplesOf(sink.section));
  const section = v.parse(sink.section, sample);
  const opened = await sink.open(section, around);
  expect(opened).toMatchObject(sink.shape(section));
  expect(opened.name).toBe(sink.name);
  await opened.close();
});

test('a token is fetched ahead for each sink that will ask for one, in the cloud of its endpoint', () => {
  expect(tokenScopes(only({ eventHubs, logAnalytics, stdout: {} }))).toEqual([
    'https://eventhubs.azure.net//.default',
    'https://monitor.azure.us/.default',
  ]);
  const byKey = { ...eventHubs, connectionString: 'Endpoint=sb://localhost' };
  expect(tokenScopes(only({ eventHubs: byKey }))).toEqual([]);
});

test.for([
  { transport: 'amqp', loads: 0 },
  { transport: 'amqp-ws', loads: 1 },
] as const)('the event hub over $transport loads all of undici $loads times', ({ transport, loads }) => {
  const script = `
    const { configuredSinks } = await import('./src/sinks/registry.ts');
    const around = { credential: { getToken: async () => null }, clock: (await import('./src/clock.ts')).systemClock, startDue: () => false };
    const sections = { eventHubs: ${JSON.stringify({ ...eventHubs, transport })}, logAnalytics: null, stdout: null };
    const [{ sink: descriptor, section }] = configuredSinks(sections);
    const sink = await descriptor.open(section, around);
    await sink.send([], AbortSignal.abort());
    await sink.close();
    const loaded = Object.keys(process.getBuiltinModule('module')._cache).filter((path) => path.endsWith('/undici/index.js'));
    process.stdout.write(String(loaded.length));`;
  const out = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  expect(out).toBe(String(loads));
});

/** Why a file outside of the folder of a sink names it. */
const mayName: readonly (readonly [path: RegExp, reason: string])[] = [
  [/^src\/azure-simulator\//, 'it simulates the services that two sinks send to, and shares no code with them'],
  [/^src\/config\.ts$/, 'heartbeat.eventHubs is a published key, and proxy.url says which destinations go through it'],
  [/^src\/sinks\/descriptor\.ts$/, 'the same key, as a setting that sinks are given'],
  [/^src\/(tail|cli\/tail)\//, 'tail reads the event hub to which that sink sends'],
];

test('nothing outside the folder of a sink names it, except one line of sinks/index.ts', () => {
  const code = [...readTree('src/**/*.ts')].map(([path, text]) => [path, withoutComments(text)] as const);
  const named = sinks.flatMap(({ key, label, name }) => {
    // A plain word (stdout, http) is also the name of other things: only its section and its folder are searched for.
    const words = [...new Set([key, label, name])].filter(
      (word) => /[a-z][A-Z]|\w[ -]\w/.test(word) && word !== 'Standard output',
    );
    const pattern = new RegExp(`\\bsinks\\.${key}\\b|\\bsinks/${name}/|\\b(${[...words, '(?!)'].join('|')})\\b`);
    return code.flatMap(([path, text]) =>
      path.startsWith(`src/sinks/${name}/`) || path === 'src/sinks/index.ts'
        ? []
        : text.split('\n').flatMap((line) => (pattern.test(line) ? [`${path}: ${line.trim()}`] : [])),
    );
  });
  expect(named.filter((line) => !mayName.some(([path]) => path.test(line.split(':')[0] ?? '')))).toEqual([]);
  const unused = mayName.filter(([path]) => !named.some((line) => path.test(line.split(':')[0] ?? '')));
  expect(unused).toEqual([]);
});

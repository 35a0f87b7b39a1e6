import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bridgeConfiguration } from '../../../infra/bridge-configuration.ts';
import { configurationSchema } from '../../../infra/schema/json-schema.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { samplesOf } from '../../../src/config/schema.ts';
import { options, sections } from '../../../src/config.ts';
import { sinks } from '../../../src/sinks/registry.ts';
import { accepted, refused } from '../../config/sample-values.ts';
import { runs } from '../../support/runs.ts';
import { readTree, root } from '../../support/source-tree.ts';

const file = join(root, 'infra/schema/configuration.v1.json');
const published = (): object => JSON.parse(readFileSync(file, 'utf8'));

/** `UPDATE=1 npm run test:unit -- test/infra/schema` and `npm run fix` regenerate it. */
test('the published JSON Schema is the one that the declaration makes', () => {
  const made = configurationSchema();
  if (process.env.UPDATE) writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`);
  else expect(published()).toEqual(made);
});

const validate = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictTypes: false }).compile(published());

function problemsOf(value: unknown): readonly string[] {
  const documents = [{ value, source: 'the file', keepsSecrets: true }];
  return readConfig({ documents, env: {}, defaultStateDirectory: '/state' }).problems ?? [];
}

const samples = [
  ...readTree('infra/examples/*.json', 'infra/kubernetes/config.json'),
  ...[...readTree('README.md', '{src,test,infra,bicep}/**/*.md')].flatMap(([path, text]) =>
    [...text.matchAll(/^```json\n([\s\S]*?)^```$/gm)].flatMap(([, json = ''], i) =>
      /"sinks"/.test(json) ? [[`${path} block ${i + 1}`, json] as const] : [],
    ),
  ),
  [
    'the outputs of a deployment',
    JSON.stringify(
      bridgeConfiguration(
        {
          fullyQualifiedNamespace: 'x.servicebus.windows.net',
          eventHubName: 'vm-lifecycle',
          logsIngestionEndpoint: 'https://x.ingest.monitor.azure.com',
          ruleId: `dcr-${'0'.repeat(32)}`,
          streamName: 'Custom-VmLifecycle_CL',
          heartbeatStreamName: 'Custom-VmLifecycleBridge_CL',
          identityResourceId: '/subscriptions/s',
          identityClientId: '00000000-0000-0000-0000-000000000000',
        },
        'bridgeApproves',
      ),
    ),
  ] as const,
];

test('the samples of configurations are found', () => {
  expect(samples.length).toBeGreaterThan(5);
});

test.for(samples)('the configuration in %s is valid by the JSON Schema', ([, json]) => {
  expect([validate(JSON.parse(json)), validate.errors]).toEqual([true, null]);
});

/** A configuration in which nothing but `value` at `path` can be wrong. */
function configurationWith(path: string, value: unknown): unknown {
  const config: Record<string, unknown> = {
    imds: {},
    observer: {},
    scope: {},
    outbox: {},
    identity: {},
    sinks: { stdout: {} },
    tls: {},
    approve: {},
    heartbeat: {},
    http: {},
    log: {},
  };
  const sinks = config.sinks as Record<string, unknown>;
  if (path.startsWith('sinks.eventHubs.')) {
    sinks.eventHubs = {
      eventHubName: 'hub',
      ...(!/Namespace|connection/.test(path) && { fullyQualifiedNamespace: 'x.servicebus.windows.net' }),
    };
  }
  if (path.startsWith('sinks.logAnalytics.')) {
    sinks.logAnalytics = { endpoint: 'https://x', ruleId: `dcr-${'0'.repeat(32)}` };
  }
  if (path.startsWith('proxy.')) config.proxy = { url: 'http://proxy' };
  put(config, path, value);
  return config;
}

function put(config: Record<string, unknown>, path: string, value: unknown): void {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const section = keys.reduce((at, key) => {
    at[key] ??= {};
    return at[key] as Record<string, unknown>;
  }, config);
  section[last] = value;
}

test.for(accepted.filter(([, value]) => value !== false))('the JSON Schema accepts %s: %j', ([path, value]) => {
  const config = configurationWith(path, value);
  expect([validate(config), problemsOf(config)]).toEqual([true, []]);
});

test.for(refused.filter(([, value]) => !Number.isNaN(value)))('the JSON Schema refuses %s: %j', ([path, value]) => {
  const config = configurationWith(path, value);
  expect([validate(config), problemsOf(config).length]).toEqual([false, 1]);
});

/** Values as they could stand anywhere: all of the lists, those around bounds, and others. */
const anyValue = fc.oneof(
  fc.constantFrom(...[...accepted, ...refused].map(([, value]) => value).filter((value) => !Number.isNaN(value))),
  fc.constantFrom(
    null,
    true,
    false,
    0,
    0.5,
    1,
    2,
    5,
    15,
    16,
    30,
    31,
    60,
    600,
    1440,
    1441,
    65_535,
    65_536,
    1e21,
    '',
    ' ',
  ),
  fc
    .tuple(
      fc.constantFrom('http', 'HTTPS', 'sb', 'socks', ''),
      fc.constantFrom('://', ':/', ''),
      fc.constantFrom('', 'u@', 'u:p@', 'u:p@w@'),
      fc.constantFrom('x', 'x.example', '[::1]', '10.0.0.1', 'x y', ''),
      fc.constantFrom('', ':', ':0', ':443', ':65535', ':65536', ':x'),
      fc.constantFrom('', '/', '/a', '//', '/a?b', '#c'),
    )
    .map((parts) => parts.join('')),
  fc.stringMatching(/^(dcr-|Custom-|[a-z0-9.-]*)[0-9a-fA-F-]{0,33}$/),
  fc.array(fc.oneof(fc.string(), fc.integer()), { maxLength: 3 }),
  fc.jsonValue({ maxDepth: 2 }),
);

const goodValues = (path: string): readonly unknown[] => {
  const known = accepted.flatMap(([at, value]) => (at === path ? [value] : []));
  const { fallback } = options.find((option) => option.path === path) ?? {};
  return [...known, ...(fallback === undefined || fallback === null ? [] : [fallback])];
};

/** Mostly good values, in any of the sections, and now and then a key that there is not, or a section of another kind. */
const configuration = fc
  .tuple(
    fc
      .subarray(options.filter(({ path }) => goodValues(path).length > 0))
      .chain((chosen) =>
        fc.tuple(
          ...chosen.map(({ path }) =>
            fc
              .oneof(
                { weight: 100, arbitrary: fc.constantFrom(...goodValues(path)) },
                { weight: 1, arbitrary: anyValue },
              )
              .map((value) => [path, value] as const),
          ),
        ),
      ),
    fc.array(
      fc.tuple(
        fc.constantFrom(
          ...options.map(({ path }) => path),
          ...sections.map(({ path }) => path || 'nothing'),
          'imds.endpiont',
          'sinks.kafka',
          '$schema',
          'imds.$comment',
        ),
        anyValue,
      ),
      { maxLength: 1 },
    ),
    fc.array(
      fc.constantFrom(
        'sinks.eventHubs.fullyQualifiedNamespace',
        'sinks.eventHubs.connectionString',
        'proxy',
        ...sinks.map(({ key }) => `sinks.${key}`),
      ),
      { maxLength: 4 },
    ),
  )
  .map(([good, wild, without]) => {
    const config: Record<string, unknown> = {};
    for (const { key, section } of sinks) put(config, `sinks.${key}`, { ...Object.values(samplesOf(section))[0] });
    put(config, 'sinks.eventHubs.transport', 'amqp-ws');
    put(config, 'proxy.url', 'http://proxy');
    for (const [path, value] of good) put(config, path, value);
    for (const path of without) put(config, path, null);
    for (const [path, value] of wild) {
      try {
        put(config, path, value);
      } catch {
        // A section of another kind has been put where its keys would be.
      }
    }
    return config;
  });

test('the JSON Schema and the program agree on configurations with and without mistakes', () => {
  const verdicts = { valid: 0, invalid: 0 };
  const numRuns = runs('configurations', { quick: 500, full: 2_000 });
  fc.assert(
    fc.property(configuration, (config) => {
      // The JSON Schema accepts what `config init` writes, which is to be edited with its help; the bridge does not.
      const problems = problemsOf(config).filter((problem) => !/ still has the placeholders? /.test(problem));
      verdicts[problems.length === 0 ? 'valid' : 'invalid'] += 1;
      expect({ isValid: validate(config), problems }).toEqual({ isValid: problems.length === 0, problems });
    }),
    { numRuns },
  );
  expect(Math.min(verdicts.valid, verdicts.invalid)).toBeGreaterThan(numRuns / 16);
});

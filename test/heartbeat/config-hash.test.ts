import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/read-config.ts';
import { options } from '../../src/config.ts';
import { configHash } from '../../src/heartbeat/config-hash.ts';

function configOf(value: object) {
  const documents = [{ value, source: 'the test', keepsSecrets: true }];
  const { config, problems } = readConfig({ documents, env: {}, defaultStateDirectory: '/state' });
  if (!config) throw new Error(problems.join(' '));
  return config;
}
const hub = (key: string) => ({
  sinks: {
    eventHubs: {
      connectionString: `Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=a;SharedAccessKey=${key}`,
      eventHubName: 'hub',
    },
  },
});
const proxy = (url: string) => ({ sinks: { stdout: {} }, proxy: { url } });

test('a configuration has the same hash in any key order, another one has another', () => {
  const one = configOf({ sinks: { stdout: {} }, imds: { timeoutSeconds: 5, pollIntervalSeconds: 2 } });
  const same = configOf({ imds: { pollIntervalSeconds: 2, timeoutSeconds: 5 }, sinks: { stdout: {} } });
  expect(configHash(one)).toMatch(/^[0-9a-f]{16}$/);
  expect(configHash(same)).toBe(configHash(one));
  expect(configHash(configOf({ sinks: { stdout: {} } }))).not.toBe(configHash(one));
});

test('a secret is not part of the hash, so it cannot be guessed from the hash', () => {
  expect(configHash(configOf(hub('one')))).toBe(configHash(configOf(hub('two'))));
  expect(configHash(configOf(proxy('http://user:one@proxy:3128')))).toBe(
    configHash(configOf(proxy('http://user:two@proxy:3128'))),
  );
  expect(configHash(configOf(proxy('http://user@proxy:3128')))).not.toBe(
    configHash(configOf(proxy('http://user:one@proxy:3128'))),
  );
  const secrets = options.filter(({ isSecret }) => isSecret).map(({ path }) => path);
  expect(secrets).toEqual(expect.arrayContaining(['sinks.eventHubs.connectionString', 'proxy.url']));
});

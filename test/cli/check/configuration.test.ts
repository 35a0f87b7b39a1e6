import { expect, test } from 'vitest';
import { configurationFindings, type FileSeen, problemFindings } from '../../../src/cli/check/configuration.ts';
import { readConfig } from '../../../src/config/read-config.ts';

const connectionString = 'Endpoint=sb://x.example;SharedAccessKeyName=n;SharedAccessKey=s3cret';
const variable = 'SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_CONNECTION_STRING';
function findings(mode: number | null, { secret = false, proxy = '', env = {} as NodeJS.ProcessEnv } = {}) {
  const eventHubs = { eventHubName: 'h', ...(secret && { connectionString }) };
  const sinks = secret || env[variable] ? { eventHubs } : { stdout: {} };
  const value = { sinks, ...(proxy && { proxy: { url: proxy } }) };
  const documents = [{ value, source: '/c.json', keepsSecrets: true }];
  const read = readConfig({ documents, env, defaultStateDirectory: '/state' });
  if (!read.config) throw new Error(read.problems.join(' '));
  const file: FileSeen = { path: '/c.json', mode, owner: 'bridge' };
  return configurationFindings({ ...read, file: '/c.json' }, { file, env, warnings: ['Beware.'] });
}

test.for([
  {
    name: 'everyone can read it, and it has no secret',
    mode: 0o644,
    verdict: 'ok',
    message: /by everyone \(mode 644\)\. It holds no secret/,
  },
  {
    name: 'only its owner can read it',
    mode: 0o600,
    secret: true,
    verdict: 'ok',
    message: /by bridge .*It holds a secret, sinks\.eventHubs\.connectionString/,
  },
  {
    name: 'its group, and it holds a secret',
    mode: 0o640,
    secret: true,
    verdict: 'warning',
    message: /group can read that/,
    remedy: 'chmod g-r /c.json',
  },
  {
    name: 'everyone can change it',
    mode: 0o646,
    verdict: 'warning',
    message: /Everyone can change it/,
    remedy: 'chmod go-w /c.json',
  },
  {
    name: 'its group can change it',
    mode: 0o660,
    verdict: 'warning',
    message: /Its group can change it/,
    remedy: 'chmod go-w /c.json',
  },
  {
    name: 'Windows keeps that to itself',
    mode: null,
    verdict: 'not-proven',
    message: /Windows/,
    remedy: 'icacls "/c.json"',
  },
])('the permissions of the configuration: $name', ({ mode, secret, verdict, message, remedy }) => {
  const found = findings(mode, { secret: secret === true }).find(({ what }) => what === 'configuration.readers');
  expect(found).toMatchObject({ verdict, message: expect.stringMatching(message) });
  expect(found?.remedy).toBe(remedy);
});

test.for([
  ['http://ada:s3cret@proxy:3128', 'It holds a secret, proxy.url'],
  ['http://ada@proxy:3128', 'It holds no secret'],
] as const)('the file with the proxy %s: %s', ([proxy, message]) => {
  const found = findings(0o600, { proxy });
  expect(found.find(({ what }) => what === 'configuration.readers')?.message).toContain(message);
  expect(JSON.stringify(found)).not.toContain('s3cret');
});

test('a secret of a variable is not one of the file, and variables are named without their values', () => {
  const found = findings(0o640, { env: { [variable]: connectionString } });
  expect(found.find(({ what }) => what === 'configuration.readers')).toMatchObject({ verdict: 'ok' });
  const environment = found.filter(({ what }) => what === 'configuration.environment');
  expect(environment.map(({ verdict }) => verdict)).toEqual(['ok', 'warning']);
  expect(environment[0]?.message).toContain(variable);
  expect(JSON.stringify(found)).not.toContain('s3cret');
});

test('a secret in a file that others can read has the command that closes it as its remedy', () => {
  const value = { sinks: { eventHubs: { eventHubName: 'h', connectionString } } };
  const documents = [{ value, source: '/c.json', keepsSecrets: false }];
  const { problems = [] } = readConfig({ documents, env: {}, defaultStateDirectory: '/state' });
  expect(problemFindings(problems)).toMatchObject([{ verdict: 'problem', remedy: 'chmod o-rwx /c.json' }]);
});

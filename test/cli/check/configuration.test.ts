import { expect, test } from 'vitest';
import { keepFileFromOthers } from '../../../src/check/windows-access.ts';
import { configurationFindings, type FileSeen, problemFindings } from '../../../src/cli/check/configuration.ts';
import { readConfig } from '../../../src/config/read-config.ts';
import { windows } from '../../../src/operating-system.ts';

const connectionString = 'Endpoint=sb://x.example;SharedAccessKeyName=n;SharedAccessKey=s3cret';
const variable = 'SCHEDULED_EVENTS_BRIDGE_SINKS_EVENT_HUBS_CONNECTION_STRING';
function findings(access: FileSeen['access'], { secret = false, proxy = '', env = {} as NodeJS.ProcessEnv } = {}) {
  const eventHubs = { eventHubName: 'h', ...(secret && { connectionString }) };
  const sinks = secret || env[variable] ? { eventHubs } : { stdout: {} };
  const value = { sinks, ...(proxy && { proxy: { url: proxy } }) };
  const documents = [{ value, source: '/c.json', keepsSecrets: true }];
  const read = readConfig({ documents, env, defaultStateDirectory: '/state' });
  if (!read.config) throw new Error(read.problems.join(' '));
  const file: FileSeen = { path: '/c.json', access, owner: 'bridge' };
  return configurationFindings({ ...read, file: '/c.json' }, { file, env, warnings: ['Beware.'], system: windows });
}

const users = { name: 'Users', isEveryone: true };
const ada = { name: 'the account S-1-5-21-1-2-3-1001', isEveryone: false };
const closed = keepFileFromOthers('/c.json');

test.for<{
  name: string;
  access: FileSeen['access'];
  secret?: boolean;
  verdict: string;
  message: RegExp;
  remedy?: string;
}>([
  {
    name: 'everyone can read it, and it has no secret',
    access: 0o644,
    verdict: 'ok',
    message: /by everyone \(mode 644\)\. It holds no secret/,
  },
  {
    name: 'only its owner can read it',
    access: 0o600,
    secret: true,
    verdict: 'ok',
    message: /by bridge .*It holds a secret, sinks\.eventHubs\.connectionString/,
  },
  {
    name: 'its group, and it holds a secret',
    access: 0o640,
    secret: true,
    verdict: 'warning',
    message: /group can read that/,
    remedy: 'chmod g-r /c.json',
  },
  {
    name: 'its group can change it',
    access: 0o660,
    verdict: 'warning',
    message: /Its group can change it/,
    remedy: 'chmod g-w /c.json',
  },
  {
    name: 'Windows keeps that to itself',
    access: null,
    verdict: 'not-proven',
    message: /^It holds no secret\. The access rights of .* could not be read/,
    remedy: "icacls '/c.json'",
  },
  {
    name: 'only administrators and the service on Windows',
    access: { readers: [], writers: [] },
    secret: true,
    verdict: 'ok',
    message: /^\/c\.json can be read by administrators and the service\. It holds a secret/,
  },
  {
    name: 'every user of Windows, and it has no secret',
    access: { readers: [users], writers: [] },
    verdict: 'ok',
    message: /by Users \(every user\)\. It holds no secret/,
  },
  {
    name: 'every user of Windows, and it holds a secret',
    access: { readers: [users], writers: [] },
    secret: true,
    verdict: 'problem',
    message: /by Users \(every user\)\. It holds a secret/,
    remedy: closed,
  },
  {
    name: 'one more account of Windows, and it holds a secret',
    access: { readers: [ada], writers: [] },
    secret: true,
    verdict: 'warning',
    message: /by the account S-1-5-21-1-2-3-1001\. It holds a secret/,
    remedy: closed,
  },
  {
    name: 'one more account of Windows can change it',
    access: { readers: [ada], writers: [ada] },
    verdict: 'warning',
    message: /The account S-1-5-21-1-2-3-1001 can change it/,
    remedy: closed,
  },
])('the permissions of the configuration: $name', ({ access, secret, verdict, message, remedy }) => {
  const found = findings(access, { secret: secret === true }).find(({ what }) => what === 'configuration.readers');
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

import { expect, test } from 'vitest';
import { readConfig } from '../../../src/config/read-config.ts';

function read(http: object, keepsSecrets = true) {
  const documents = [{ value: { sinks: { http } }, source: 'FILE', keepsSecrets }];
  return readConfig({ documents, env: {}, defaultStateDirectory: '/state' });
}

test('an HTTP endpoint needs only its URL', () => {
  expect(read({ url: 'https://x.example/events' }).config?.sinks.http).toEqual({
    url: 'https://x.example/events',
    mode: 'structured',
    headerFile: null,
    tokenScope: null,
    allowInsecure: false,
  });
});

test.for([
  {
    name: 'is plain HTTP to another machine',
    http: { url: 'http://x.example/' },
    problem: /unencrypted: expected https:\/\/, or sinks\.http\.allowInsecure true/,
  },
  {
    name: 'has a user',
    http: { url: 'https://user:s3cret@x.example/' },
    problem: /^sinks\.http\.url is .*: expected an https:\/\/ URL/,
  },
  { name: 'has a fragment', http: { url: 'https://x.example/#s3cret' }, problem: /expected an https:\/\/ URL/ },
  { name: 'has another scheme', http: { url: 'ftp://x.example/' }, problem: /expected an https:\/\/ URL/ },
  {
    name: 'has two credentials',
    http: { url: 'https://x.example', headerFile: '/a', tokenScope: 'https://x/.default' },
    problem: /^sinks\.http: expected at most one of headerFile and tokenScope/,
  },
  {
    name: 'has an invalid scope',
    http: { url: 'https://x.example', tokenScope: 'https://x' },
    problem: /tokenScope is .*expected a scope that ends with \/\.default/,
  },
])('a configuration that $name is refused', ({ http, problem }) => {
  const { problems = [] } = read(http);
  expect(problems).toEqual([expect.stringMatching(problem)]);
});

test.for(['http://localhost:8080/', 'http://127.0.0.1/', 'http://[::1]:1/'])(
  '%s is allowed: it is this machine',
  (url) => {
    expect(read({ url }).problems).toBeUndefined();
  },
);

test('plain HTTP to another machine can be allowed', () => {
  expect(read({ url: 'http://x.example/', allowInsecure: true }).problems).toBeUndefined();
});

test('a URL with a signature is a secret, one with an api-version is not', () => {
  const signed =
    'https://prod-1.westeurope.logic.azure.com/workflows/1/triggers/manual/paths/invoke?api-version=2016-10-01&sig=s3cret';
  const { problems = [] } = read({ url: signed }, false);
  expect(problems).toEqual([expect.stringMatching(/^sinks\.http\.url is a secret, and others can read FILE/)]);
  expect(problems.join()).not.toContain('s3cret');
  expect(read({ url: signed }).problems).toBeUndefined();
  expect(
    read({ url: 'https://t.westeurope-1.eventgrid.azure.net/api/events?api-version=2018-01-01' }, false).problems,
  ).toBeUndefined();
});

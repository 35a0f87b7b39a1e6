import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';
import { afterAll, afterEach, expect, test } from 'vitest';
import { setProcessWide } from '../../src/process/process-wide.ts';

type Settings = Parameters<typeof setProcessWide>[0];
const imds = { apiVersion: '2020-07-01', pollIntervalSeconds: 1, timeoutSeconds: 10, firstTimeoutSeconds: 130 };

function settings(endpoint: string, more: Partial<Settings> = {}): Settings {
  return { imds: { ...imds, endpoint }, proxy: null, tls: { caFile: null }, ...more };
}

const linkLocal = 'http://169.254.169.254';
const mock = 'http://127.0.0.1:8080/vm/web_3';
const proxy = { url: 'http://proxy:3128', bypass: ['.internal', 'collector'] };

/** As on Windows: the case of a name does not matter. */
function caseless(variables: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const nameOf = (target: object, name: string): string =>
    Object.keys(target).find((one) => one.toLowerCase() === name.toLowerCase()) ?? name;
  return new Proxy(variables, {
    get: (target, name) => Reflect.get(target, nameOf(target, String(name))),
    set: (target, name, value) => Reflect.set(target, nameOf(target, String(name)), value),
    deleteProperty: (target, name) => Reflect.deleteProperty(target, nameOf(target, String(name))),
  });
}

test('on Windows, where names have no case, the proxy and its exceptions are set as elsewhere', () => {
  const env = { Https_Proxy: 'http://other:1', no_proxy: 'localhost' };
  setProcessWide(settings(linkLocal, { proxy }), caseless(env));
  expect(env).toEqual({
    HTTPS_PROXY: 'http://proxy:3128',
    HTTP_PROXY: 'http://proxy:3128',
    NO_PROXY: 'localhost,.internal,collector,169.254.169.254',
  });
});

const cases: readonly { name: string; given: Settings; env: NodeJS.ProcessEnv; becomes: NodeJS.ProcessEnv }[] = [
  {
    name: 'the metadata service is never polled through a proxy',
    given: settings(linkLocal),
    env: { HTTPS_PROXY: 'http://other:1', NO_PROXY: 'localhost' },
    becomes: { HTTPS_PROXY: 'http://other:1', NO_PROXY: 'localhost,169.254.169.254' },
  },
  {
    name: 'hosts that were exempt in lower case stay exempt',
    given: settings(linkLocal),
    env: { http_proxy: 'http://other:1', no_proxy: 'a, b' },
    becomes: { http_proxy: 'http://other:1', NO_PROXY: 'a,b,169.254.169.254' },
  },
  {
    name: 'the host of an explicit endpoint is exempt too, and tokens come from there',
    given: settings(mock),
    env: {},
    becomes: { NO_PROXY: '169.254.169.254,127.0.0.1', AZURE_POD_IDENTITY_AUTHORITY_HOST: mock },
  },
  {
    name: 'with endpoint auto tokens stay link-local',
    given: settings('auto'),
    env: { AZURE_POD_IDENTITY_AUTHORITY_HOST: 'http://elsewhere' },
    becomes: { NO_PROXY: '169.254.169.254' },
  },
  {
    name: 'an inherited token host is overridden by an explicit endpoint',
    given: settings(mock),
    env: { AZURE_POD_IDENTITY_AUTHORITY_HOST: 'http://elsewhere' },
    becomes: { NO_PROXY: '169.254.169.254,127.0.0.1', AZURE_POD_IDENTITY_AUTHORITY_HOST: mock },
  },
  {
    name: 'the configured proxy replaces an inherited one',
    given: settings(linkLocal, { proxy }),
    env: { https_proxy: 'http://other:1', HTTP_PROXY: 'http://other:2', NO_PROXY: 'localhost' },
    becomes: {
      HTTPS_PROXY: 'http://proxy:3128',
      HTTP_PROXY: 'http://proxy:3128',
      NO_PROXY: 'localhost,.internal,collector,169.254.169.254',
    },
  },
  {
    name: "other products' identity services are not believed",
    given: settings(linkLocal),
    env: {
      IDENTITY_ENDPOINT: 'x',
      IDENTITY_HEADER: 'x',
      MSI_ENDPOINT: 'x',
      MSI_SECRET: 'x',
      AZURE_FEDERATED_TOKEN_FILE: 'x',
      AZURE_CLIENT_ID: 'stays',
    },
    becomes: { NO_PROXY: '169.254.169.254', AZURE_CLIENT_ID: 'stays' },
  },
];

test.for(cases)('$name', ({ given, env, becomes }) => {
  setProcessWide(given, env);
  expect(env).toEqual(becomes);
});

const directory = mkdtempSync(join(tmpdir(), 'process-wide-'));
const before = getCACertificates('default');
const fingerprints = (authorities: readonly string[]) =>
  new Set(authorities.map((pem) => new X509Certificate(pem).fingerprint256));

/** How many authorities are trusted that were not before, and how many no more. */
function trusted() {
  const [then, now] = [fingerprints(before), fingerprints(getCACertificates('default'))];
  const without = (some: Set<string>, others: Set<string>) => [...some].filter((one) => !others.has(one)).length;
  return { added: without(now, then), lost: without(then, now) };
}

afterEach(() => setDefaultCACertificates(before));
afterAll(() => rmSync(directory, { recursive: true }));

async function selfSigned(
  file: string,
): Promise<{ readonly caFile: string; readonly cert: string; readonly key: string }> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
  });
  const caFile = join(directory, file);
  writeFileSync(caFile, cert);
  return { caFile, cert, key };
}

async function statusOf(port: number): Promise<number | string | undefined> {
  const request = get({ host: 'localhost', port, agent: false });
  try {
    const [response] = await once(request, 'response');
    response.resume();
    return response.statusCode;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

test('a command of a user keeps the identities that the environment offers, and still asks an explicit endpoint', () => {
  const offered = { AZURE_FEDERATED_TOKEN_FILE: '/token', AZURE_POD_IDENTITY_AUTHORITY_HOST: 'http://elsewhere' };
  const env: NodeJS.ProcessEnv = { ...offered };
  setProcessWide(settings(linkLocal), env, () => null, 'the user');
  expect(env).toMatchObject(offered);
  setProcessWide(settings(mock), env, () => null, 'the user');
  expect(env).toMatchObject({ ...offered, AZURE_POD_IDENTITY_AUTHORITY_HOST: mock });
});

test('an authority in tls.caFile is trusted beside those that were trusted before', async () => {
  const { caFile, cert, key } = await selfSigned('ca.pem');
  const server = createServer({ cert, key }, (_, response) => response.end()).listen(0, 'localhost');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await statusOf(port)).toMatch(/SELF_SIGNED/);
  expect(setProcessWide(settings(linkLocal, { tls: { caFile } }), {})).toEqual([]);
  expect(await statusOf(port)).toBe(200);
  expect(trusted()).toEqual({ added: 1, lost: 0 });
  server.close();
});

test('authorities in SSL_CERT_FILE are trusted too', async () => {
  const { caFile } = await selfSigned('first.pem');
  const bundle = join(directory, 'bundle.pem');
  const { cert } = await selfSigned('second.pem');
  writeFileSync(bundle, `# two\n${cert}\n${readFileSync(caFile, 'utf8')}`);
  setProcessWide(settings(linkLocal, { tls: { caFile } }), { SSL_CERT_FILE: bundle });
  expect(trusted()).toEqual({ added: 2, lost: 0 });
});

test('a process that opens no TLS connection checks the authorities without loading them', async () => {
  const { caFile } = await selfSigned('unused.pem');
  const check = (file: string) =>
    setProcessWide(settings(linkLocal, { tls: { caFile: file } }), {}, () => null, 'this VM', false);
  expect(check(caFile)).toEqual([]);
  expect(trusted()).toEqual({ added: 0, lost: 0 });
  expect(() => check('/no/such.pem')).toThrow('there is no such file');
});

test('without configured authorities the defaults are unchanged', () => {
  setProcessWide(settings(linkLocal), {});
  expect(trusted()).toEqual({ added: 0, lost: 0 });
});

test('an SSL_CERT_FILE that is unusable is a warning', () => {
  expect(setProcessWide(settings(linkLocal), { SSL_CERT_FILE: '/no/such.pem' })).toEqual([
    'The environment variable SSL_CERT_FILE is not used, since /no/such.pem is unusable: there is no such file.',
  ]);
});

const badPem = '-----BEGIN CERTIFICATE-----\nbm8=\n-----END CERTIFICATE-----\n';
test.for([
  ['missing', null, 'there is no such file'],
  ['empty', '', 'it holds no certificate in PEM form'],
  ['of another form', '\u0030\u0082', 'it holds no certificate in PEM form'],
  ['broken', badPem, 'certificate 1 in it cannot be read'],
] as const)('a tls.caFile that is %s is refused', ([name, content, why]) => {
  const caFile = join(directory, `${name}.pem`);
  if (content !== null) writeFileSync(caFile, content);
  const source = (path: string) => (path === 'tls.caFile' ? '/etc/config.json' : null);
  expect(() => setProcessWide(settings(linkLocal, { tls: { caFile } }), {}, source)).toThrow(
    `tls.caFile is ${JSON.stringify(caFile)} in /etc/config.json: ${why}; expected a PEM file of certificates.`,
  );
});

/** Size in bytes of the space for young objects, after three million of them in a process of its own. */
function youngSpace(setUp: string): number {
  const source = `
    import { getHeapSpaceStatistics } from 'node:v8';
    import { setProcessWide } from ${JSON.stringify(join(import.meta.dirname, '../../src/process/process-wide.ts'))};
    ${setUp}
    const kept = [];
    for (let i = 0; i < 3_000_000; i += 1) kept[i % 100_000] = { i };
    console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size);
  `;
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' }));
}

test('young objects are limited to a few megabytes, however many there are', () => {
  const limited = youngSpace(`setProcessWide(${JSON.stringify(settings(linkLocal))}, {});`);
  // 2 to 9 MB beside 33 MB. It is no firm limit: a collection on other threads lets it grow for a moment.
  expect(limited * 2).toBeLessThan(youngSpace(''));
});

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { networkPathTo } from '../../../src/check/connectivity.ts';
import type { SinkCheckContext } from '../../../src/check/context.ts';
import type { AccessRights } from '../../../src/check/sddl.ts';
import { keepFileFromOthers } from '../../../src/check/windows-access.ts';
import { systemClock } from '../../../src/clock.ts';
import { canRead, checkHttp } from '../../../src/sinks/http/check.ts';
import type { HttpConfig } from '../../../src/sinks/http/config.ts';
import { sampleEntry } from '../../support/sample-record.ts';
import { type Receiver, startReceiver, unusedPort } from './receiver.ts';

let receiver: Receiver;
const folder = mkdtempSync(join(tmpdir(), 'bridge-http-check-'));
const header = join(folder, 'header');

beforeAll(async () => {
  receiver = await startReceiver();
  writeFileSync(header, 'Authorization: Bearer s3cret', { mode: 0o600 });
});
afterEach(() => {
  receiver.behave(null);
  chmodSync(header, 0o600);
});
afterAll(async () => {
  await receiver.close();
  rmSync(folder, { recursive: true });
});

const tokenFailure = { code: 'token-no-identity', reason: 'No identity.' };

/** Verdicts by name of the finding, and all messages. */
async function check(
  settings: Partial<HttpConfig> = {},
  {
    write = false,
    offline = false,
    failure = null as null | typeof tokenFailure,
    access = null as AccessRights | null,
  } = {},
) {
  const scope = 'https://eventgrid.azure.net/.default';
  const context: SinkCheckContext = {
    clock: systemClock,
    signal: new AbortController().signal,
    credential: { getToken: async () => ({ token: 't', expiresOnTimestamp: Date.now() + 3_600_000 }) },
    write,
    offline,
    stateDirectory: folder,
    accessTo: async () => access,
    vm: async () => null,
    testEntry: async () => sampleEntry({ recordId: 'probe', isTest: true }),
    tokens: async () => [{ scope, claims: null, failure }],
  };
  const config = {
    url: receiver.url,
    mode: 'structured',
    headerFile: null,
    tokenScope: null,
    allowInsecure: false,
    ...settings,
  } as const;
  const findings = await checkHttp(config, context);
  return {
    verdicts: Object.fromEntries(findings.map(({ what, verdict }) => [what.replace('http.', ''), verdict])),
    remedies: findings.flatMap(({ remedy = [] }) => remedy),
    text: findings.map(({ message, remedy = '' }) => `${message} ${remedy}`).join('\n'),
  };
}

test('an endpoint that answers is reached, which does not prove that it takes events, and nothing is sent', async () => {
  const before = receiver.events.length;
  const { verdicts, text } = await check();
  expect(verdicts).toEqual({ name: 'ok', tcp: 'ok', credential: 'ok', reach: 'not-proven' });
  expect(text).toContain('check --write');
  expect(receiver.events.length).toBe(before);
  expect(receiver.requests.at(-1)?.method).toBe('OPTIONS');
});

test.for([204, 400, 404, 405, 410, 413, 415, 422, 501])(
  'an endpoint that answers OPTIONS with %d is reached all the same',
  async (status) => {
    receiver.behave({ status });
    expect((await check()).verdicts.reach).toBe('not-proven');
  },
);

test('a test record that is accepted verifies the endpoint', async () => {
  expect((await check({}, { write: true })).verdicts).toMatchObject({ reach: 'ok', probe: 'ok' });
  expect(receiver.events.at(-1)).toMatchObject({ id: 'probe', data: { isTest: true } });
});

test.for([302, 401, 403])(
  'an answer of HTTP %d to OPTIONS is a warning, since a POST may be allowed',
  async (status) => {
    receiver.behave({ status });
    const { verdicts, text } = await check();
    expect(verdicts.reach).toBe('warning');
    expect(text).toContain(`HTTP ${status}`);
    expect(text).toContain('check --write decides');
  },
);

test('an answer of HTTP 500 to OPTIONS is a problem', async () => {
  receiver.behave({ status: 500 });
  const { verdicts, text } = await check();
  expect(verdicts.reach).toBe('problem');
  expect(text).toContain('HTTP 500');
});

test.for([302, 401, 404, 500])(
  'with --write, a POST is accepted after HTTP %d to OPTIONS: verified',
  async (ofOptions) => {
    receiver.behave({ status: 202, ofOptions });
    expect((await check({}, { write: true })).verdicts).toMatchObject({ reach: 'ok', probe: 'ok' });
  },
);

test.for([401, 403, 404, 302, 400, 500])('with --write, an answer of HTTP %d to POST is a problem', async (status) => {
  receiver.behave({ status, ofOptions: 204 });
  const { verdicts, text } = await check({ headerFile: header }, { write: true });
  expect(verdicts).toMatchObject({ credential: 'ok', reach: 'problem', probe: 'problem' });
  expect(text).toContain(`HTTP ${status}`);
});

test('an address where nothing listens is a problem of the connection', async () => {
  const { verdicts } = await check({ url: `http://127.0.0.1:${await unusedPort()}/` });
  expect(verdicts).toMatchObject({ name: 'ok', tcp: 'problem', reach: 'not-proven' });
});

test('a header file that others can read is a problem with its remedy, and so is one that is missing; neither is quoted', async () => {
  const good = await check({ headerFile: header });
  chmodSync(header, 0o644);
  const open = await check({ headerFile: header });
  const missing = await check({ headerFile: join(folder, 'none') });
  expect([good, open, missing].map(({ verdicts }) => verdicts.credential)).toEqual(['ok', 'problem', 'problem']);
  expect(open.text).toContain(`(chmod o-rwx ${header})`);
  expect(open.remedies).toContain(`chmod o-rwx ${header}`);
  expect(good.text).toContain('the header Authorization');
  expect(good.text + open.text).not.toContain('s3cret');
});

test('a header file that others can read on Windows is a problem, with the command that closes it', async () => {
  const access = { readers: [{ name: 'Users', isEveryone: true }], writers: [] };
  const { verdicts, remedies } = await check({ headerFile: header }, { offline: true, access });
  expect(verdicts).toEqual({ credential: 'problem' });
  expect(remedies).toEqual([keepFileFromOthers(header)]);
});

test('offline, only the header file is verified', async () => {
  const before = receiver.requests.length;
  expect((await check({ headerFile: header }, { offline: true })).verdicts).toEqual({ credential: 'ok' });
  chmodSync(header, 0o644);
  expect((await check({ headerFile: header }, { offline: true })).verdicts).toEqual({ credential: 'problem' });
  expect((await check({}, { offline: true })).verdicts).toEqual({});
  expect(receiver.requests.length).toBe(before);
});

test.for([
  { of: 'its own', uid: 900, gid: 900, mode: 0o400, can: true },
  { of: 'its own, without the right', uid: 900, gid: 900, mode: 0o040, can: false },
  { of: 'another user and its group', uid: 0, gid: 900, mode: 0o640, can: true },
  { of: 'another user and its group, without the right', uid: 0, gid: 900, mode: 0o600, can: false },
  { of: 'root alone', uid: 0, gid: 0, mode: 0o640, can: false },
])('the account of the service can read a header file of $of: $can', ({ can, ...file }) => {
  expect(canRead(file, { uid: 900, gid: 900 })).toBe(can);
  expect(canRead(file, { uid: 0, gid: 0 })).toBe(true);
});

test('without a token the HTTP endpoint is not probed', async () => {
  const before = receiver.requests.length;
  const tokenScope = 'https://eventgrid.azure.net/.default';
  expect((await check({ tokenScope }, { failure: tokenFailure })).verdicts).toMatchObject({
    credential: 'ok',
    reach: 'not-proven',
  });
  expect(receiver.requests.length).toBe(before);
  await check({ tokenScope });
  expect(receiver.requests.at(-1)?.headers.authorization).toBe('Bearer t');
});

test.for([
  ['https://x.example/a?b=c', { host: 'x.example', port: 443, tls: true, proxy: null }],
  ['https://x.example:8443/', { host: 'x.example', port: 8443, tls: true, proxy: null }],
  ['http://[::1]:8080/a', { host: '::1', port: 8080, tls: false, proxy: null }],
  ['http://localhost', { host: 'localhost', port: 80, tls: false, proxy: null }],
] as const)('the way to %s', ([url, way]) => {
  expect(networkPathTo(url)).toEqual(way);
});

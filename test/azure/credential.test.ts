import type { AccessToken } from '@azure/identity';
import { expect, test } from 'vitest';
import { type BridgeCredential, createCredential } from '../../src/azure/credential.ts';
import { KnownFailure, retry } from '../../src/azure/failure.ts';
import { silentLog } from '../../src/log.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

const hour = 3_600_000;

interface Source {
  readonly clock: FakeClock;
  readonly credential: BridgeCredential;
  readonly asked: string[];
  /** What the endpoint does from now on. */
  answer: () => Promise<AccessToken>;
  warnings: object[];
  lines: string[];
}

/** A credential over a source that the test drives, and a clock that it owns. Tokens live a day. */
function setUp(options: { lifeMs?: number; deadlineMs?: number } = {}): Source {
  const clock = createFakeClock();
  const asked: string[] = [];
  const warnings: object[] = [];
  const lines: string[] = [];
  const source: Source = {
    clock,
    asked,
    warnings,
    lines,
    answer: async () => ({
      token: `token ${asked.length}`,
      expiresOnTimestamp: clock.now().getTime() + (options.lifeMs ?? 24 * hour),
    }),
    credential: createCredential({
      clock,
      log: {
        ...silentLog,
        info: (_, message) => void lines.push(message),
        warn: (fields, message) => {
          warnings.push(fields);
          lines.push(message);
        },
      },
      source: {
        getToken(scopes) {
          asked.push(String(scopes));
          return source.answer();
        },
      },
      deadlineMs: options.deadlineMs ?? 1000,
    }),
  };
  return source;
}

const down = (): Promise<never> => Promise.reject(new Error('the endpoint is down'));
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('simultaneous requests for a token get the same one, fetched once', async () => {
  const { credential, asked } = setUp();
  const tokens = await Promise.all([1, 2, 3].map(() => credential.getToken('hub')));
  expect(new Set(tokens.map(({ token }) => token)).size).toBe(1);
  expect(asked).toEqual(['hub']);
  await credential.getToken('monitor');
  expect(asked).toEqual(['hub', 'monitor']);
});

test('a token is served from the cache for half of its lifetime, then refreshed while it is still served', async () => {
  const { credential, asked, clock } = setUp();
  const first = await credential.getToken('hub');
  await clock.advance(12 * hour - 1000);
  expect(await credential.getToken('hub')).toBe(first);
  expect(asked).toHaveLength(1);
  await clock.advance(2000);
  expect(await credential.getToken('hub')).toBe(first);
  await settle();
  expect(asked).toHaveLength(2);
  expect((await credential.getToken('hub')).token).toBe('token 2');
});

test('while the endpoint is down the cached token is served until it expires, and refreshed at most once a minute', async () => {
  const source = setUp();
  const { credential, clock, asked, warnings } = source;
  const first = await credential.getToken('hub');
  source.answer = down;
  await clock.advance(13 * hour);
  for (let second = 0; second < 120; second += 1) {
    expect(await credential.getToken('hub')).toBe(first);
    await clock.advance(1000);
  }
  expect(asked.length).toBeLessThanOrEqual(4);
  expect(warnings).toMatchObject([{ scopes: [{ scope: 'hub', held: true }] }]);
  await clock.advance(11 * hour);
  await expect(credential.getToken('hub')).rejects.toThrow('the endpoint is down');
});

test('an endpoint that is down is logged once for all scopes, repeatedly while it lasts, and when it recovers', async () => {
  const source = setUp();
  const { credential, clock, lines } = source;
  const works = source.answer;
  source.answer = down;
  credential.prefetch(['hub', 'monitor']);
  for (let minute = 0; minute < 15; minute += 1) await clock.advance(60_000);
  expect(lines.map((line) => line.replace(/:.*/, ''))).toEqual(['No token', 'Still no token']);
  source.answer = works;
  for (let second = 0; second < 120; second += 1) await clock.advance(1000);
  expect(lines.at(-1)).toMatch(/^Token acquisition recovered after \d+ s\.$/);
  expect(lines).toHaveLength(3);
  credential.close();
});

test('an endpoint that never answers delays callers no longer than the deadline', async () => {
  const source = setUp({ deadlineMs: 20 });
  source.answer = () => new Promise(() => {});
  await expect(source.credential.getToken('hub')).rejects.toMatchObject({
    failure: { kind: 'retry', cause: 'transient', code: 'token-timeout' },
  });
  expect(source.credential.deadlines.missed).toEqual({ token: 1 });
});

test('one who stops waiting for a token does not take it from the others', async () => {
  const source = setUp();
  const answers: ((token: AccessToken) => void)[] = [];
  source.answer = () => new Promise((resolve) => answers.push(resolve));
  const callOff = new AbortController();
  const impatient = source.credential.getToken('hub', { abortSignal: callOff.signal });
  const patient = source.credential.getToken('hub');
  callOff.abort();
  await expect(impatient).rejects.toMatchObject({ failure: { code: 'aborted' } });
  answers[0]?.({ token: 'late', expiresOnTimestamp: source.clock.now().getTime() + hour });
  expect((await patient).token).toBe('late');
});

test('prefetched tokens are kept fresh without requests, also after a failure', async () => {
  const source = setUp();
  source.answer = down;
  const good = setUp().answer;
  source.credential.prefetch(['hub', 'hub', 'monitor']);
  await source.clock.advance(1000);
  expect(source.asked).toEqual(['hub', 'monitor']);
  source.answer = async () => ({ ...(await good()), expiresOnTimestamp: source.clock.now().getTime() + 24 * hour });
  await source.clock.advance(10_000);
  expect(source.asked).toHaveLength(4);
  await source.clock.advance(25 * hour);
  expect(source.asked.length).toBeGreaterThanOrEqual(8);
  source.credential.close();
  expect(source.clock.sleepers()).toBe(0);
});

test('a token that is valid only for minutes is not fetched in a loop', async () => {
  const { credential, clock, asked } = setUp({ lifeMs: 3 * 60_000 });
  credential.prefetch(['hub']);
  await clock.advance(hour);
  credential.close();
  expect(asked.length).toBeLessThan(70);
});

test('without a token the endpoint is tried every 20 s regardless of its Retry-After, and waiting callers get the token when it arrives', async () => {
  const source = setUp();
  const works = source.answer;
  source.answer = () => Promise.reject(new KnownFailure(retry('throttled', 'token-throttled', 'later', hour)));
  let recovered = 0;
  source.credential.onRecovered(() => {
    recovered += 1;
  });
  source.credential.prefetch(['hub']);
  for (let second = 0; second < 600; second += 1) await source.clock.advance(1000);
  expect(source.asked.length).toBeGreaterThanOrEqual(29);
  expect(source.asked.length).toBeLessThan(36);
  expect(recovered).toBe(0);
  source.answer = works;
  for (let second = 0; second < 20; second += 1) await source.clock.advance(1000);
  expect(recovered).toBe(1);
  source.credential.close();
});

test('a token that has expired when it is given is passed on, and its successor ends the failure', async () => {
  const source = setUp();
  const works = source.answer;
  source.answer = async () => ({ token: 'old', expiresOnTimestamp: source.clock.now().getTime() - 1000 });
  let recovered = 0;
  source.credential.onRecovered(() => {
    recovered += 1;
  });
  source.credential.prefetch(['hub']);
  // The clock of this machine may be the one that is wrong.
  expect((await source.credential.getToken('hub')).token).toBe('old');
  for (let second = 0; second < 60; second += 1) await source.clock.advance(1000);
  expect(recovered).toBe(0);
  source.answer = works;
  for (let second = 0; second < 20; second += 1) await source.clock.advance(1000);
  expect(recovered).toBe(1);
  source.credential.close();
});

test('a token that a service refuses is replaced, once for all who were refused with it', async () => {
  const { credential, asked } = setUp();
  const { token } = await credential.getToken('hub');
  expect(await Promise.all([credential.replace('hub', token), credential.replace('hub', token)])).toEqual([true, true]);
  expect(asked).toHaveLength(2);
  expect((await credential.getToken('hub')).token).not.toBe(token);
});

test('refused new tokens are not fetched in a loop', async () => {
  const { credential, asked, clock } = setUp();
  for (let second = 0; second < 600; second += 10) {
    const { token } = await credential.getToken('hub');
    await credential.replace('hub', token);
    await clock.advance(10_000);
  }
  expect(asked.length).toBeLessThanOrEqual(4);
});

test('a refused token that cannot be replaced is not used again', async () => {
  const source = setUp();
  const { token } = await source.credential.getToken('hub');
  source.answer = down;
  expect(await source.credential.replace('hub', token)).toBe(false);
  await expect(source.credential.getToken('hub')).rejects.toThrow('the endpoint is down');
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { managedIdentityTokens } from '../../src/azure/token-source.ts';
import type { ImdsFault } from '../../src/azure-simulator/index.ts';
import { type LocalAzure, startLocalAzure } from '../support/local-azure.ts';

let local: LocalAzure;
// One for all: MSAL keeps the network of a process's first credential for all later ones.
const tokens = managedIdentityTokens('11111111-2222-3333-4444-555555555555', 300);

beforeAll(async () => {
  local = await startLocalAzure();
});
afterAll(() => local.close());

test('a token of the managed identity comes from the real endpoint protocol, with its expiry', async () => {
  const token = await tokens.getToken('https://monitor.azure.com/.default');
  expect(token?.token.split('.')).toHaveLength(3);
  expect(token?.expiresOnTimestamp).toBeGreaterThan(Date.now() + 23 * 3_600_000);
});

describe('a token endpoint that answers', () => {
  const badRequest = JSON.stringify({ error: 'invalid_request', error_description: 'Identity not found' });
  const cases: { fault: ImdsFault; cause: string; code: string; reason?: string; retryAfterMs?: number }[] = [
    {
      fault: { status: 400, body: badRequest },
      cause: 'configuration',
      code: 'token-no-identity',
      reason:
        '"Identity not found"): assign the identity to this VM (az vm identity assign) or correct identity.clientId, now 11111111-2222-3333-4444-555555555555',
    },
    { fault: { status: 403, body: '{}' }, cause: 'configuration', code: 'token-refused' },
    {
      fault: { status: 404, body: '' },
      cause: 'configuration',
      code: 'token-not-found',
      reason: 'check imds.endpoint',
    },
    { fault: { status: 410, body: 'gone' }, cause: 'transient', code: 'token-not-ready', reason: '70 s' },
    {
      fault: { status: 429, headers: { 'retry-after': '7' } },
      cause: 'throttled',
      code: 'token-throttled',
      retryAfterMs: 7000,
    },
    { fault: { status: 429 }, cause: 'throttled', code: 'token-throttled' },
    { fault: { status: 500, body: 'boom' }, cause: 'transient', code: 'token-server-error' },
    { fault: { status: 503, body: '' }, cause: 'transient', code: 'token-server-error' },
    { fault: { status: 200, body: '{}' }, cause: 'transient', code: 'token-unreadable' },
    { fault: 'not-json', cause: 'transient', code: 'token-unreadable' },
    { fault: 'empty', cause: 'transient', code: 'token-unreadable' },
    { fault: 'reset', cause: 'transient', code: 'token-unreachable' },
  ];
  for (const [index, { fault, cause, code, reason, retryAfterMs }] of cases.entries()) {
    test(`${JSON.stringify(fault)} is taken for ${code}, at the first request`, async () => {
      // Each its own resource: MSAL keeps tokens for the whole process.
      const scope = `https://case-${index}.example/.default`;
      local.azure.imds.fault('token', fault, 1);
      const failing = tokens.getToken(scope);
      await expect(failing).rejects.toMatchObject({
        failure: { kind: 'retry', cause, code, ...(retryAfterMs !== undefined && { retryAfterMs }) },
        message: expect.stringContaining(reason ?? ''),
      });
      expect((await tokens.getToken(scope))?.token).toBeTruthy();
    });
  }
});

test('a request that is not answered is aborted, not only abandoned', async () => {
  local.azure.imds.fault('token', 'hang', 1);
  const failing = tokens.getToken('https://hang.example/.default');
  await expect(failing).rejects.toMatchObject({ failure: { cause: 'transient', code: 'token-unreachable' } });
  const openSockets = process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
  // Ours and the simulator's end of the kept-alive connection at most.
  expect(openSockets).toBeLessThanOrEqual(2);
});

import { describe, expect, test } from 'vitest';
import { makeCertificate } from '../../src/azure-simulator/certificate.ts';
import { createTokenIssuer } from '../../src/azure-simulator/token-issuer.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';

const request = { resource: 'https://monitor.azure.com', clientId: null, vmResourceId: '/subscriptions/s/vm' };

describe('a simulated token', () => {
  test('is accepted for its own audience, with and without the trailing slash', async () => {
    const issuer = await createTokenIssuer();
    const plain = await issuer.issue(request);
    const slashed = await issuer.issue({ ...request, resource: 'https://monitor.azure.com/' });
    expect(await issuer.refusal(plain.token, ['https://monitor.azure.com'])).toBeNull();
    expect(await issuer.refusal(slashed.token, ['https://monitor.azure.com'])).toBeNull();
  });

  test('is refused for another audience, past its expiry, from another issuer, and when tampered with', async () => {
    const issuer = await createTokenIssuer();
    const expired = await createTokenIssuer({ lifetimeSeconds: -120 });
    const stranger = await createTokenIssuer();
    const good = await issuer.issue(request);
    const refusals = [
      await issuer.refusal(good.token, ['https://eventhubs.azure.net']),
      await expired.refusal((await expired.issue(request)).token, ['https://monitor.azure.com']),
      await issuer.refusal((await stranger.issue(request)).token, ['https://monitor.azure.com']),
      await issuer.refusal(`${good.token.slice(0, -8)}AAAAAAAA`, ['https://monitor.azure.com']),
      await issuer.refusal('not a token', ['https://monitor.azure.com']),
    ];
    expect(refusals.filter((refusal) => refusal === null)).toEqual([]);
  });

  test('is accepted by an issuer that has the same key', async () => {
    using directory = temporaryDirectory('issuer');
    const { key } = await makeCertificate({ directory: directory.path });
    const { token, clientId } = await (await createTokenIssuer({ key })).issue(request);
    const again = await createTokenIssuer({ key });
    expect(await again.refusal(token, [request.resource])).toBeNull();
    expect((await again.issue(request)).clientId).toBe(clientId);
  });

  test('names the requested user-assigned identity', async () => {
    const issuer = await createTokenIssuer();
    const { clientId } = await issuer.issue({ ...request, clientId: 'my-client' });
    expect(clientId).toBe('my-client');
  });
});

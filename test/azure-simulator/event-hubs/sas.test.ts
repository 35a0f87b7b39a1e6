import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sasExpiry, sasRefusal } from '../../../src/azure-simulator/event-hubs/sas.ts';

const key = { name: 'root', key: 'c2VjcmV0' };
const hub = 'sb://localhost:5671/vm-lifecycle';

function sign({ scope = hub, secret = key.key, name = key.name, expires = Date.now() / 1000 + 600 } = {}): string {
  const resource = encodeURIComponent(scope);
  const expiry = Math.round(expires);
  const signature = createHmac('sha256', secret).update(`${resource}\n${expiry}`).digest('base64');
  return `SharedAccessSignature sr=${resource}&sig=${encodeURIComponent(signature)}&se=${expiry}&skn=${name}`;
}

describe('a shared access signature', () => {
  test.each([
    ['for the hub itself', hub, sign()],
    ['for the namespace', `${hub}/Partitions/1`, sign({ scope: 'sb://localhost:5671/' })],
    ['in other letters', hub.toUpperCase(), sign()],
    ['in another scheme', hub, sign({ scope: hub.replace('sb:', 'amqp:') })],
    ['without a scheme', hub, sign({ scope: 'localhost:5671' })],
  ])('is accepted %s', (_, audience, token) => {
    expect(sasRefusal(token, audience, key)).toBeNull();
  });

  test.each([
    ['for another hub', sign({ scope: 'sb://localhost:5671/other' }), 'the token is for'],
    ['for a hub whose name begins like it', sign({ scope: 'sb://localhost:5671/vm' }), 'the token is for'],
    ['for another hub, without a scheme', sign({ scope: 'localhost:5671/other' }), 'the token is for'],
    ['that cannot be decoded', 'SharedAccessSignature sr=%zz&sig=%zz&se=1&skn=%zz', 'the token is not well encoded'],
    ['made with another key', sign({ secret: 'b3RoZXI=' }), 'the signature is wrong'],
    ['of another key name', sign({ name: 'stranger' }), 'the shared access key name is unknown'],
    ['of nothing', 'SharedAccessSignature ', 'the shared access key name is unknown'],
  ])('is refused %s', (_, token, reason) => {
    expect(sasRefusal(token, hub, key)).toContain(reason);
  });

  test('has an expiry, or none', () => {
    expect(sasExpiry(sign({ expires: 1_800_000_000 }))).toBe(1_800_000_000_000);
    expect(sasExpiry('SharedAccessSignature sr=x&se=soon')).toBeNull();
  });
});

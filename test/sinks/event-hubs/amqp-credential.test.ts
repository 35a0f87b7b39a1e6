import { expect, test } from 'vitest';
import { amqpCredential, amqpExpiry } from '../../../src/sinks/event-hubs/amqp-credential.ts';

const minute = 60_000;
/** What the SDK makes of an expiry: the interval in which it renews, for the life of the connection. */
const renewalInterval = (expiry: number, now: number): number => expiry - now - 2 * minute;

const cases: { name: string; life: number; every: number }[] = [
  { name: 'a token of a day is renewed every half hour', life: 24 * 60 * minute, every: 30 * minute },
  { name: 'a token of 40 minutes is renewed after 20', life: 40 * minute, every: 20 * minute },
  { name: 'a token that ends in 90 seconds does not make the SDK spin', life: 1.5 * minute, every: minute },
  { name: 'a token that has ended does not make the SDK spin', life: -minute, every: minute },
];
for (const { name, life, every } of cases) {
  test(name, () => {
    expect(renewalInterval(amqpExpiry(1_000_000 + life, 1_000_000), 1_000_000)).toBe(every);
  });
}

test('a discarded connection gets no token any more', async () => {
  const token = { token: 'secret', expiresOnTimestamp: 10 * minute };
  const credential = amqpCredential({ getToken: async () => token }, () => 0);
  expect(await credential.getToken('scope')).toEqual({ token: 'secret', expiresOnTimestamp: 7 * minute });
  credential.revoke();
  await expect(credential.getToken('scope')).rejects.toThrow('discarded');
});

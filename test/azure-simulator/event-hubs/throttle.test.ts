import type { Sender } from 'rhea';
import { describe, expect, test } from 'vitest';
import { batchFormat } from '../../../src/azure-simulator/event-hubs/batch.ts';
import { createThrottle } from '../../../src/azure-simulator/event-hubs/throttle.ts';
import { attach, batch, open, outcome, putToken, signature, startNamespace } from './bare-client.ts';

describe('an ingress limit', () => {
  test('is 1,000 events a second for each unit, and unlimited without units', () => {
    let now = 0;
    const throttle = createThrottle(() => now);
    expect(throttle.admits(1_000_000, 1)).toBe(true);
    throttle.limit({ throughputUnits: 2 });
    expect([throttle.admits(1_999, 1), throttle.admits(1, 1), throttle.admits(1, 1)]).toEqual([true, true, false]);
    now += 1;
    expect([throttle.admits(2, 1), throttle.admits(1, 1)]).toEqual([true, false]);
    now += 10_000;
    expect([throttle.admits(2_000, 1), throttle.admits(1, 1)]).toEqual([true, false]);
    throttle.limit(null);
    expect(throttle.admits(1_000_000, 1)).toBe(true);
  });

  test('is 1 MB a second for each unit; what a batch took too much is missing afterwards', () => {
    let now = 0;
    const throttle = createThrottle(() => now);
    throttle.limit({ throughputUnits: 0.5 });
    expect([throttle.admits(1, 1_048_576), throttle.admits(1, 1)]).toEqual([true, false]);
    now += 1_000;
    expect(throttle.admits(1, 1)).toBe(false);
    now += 10;
    expect(throttle.admits(1, 1)).toBe(true);
  });

  test('refuses a transfer as throttled, and takes it a second later', async () => {
    const namespace = await startNamespace();
    const connection = open(namespace.eventHubs);
    await putToken(connection, signature(namespace.eventHubs));
    const sender = (await attach(connection, 'vm-lifecycle')) as Sender;
    namespace.eventHubs.limit({ throughputUnits: 1 });
    expect(await outcome(sender, batch(1_000), batchFormat)).toBe('accepted');
    expect(await outcome(sender, batch(1), batchFormat)).toBe('com.microsoft:server-busy');
    namespace.advance(1_000);
    expect(await outcome(sender, batch(1), batchFormat)).toBe('accepted');
    expect(namespace.eventHubs.events()).toHaveLength(1_001);
    connection.close();
    await namespace.close();
    expect(namespace.errors).toEqual([]);
  });
});

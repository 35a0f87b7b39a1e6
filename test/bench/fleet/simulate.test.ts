import { expect, test } from 'vitest';
import { type Scenario, scenarios } from './scenarios.ts';
import { QuotaExceeded, ServerBusy, Shard } from './services.ts';
import { simulate } from './simulate.ts';
import { createVirtualClock } from './virtual-clock.ts';

const services = { partitions: 8, throughputUnits: 1, hasLimits: true };
const settings = { connectJitterSeconds: 0, idleCloseSeconds: 60, nearMinutes: 20 };

test('sleeps end in the order of their ends, at multiples of 10 ms, and an aborted one at once', async () => {
  const clock = createVirtualClock();
  const stop = new AbortController();
  const ended: string[] = [];
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    await clock.sleep(ms, signal);
    ended.push(`${ms} at ${clock.monotonicMs()}`);
  };
  for (const ms of [300, 21, 5, 1999, 4000]) void sleep(ms);
  void sleep(900, stop.signal);
  stop.abort();
  const seconds: number[] = [];
  await clock.runUntil(3000, (second) => seconds.push(second));
  expect(ended).toEqual(['900 at 0', '5 at 10', '21 at 30', '300 at 300', '1999 at 2000']);
  expect(seconds).toEqual([0, 1, 2]);
});

// https://learn.microsoft.com/azure/event-hubs/event-hubs-quotas
test('a namespace refuses the connection after 5,000, and what a second has beyond its throughput unit', () => {
  const shard = new Shard(services);
  for (let count = 0; count < 5000; count += 1) shard.connect();
  expect(() => shard.connect()).toThrow(QuotaExceeded);
  shard.disconnect();
  shard.connect();
  for (let count = 0; count < 1000; count += 1) shard.send(`key-${count}`, 900);
  expect(() => shard.send('key', 900)).toThrow(ServerBusy);
  expect(shard.takeSecond()).toMatchObject({ connections: 5000, events: 1000, bytes: 900_000, refused: 2 });
  shard.send('key', 900_000);
  expect(() => shard.send('key', 200_000)).toThrow(ServerBusy);
});

// https://learn.microsoft.com/azure/azure-monitor/fundamentals/service-limits#logs-ingestion-api
test('a rule refuses what a minute has beyond 12,000 requests, until the next one', () => {
  const shard = new Shard(services);
  for (let count = 0; count < 12_000; count += 1) expect(shard.upload(30_000)).toBeNull();
  expect(shard.upload(45_000)).toBe(15_000);
  expect(shard.upload(60_000)).toBeNull();
});

test('a fleet that no limit touches has every record of its plan at both destinations', async () => {
  const zone = scenarios.find(({ id }) => id === 'zone') as Scenario;
  const { affected, peak, refused, arrivals } = await simulate({
    scenario: zone,
    vms: 30,
    shards: 1,
    settings,
    services,
    seed: 7,
  });
  expect([affected, peak.connections, refused]).toEqual([10, 10, 0]);
  for (const sink of ['event-hubs', 'log-analytics']) expect(arrivals[sink]).toMatchObject({ due: 30, arrived: 30 });
  // A poll, a token, a connection and a send.
  expect(arrivals['event-hubs']?.last).toBeLessThan(1.8);
});

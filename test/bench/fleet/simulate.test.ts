import { expect, test } from 'vitest';
import { product } from './rules.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { QuotaExceeded, ServerBusy, Shard } from './services.ts';
import { simulate } from './simulate.ts';
import { createVirtualClock } from './virtual-clock.ts';

const services = { partitions: 8, throughputUnits: 1, hasLimits: true };

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
    settings: product,
    services,
    seed: 7,
  });
  // Each is open in the seconds before the start.
  expect([affected, peak.connections, refused]).toEqual([10, 10, 0]);
  for (const { all } of Object.values(arrivals)) expect(all).toMatchObject({ due: 30, arrived: 30 });
  // A poll, a connection of at most 375 ms, and a send.
  expect(arrivals['event-hubs'].all.last).toBeLessThan(1.5);
  // The start finds its connection open.
  expect(arrivals['event-hubs'].Started.last).toBeLessThan(1.1);
});

// Little's law: connections open on average = connections opened in a second x seconds that each is open.
test.each([
  // Announcement, start and end are more than 5 s apart: a connection for each, which closes within a second after 5 s.
  { idleCloseSeconds: 5, connections: 3, openSeconds: 0.02 + 5 + 0.5 },
  // The end comes 10 s after the start, over the same connection.
  { idleCloseSeconds: 20, connections: 2, openSeconds: (0.02 + 20 + 0.5 + (0.02 + 10 + 20 + 0.5)) / 2 },
])('connections that idle for $idleCloseSeconds s are open as long as arithmetic says', async (expected) => {
  const { affected, seconds, arrivals } = await simulate({
    scenario: scenarios.find(({ id }) => id === 'zone') as Scenario,
    vms: 600,
    shards: 1,
    settings: { ...product, holdSeconds: 0, idleCloseSeconds: expected.idleCloseSeconds },
    services,
    seed: 3,
  });
  const connectionSeconds = seconds.reduce((sum, { connections }) => sum + connections, 0);
  const opened = affected * expected.connections;
  expect(connectionSeconds / opened / expected.openSeconds).toBeCloseTo(1, 1.7);
  // Half a poll interval, a mean connection and a mean send.
  expect(arrivals['event-hubs'].Scheduled.p50).toBeCloseTo(0.5 + 0.25 + 0.02, 1);
});

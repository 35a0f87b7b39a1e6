import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Reach } from '../../src/service/machine.ts';
import { whyUnreached } from '../../src/service/reach.ts';
import { createHarness } from './harness.ts';

const none: Reach = { kind: 'no-connection', reason: 'No connection to http://169.254.169.254 came about.' };
const [waiting, connected, unreported]: readonly Reach[] = [
  { kind: 'waiting' },
  { kind: 'connected' },
  { kind: 'unreported' },
];

const ways: readonly { name: string; reach: (ms: number) => Reach | undefined; asked: number; why: string | null }[] = [
  { name: 'has a connection', reach: () => connected, asked: 1, why: null },
  { name: 'is of a version without this report', reach: () => unreported, asked: 1, why: null },
  { name: 'waits for a first answer of two minutes', reach: () => waiting, asked: 4, why: null },
  { name: 'never gets a connection', reach: () => none, asked: 16, why: none.reason },
  { name: 'gets one when the network is up', reach: (ms) => (ms < 70_000 ? none : connected), asked: 15, why: null },
  {
    name: 'has failed one poll when it is asked for the third time',
    reach: (ms) => (ms < 10_000 ? waiting : none),
    asked: 16,
    why: none.reason,
  },
];

test.each(ways)('the way to the metadata service of a service that $name', async ({ reach, asked, why }) => {
  let pings = 0;
  using harness = createHarness();
  const ping = async () => {
    pings += 1;
    return { ok: true, reach: reach(harness.clock.monotonicMs()) ?? none } as const;
  };
  expect([await whyUnreached({ clock: harness.clock, ping }, '/state'), pings]).toEqual([why, asked]);
});

test('a service that stops answering is not reported as without a connection', async () => {
  using harness = createHarness();
  const ping = async () => ({ ok: false, message: 'it takes no question' }) as const;
  expect(await whyUnreached({ clock: harness.clock, ping }, '/state')).toBeNull();
});

test('a version without a connection stays, is enabled, and this is reported by each installation', async () => {
  using harness = createHarness({ reach: () => none });
  const order = { from: harness.package('1.0.0'), configuration: harness.configuration() };
  expect(await harness.install(order)).toMatchObject({ outcome: 'becomes-ready', unreached: none.reason });
  harness.forgetCalls();
  expect(await harness.install(order)).toMatchObject({
    outcome: 'ready-already',
    changed: false,
    unreached: none.reason,
  });
  expect(harness.calls()).toEqual([]);
  const update = await harness.install({ from: harness.package('2.0.0'), enable: 'as-it-is' });
  expect(update).toMatchObject({ folder: '2.0.0', unreached: none.reason });
  expect(harness.runs()).toContain('2.0.0');
});

test('another installer does not wait while the service polls the metadata service', async () => {
  const isLocked: boolean[] = [];
  using harness = createHarness({
    reach: () => {
      isLocked.push(existsSync(harness.places.lock));
      return none;
    },
  });
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration() });
  // The first request is for readiness, which decides the final state.
  expect(isLocked).toEqual([true, ...Array.from({ length: 16 }, () => false)]);
});

test('when nothing is started the metadata service is not polled', async () => {
  using harness = createHarness({ reach: () => none });
  const waits = await harness.install({ from: harness.package('1.0.0') });
  const later = await harness.install({ configuration: harness.configuration(), start: false });
  expect([waits.unreached, later.unreached, harness.pings]).toEqual([null, null, []]);
});

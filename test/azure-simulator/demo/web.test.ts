import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { webDemo } from '../../../src/azure-simulator/demo/web/show.ts';
import { createShowClock } from '../../../src/azure-simulator/demo/web/show-clock.ts';
import { createSimulatedFleet } from '../../../src/azure-simulator/demo/web/simulated-fleet.ts';
import { rollingMaintenance } from '../../../src/azure-simulator/demo/web/timeline.ts';
import { temporaryDirectory } from '../../support/bridge-process.ts';
import { valid } from '../../support/published-schema.ts';

test('a port for the page that is taken is named', async () => {
  using directory = temporaryDirectory('demo-web-port');
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  let printed = '';
  const print = (text: string): void => {
    printed += text;
  };
  const stop = new AbortController().signal;
  await expect(webDemo({ directory: directory.path, port, speed: 60, print, stop })).rejects.toThrow(
    `Port ${port} cannot be used for the page (another program uses it): pass another one to --web.`,
  );
  expect(printed).toBe('');
  other.close();
});

test('the time of the show is in the past, runs faster than ours, and then is ours', () => {
  let real = Date.parse('2026-03-01T12:00:00.250Z');
  const clock = createShowClock(600, 60, { now: () => new Date(real), monotonicMs: () => real, sleep: async () => {} });
  const at = (): string => clock.now().toISOString();
  // Ten minutes in ten seconds, rounded up to a whole second: they end at 12:00:11.
  expect(new Date(clock.beginsAt).toISOString()).toBe('2026-03-01T11:50:11.000Z');
  real += 750;
  expect(at()).toBe('2026-03-01T11:50:11.000Z');
  real += 5000;
  expect(at()).toBe('2026-03-01T11:55:11.000Z');
  real += 5000;
  expect(at()).toBe('2026-03-01T12:00:11.000Z');
  real += 5000;
  expect(at()).toBe('2026-03-01T12:00:16.000Z');
});

test('two shows that begin at the same time have the same records, and all follow the published schema', () => {
  const maintenance = rollingMaintenance();
  // The first wave, of 20 VMs.
  const timeline = { ...maintenance, vms: maintenance.vms.slice(0, 9), events: maintenance.events.slice(0, 1) };
  const play = () => {
    const fleet = createSimulatedFleet(timeline, Date.parse('2026-03-01T12:00:00Z'));
    const records = [];
    while (fleet.polledUntil < 30 * 60) records.push(...fleet.poll().records);
    return valid(records);
  };
  const records = play();
  expect(records).toEqual(play());
  // One report of each VM about its own start, and all that the two VMs of the first update domain see of their event.
  expect(records.filter(({ phase }) => phase === 'Snapshot').length).toBe(9);
  expect(records.filter(({ phase }) => phase !== 'Snapshot').map(({ vmName, phase }) => `${vmName} ${phase}`)).toEqual([
    'web_0 Scheduled',
    'web_8 Scheduled',
    'web_0 Started',
    'web_8 Started',
    'web_0 Completed',
    'web_8 Completed',
  ]);
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createErrorLog } from '../../../src/azure-simulator/errors.ts';
import { type ImdsSimulator, startImds } from '../../../src/azure-simulator/imds/server.ts';
import { findScenario, type Scenario, scenarios } from '../../../src/azure-simulator/scenarios/index.ts';
import { createTokenIssuer, type TokenIssuer } from '../../../src/azure-simulator/token-issuer.ts';
import type { LifecycleRecord } from '../../../src/lifecycle/record.ts';
import { openFleetVm, watchScenario } from '../../support/fleet.ts';
import { phaseLines } from '../../support/observations.ts';

const log = createErrorLog();
let issuer: TokenIssuer;
let imds: ImdsSimulator;
let close: () => Promise<void>;
beforeAll(async () => {
  issuer = await createTokenIssuer();
});
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  ({ imds, close } = await startImds({ issuer, log }));
});
afterEach(async () => {
  await close();
  vi.useRealTimers();
});
afterAll(() => expect(log.errors).toEqual([]));

const scenario = (name: string): Scenario => findScenario(name) ?? expect.unreachable(name);

async function recordsOf(name: string): Promise<readonly LifecycleRecord[]> {
  const vm = await openFleetVm({ imds }, 'web_0');
  await watchScenario({ imds }, scenario(name), [vm]);
  await vm.close();
  return vm.records.filter(isAboutAnEvent);
}

/** A new stream also reports once which events it observes. */
const isAboutAnEvent = ({ phase }: LifecycleRecord): boolean => phase !== 'Snapshot';

const announced = 'Scheduled: said-by-azure';
const begun = 'Started: said-by-azure';
const overInTime = 'Completed: left-after-started not-before-passed';
const plain = [announced, begun, overInTime];

/** What the first VM reports of each scenario when it polls once a second and the scenario runs at real speed. */
const cases: readonly (readonly [name: string, expected: readonly string[]])[] = [
  ['freeze', plain],
  ['reboot', plain],
  ['redeploy', plain],
  ['canceled', [announced, 'Canceled: left-before-not-before']],
  ['missed-started', [announced, 'Ended: incarnation-gap not-before-passed']],
  ['no-impact', plain],
  ['unknown-duration', plain],
  ['second-impact', plain],
  [
    'reboot-became-freeze',
    [announced, begun, 'Completed: pause-observed reboot-became-freeze left-after-started not-before-passed'],
  ],
  ['hardware-failure', ['Started: present-at-first-look', 'Completed: left-after-started not-before-unknown']],
  [
    'superseded',
    [
      announced,
      'Started: present-at-first-look',
      'Canceled: left-before-not-before superseded',
      'Completed: left-after-started not-before-unknown',
    ],
  ],
  ['degraded-host', [announced, 'Updated: notBefore-earlier', begun, overInTime]],
  ['user-reboot', plain],
  ['user-redeploy', plain],
  ['approved', [announced, begun, 'Completed: left-after-started']],
  ['os-image-upgrade', plain],
  ['preempt', plain],
  ['terminate', plain],
  ['leaves-resources', [announced, 'Updated: left-resources affectedResources-changed', begun, overInTime]],
  ['fault-domains-in-turn', plain],
  ['gpu-one-fault-domain', plain],
  ['standalone-in-zone', plain],
  // It restarts in the second in which its event starts.
  ['scale-set-rolling', [announced, `${begun} observation-gap`, overInTime]],
];
/** They are about time-outs and destinations: a real bridge goes through them in `test/end-to-end/scenarios.test.ts`. */
const elsewhere = ['warm-up', 'chaos'];

describe('the records of the first VM of a scenario', () => {
  test('every scenario is in the table', () => {
    expect([...cases.map(([name]) => name), ...elsewhere]).toEqual(scenarios.map(({ name }) => name));
  });

  test.each(cases)('%s: %j', async (name, expected) => {
    expect(phaseLines(await recordsOf(name))).toEqual(expected);
  });

  const pauses: readonly (readonly [name: string, longestMs: number, totalMs: number])[] = [
    ['freeze', 7_000, 7_000],
    ['second-impact', 7_000, 9_000],
    ['unknown-duration', 25_000, 25_000],
    ['no-impact', 0, 0],
  ];
  test.each(pauses)('%s: a longest pause of %d ms, %d ms in total', async (name, longestMs, totalMs) => {
    const end = (await recordsOf(name)).at(-1);
    expect(end?.observedPauseMs ?? 0).toBe(longestMs);
    expect(end?.observedPauseTotalMs ?? 0).toBe(totalMs);
  });
});

/** Every event of the scenario, as VMs 0 and 1 observe it. */
async function observedPhases(name: string): Promise<readonly (readonly string[])[]> {
  const fleet = await Promise.all(['web_0', 'web_1'].map((vm) => openFleetVm({ imds }, vm, { witnessRate: 1 })));
  await watchScenario({ imds }, scenario(name), fleet);
  await Promise.all(fleet.map((vm) => vm.close()));
  return fleet.map(({ records }) =>
    records.filter(isAboutAnEvent).map(({ phase, affectedResources }) => `${phase} ${affectedResources}`),
  );
}

test('VMs of one group report the events of each other', async () => {
  const [first, second] = await observedPhases('fault-domains-in-turn');
  expect(first).toHaveLength(9);
  expect(second).toEqual(first);
});

test.each(['gpu-one-fault-domain', 'standalone-in-zone'])('in %s a VM reports only its own events', async (name) => {
  const [first, second] = await observedPhases(name);
  expect(first).toEqual(['Scheduled web_0', 'Started web_0', 'Completed web_0']);
  expect(second).toEqual(['Scheduled web_1', 'Started web_1', 'Completed web_1']);
});

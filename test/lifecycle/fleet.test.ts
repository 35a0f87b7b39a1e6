import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createErrorLog } from '../../src/azure-simulator/errors.ts';
import type { IssuedStep } from '../../src/azure-simulator/imds/document.ts';
import { type ImdsSimulator, startImds } from '../../src/azure-simulator/imds/server.ts';
import { rollingMaintenance } from '../../src/azure-simulator/scenarios/index.ts';
import { createTokenIssuer, type TokenIssuer } from '../../src/azure-simulator/token-issuer.ts';
import { foldEvents, foldObservers } from '../../src/lifecycle/fold.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { type FleetVm, openFleetVm, watchScenario } from '../support/fleet.ts';
import { runs } from '../support/runs.ts';

const log = createErrorLog();
let issuer: TokenIssuer;
let imds: ImdsSimulator;
let close: () => Promise<void>;
beforeAll(async () => {
  issuer = await createTokenIssuer();
});
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  ({ imds, close } = await startImds({ issuer, log, vms: [] }));
});
afterEach(async () => {
  await close();
  vi.useRealTimers();
});
afterAll(() => expect(log.errors).toEqual([]));

const count = runs('VMs in a rolling maintenance', { quick: 50, full: 200 });
const domains = 5;
const minute = 60;

/** No two VMs are alike: numbers of their own, documents they never get, wrong clocks, and some that join late. */
async function openFleet(): Promise<FleetVm[]> {
  const open = (number: number): Promise<FleetVm> => {
    const name = `web_${number}`;
    imds.addVm({
      name,
      incarnationOffset: (number * 37) % 1000,
      misses: number % 4 === 1 ? [2 + (number % 9), 6] : [],
    });
    return openFleetVm({ imds }, name, {
      witnessRate: 0.05,
      clockErrorSeconds: (number % 7) - 3,
      joinsAfterSeconds: number % 10 === 9 ? (number % 60) * minute : 0,
    });
  };
  return Promise.all(Array.from({ length: count }, (_, number) => open(number)));
}

/** What Azure issued, and what the folded records say, in the same words. */
const issuedSteps = (issued: readonly IssuedStep[]): string[] =>
  issued.map(({ eventId, step }) => `${eventId.toLowerCase()} ${step === 'removed' ? 'end' : step}`).sort();
const foldedSteps = (records: readonly LifecycleRecord[]): string[] =>
  foldEvents(records)
    .flatMap(({ eventId, steps, end }) => [
      ...steps.map(({ phase }) => `${eventId} ${phase.toLowerCase()}`),
      ...(end === null ? [] : [`${eventId} end`]),
    ])
    .sort();

test('the records of many VMs in a rolling maintenance fold to exactly the steps of Azure', async () => {
  const fleet = await openFleet();
  await watchScenario({ imds }, rollingMaintenance(count, domains), fleet);
  await Promise.all(fleet.map((vm) => vm.close()));
  const records = fleet.flatMap((vm) => vm.records).filter(({ phase }) => phase !== 'Snapshot');

  expect(foldedSteps(records)).toEqual(issuedSteps(imds.issued));
  expect(new Set(records.map(({ transitionId }) => transitionId)).size).toBe(3 * domains);
  expect(new Set(records.map(({ recordId }) => recordId)).size).toBe(records.length);
  expect(records.length).toBeGreaterThan(2 * count);
  expect(foldEvents(records).map(({ end }) => end?.phase)).toEqual(Array(domains).fill('Completed'));
});

test('a VM that never saw it start ends it as unknown, and the others know better', async () => {
  // 1 is the empty list, 2 the announcement, 3 the start, 4 the empty list again.
  imds.addVm({ name: 'web_0', misses: [3] });
  const fleet = await Promise.all(['web_0', 'web_1'].map((name) => openFleetVm({ imds }, name, { witnessRate: 1 })));
  await watchScenario({ imds }, rollingMaintenance(2, 1), fleet);
  await Promise.all(fleet.map((vm) => vm.close()));
  const records = fleet.flatMap((vm) => vm.records);

  const endOf = new Map(foldObservers(records).map(({ end }) => [end?.vmName, end?.phase]));
  expect(Object.fromEntries(endOf)).toEqual({ web_0: 'Ended', web_1: 'Completed' });
  expect(foldEvents(records).map(({ end }) => end?.phase)).toEqual(['Completed']);
});

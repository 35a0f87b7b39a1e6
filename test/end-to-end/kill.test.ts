import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { stepOf } from '../../src/lifecycle/record-id.ts';
import { readOutbox } from '../../src/outbox/reader.ts';
import { type BridgeProcess, configurationFor, startBridge, temporaryDirectory } from '../support/bridge-process.ts';
import { firstCopies, hubRecords, tableRows } from '../support/delivered.ts';
import { runs } from '../support/runs.ts';
import { until } from '../support/until.ts';

/** How often the bridge is killed, over all VMs. */
const kills = runs('kills of a bridge', { quick: 8, full: 50 });
const vms = ['web_0', 'web_1'];

/**
 * SIGKILL at random moments, while events come and go and both sinks are slow. Each step stays listed until it is in the
 * outboxes: from then on it must arrive, whichever process dies. What Azure removes before any process has written it cannot
 * be known and is not tested here.
 */
describe('a bridge that is killed again and again', () => {
  let azure: AzureSimulator;
  const directories = vms.map((vm) => temporaryDirectory(vm));
  const bridges: (BridgeProcess | null)[] = vms.map(() => null);
  let killed = 0;
  let copies = 0;

  const start = (n: number): void => {
    const { path } = directories[n] ?? { path: '' };
    bridges[n] = startBridge(configurationFor(azure, vms[n] ?? '', path, { log: { level: 'warn' } }));
  };
  const stored = (n: number): number => readOutbox(directories[n]?.path ?? '')?.position ?? 0;

  /** Kills and starts again until the share of this VM is used up. */
  async function killAgainAndAgain(n: number): Promise<void> {
    for (let k = 0; k < kills / vms.length; k += 1) {
      const bridge = bridges[n];
      const ready = stored(n);
      await new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 1500));
      bridge?.kill('SIGKILL');
      await bridge?.exited;
      killed += ready >= 0 ? 1 : 0;
      start(n);
    }
  }

  /** Events come and go; each change waits until every outbox holds the one before. */
  async function liveOn(over: () => boolean): Promise<number> {
    let steps = 0;
    const change = async (edit: () => void): Promise<void> => {
      edit();
      steps += 1;
      await until(() => vms.every((_, n) => stored(n) >= steps), {
        what: `step ${steps} in every outbox`,
        everyMs: 100,
        // On a busy machine a bridge may be killed each time before its first poll; the killing ends after some 100 s.
        timeoutMs: 180_000,
      });
    };
    while (!over()) {
      let eventId = '';
      await change(() => {
        const notBefore = new Date(Date.now() + 900_000);
        eventId = azure.imds.schedule({ eventType: 'Freeze', resources: vms, notBefore, durationSeconds: steps });
      });
      await change(() => azure.imds.update(eventId, { durationSeconds: 1000 + steps }));
      await change(() => azure.imds.start(eventId));
      await change(() => azure.imds.remove(eventId));
    }
    return steps;
  }

  beforeAll(async () => {
    azure = await startAzureSimulator({ vms: vms.map((name) => ({ name })) });
    azure.eventHubs.fault({ delayMs: 200 });
    azure.logAnalytics.fault({ delayMs: 300 });
    for (const n of vms.keys()) start(n);
    await until(() => vms.every((vm) => (azure.imds.polls[vm] ?? 0) > 1), { what: 'first polls' });
  });

  afterAll(async () => {
    for (const bridge of bridges) bridge?.kill('SIGKILL');
    await Promise.all(bridges.map((bridge) => bridge?.exited));
    await azure.close();
    for (const directory of directories) directory[Symbol.dispose]();
  });

  test('loses no record and produces none twice', async () => {
    let isOver = false;
    const living = liveOn(() => isOver);
    await Promise.all(vms.map((_, n) => killAgainAndAgain(n)));
    isOver = true;
    const steps = await living;
    const expected = steps * vms.length;
    await until(
      () =>
        firstCopies(hubRecords(azure)).length >= expected &&
        firstCopies(tableRows(azure) as object[]).length >= expected,
      {
        what: `${expected} records at both sinks`,
        timeoutMs: 60_000,
      },
    );
    const hub = firstCopies(hubRecords(azure));
    copies = hubRecords(azure).length - hub.length + tableRows(azure).length - expected;

    expect(killed).toBe(kills);
    expect(hub).toHaveLength(expected);
    expect(firstCopies(tableRows(azure) as object[]).length).toBe(expected);
    for (const vm of vms) {
      const own = hub.filter(({ vmName }) => vmName === vm);
      const byPosition = [...own].sort((a, b) => a.position - b.position);
      expect(byPosition.map(({ position }) => position)).toEqual(Array.from({ length: steps }, (_, n) => n + 1));
      expect(new Set(own.map(({ streamId }) => streamId)).size).toBe(1);
      for (const ofEvent of Map.groupBy(own, ({ eventId }) => eventId).values()) {
        expect(ofEvent.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
        expect(ofEvent.map(({ phase }) => stepOf(phase))).toEqual(['scheduled', 'updated', 'started', 'end']);
      }
    }
    expect(new Set(hub.map(({ transitionId }) => transitionId)).size).toBe(steps);
    console.log(
      `  ${killed} kills, ${steps} steps on ${vms.length} VMs, ${expected} records at both sinks, ${copies} copies`,
    );
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../fleet-model/random.ts';
import type { BridgeProcess } from '../../support/bridge-process.ts';
import { until } from '../../support/until.ts';
import type { FaultContext, FaultTest } from '../fault-test.ts';
import { FleetUnderTest, type Vm } from '../fleet/fleet-under-test.ts';

/** From the commit of a record until both sinks have it. */
const mostSeconds = 2;

/**
 * One record, before and after which nothing happens: nothing may wait for a batch to fill. Its first record meets a bridge that has
 * just started, without processes that send; the second one meets open connections.
 */
export const loneEvent: FaultTest = {
  id: 'lone-event',
  title: 'a single event and then silence, for a bridge that has just started and for one that is connected',
  kind: 'processes',
  cases: { quick: 2, full: 100 },
  load: { seconds: 20, processors: 0.2 },
  async run(context) {
    const random = createRandom(context.seed);
    const fleet = await FleetUnderTest.start(context, { vms: ['web_0'], configuration: { log: { level: 'info' } } });
    const cold: number[] = [];
    const connected: number[] = [];
    try {
      const [vm] = fleet.vms;
      if (!vm) throw new Error('there is no VM');
      for (let n = 1; n <= context.cases; n += 1) {
        context.signal.throwIfAborted();
        const bridge = fleet.startBridge(vm);
        const before = fleet.azure.imds.polls[vm.name] ?? 0;
        await until(() => (fleet.azure.imds.polls[vm.name] ?? 0) > before + 1, { what: 'polls' });
        await sleep(random.int(0, 1000));
        const notBefore = new Date(Date.now() + 900_000);
        const event = { eventType: 'Freeze', resources: [vm.name], notBefore, durationSeconds: 5 };
        const eventId = fleet.azure.imds.schedule(event);
        const steps: ('scheduled' | 'end')[] = ['scheduled'];
        fleet.announced.push({ eventId, eventType: 'Freeze', steps });
        cold.push(await secondsOf(fleet, vm, bridge, context));
        await sleep(random.int(0, 1000));
        steps.push('end');
        fleet.azure.imds.remove(eventId);
        connected.push(await secondsOf(fleet, vm, bridge, context));
        if (n < context.cases) await fleet.kill(vm, 'SIGTERM');
      }
      const freshArrived = await fleet.freshArrives(random, 30);
      const { lost, copies, broken } = fleet.judge();
      const seconds = Math.max(...cold, ...connected);
      return {
        lost,
        duplicated: { found: copies, allowed: 0 },
        happened: [{ what: 'single records', count: cold.length + connected.length, least: 2 * context.cases }],
        worst: { what: 'commit to both sinks', seconds, mostSeconds },
        freshArrived,
        conservation: fleet.conservation,
        broken,
        details: [
          `at most ${Math.max(...cold).toFixed(2)} s to start what sends and connect, ${Math.max(...connected).toFixed(2)} s when connected`,
        ],
      };
    } finally {
      await fleet.close();
    }
  },
};

/** Waits until the newest step is at both sinks. @returns the time since the bridge logged its record, right after the commit. */
async function secondsOf(fleet: FleetUnderTest, vm: Vm, bridge: BridgeProcess, context: FaultContext): Promise<number> {
  const records = (): BridgeProcess['log'] => bridge.log.filter(({ phase }) => phase !== undefined);
  const before = records().length;
  const isThere = (): boolean => fleet.judge(fleet.announced.slice(-1)).lost === 0;
  await until(() => context.signal.aborted || (records().length > before && isThere()), {
    what: `a record of ${vm.name} at both sinks`,
    timeoutMs: 30_000,
  });
  const committedAt = Date.parse(String(records()[before]?.time));
  const onHub = fleet.azure.eventHubs.events().at(-1)?.enqueuedAt.getTime() ?? Number.NaN;
  const inTable = fleet.azure.logAnalytics.arrivals().at(-1)?.getTime() ?? Number.NaN;
  return (Math.max(onHub, inTable) - committedAt) / 1000;
}

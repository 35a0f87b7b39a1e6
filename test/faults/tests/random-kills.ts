import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../fleet-model/random.ts';
import type { FaultTest } from '../fault-test.ts';
import { FleetUnderTest } from '../fleet/fleet-under-test.ts';

/** Records that a sink may have without its acknowledgement being stored: with some two records a second, a delay of 300 ms holds no more. */
const mostInFlight = 4;

/** Kills bridges at random moments, while events come and go and both sinks are slow and fail now and then. */
export const randomKills: FaultTest = {
  id: 'random-kills',
  title: 'SIGKILL at random moments, with slow and failing sinks',
  kind: 'processes',
  cases: { quick: 20, full: 1000 },
  load: { seconds: 60, processors: 0.2 },
  async run(context) {
    const random = createRandom(context.seed);
    const fleet = await FleetUnderTest.start(context);
    let kills = 0;
    let refusals = 0;
    let stepsMeanwhile = 0;
    let isOver = false;
    try {
      for (const vm of fleet.vms) fleet.startBridge(vm);
      await fleet.firstDocuments();
      const announce = async (): Promise<void> => {
        do await fleet.announce(random);
        while (!isOver);
      };
      const fail = async (): Promise<void> => {
        while (!isOver) {
          fleet.azure.eventHubs.fault(
            random.pick(['server-busy', 'accept-then-drop', 'force-close', { delayMs: 200 }]),
            1,
          );
          fleet.azure.logAnalytics.fault(random.pick([{ status: 429 }, { status: 503 }, { delayMs: 300 }]), 1);
          refusals += 1;
          await sleep(500);
        }
      };
      const leastSteps = Math.floor(context.cases / 4);
      const killAll = async (): Promise<void> => {
        // On a busy machine events take longer: then more kills follow.
        const isEnough = (): boolean => fleet.stepsAnnounced >= leastSteps || kills >= 3 * context.cases;
        while (kills < context.cases || !isEnough()) {
          const vm = random.pick(fleet.vms);
          await sleep(random.int(200, 4000));
          context.signal.throwIfAborted();
          // Another part has failed.
          if (isOver) return;
          await fleet.kill(vm);
          fleet.startBridge(vm);
          kills += 1;
          if (kills % 50 === 0) context.say(`${kills} kills, ${fleet.announced.length} events`);
        }
        stepsMeanwhile = fleet.stepsAnnounced;
        isOver = true;
      };
      await Promise.all([killAll(), announce(), fail()]);
      fleet.azure.eventHubs.fault(null);
      fleet.azure.logAnalytics.fault(null);
      const freshArrived = await fleet.freshArrives(random, 60);
      const { lost, copies, broken } = fleet.judge();
      return {
        lost,
        duplicated: { found: copies, allowed: (2 * kills + refusals) * mostInFlight },
        happened: [
          { what: 'kills', count: kills, least: context.cases },
          { what: 'steps announced meanwhile', count: stepsMeanwhile, least: leastSteps },
        ],
        worst: null,
        freshArrived,
        conservation: fleet.conservation,
        broken,
      };
    } finally {
      isOver = true;
      await fleet.close();
    }
  },
};

import { createRandom } from '../../fleet-model/random.ts';
import { until } from '../../support/until.ts';
import type { FaultContext, FaultTest, Outcome } from '../fault-test.ts';
import { FleetUnderTest } from '../fleet/fleet-under-test.ts';
import { combined } from '../outcome.ts';
import { clearFaults, type StopState, stopStates } from '../points/stop-states.ts';

/** Of flushing, closing connections and the last commit; systemd waits for 30 s. */
const mostSeconds = 7;
const mostSecondsOfSecond = 1;

/** Asks bridges to stop in every state. What was not sent by then is sent by the next start, and a batch at most a second time. */
export const termination: FaultTest = {
  id: 'termination',
  title: 'SIGTERM in every state',
  kind: 'processes',
  cases: { quick: stopStates.length, full: 20 * stopStates.length },
  load: { seconds: 30, processors: 0.5 },
  async run(context) {
    const rounds = Math.ceil(context.cases / stopStates.length);
    const outcomes: Outcome[] = [];
    // They wait more than they work.
    for (let round = 0; round < rounds; round += 1) {
      context.signal.throwIfAborted();
      const seed = context.seed + round * stopStates.length;
      outcomes.push(
        ...(await Promise.all(stopStates.map((state, n) => stopIn(state, `web_${round}_${n}`, seed + n, context)))),
      );
    }
    return combined(outcomes);
  },
};

async function stopIn(state: StopState, name: string, seed: number, context: FaultContext): Promise<Outcome> {
  const random = createRandom(seed);
  const configuration = { log: { level: 'info' } };
  const fleet = await FleetUnderTest.start(context, { vms: [name], configuration });
  const broken: string[] = [];
  try {
    const [vm] = fleet.vms;
    if (!vm) throw new Error('there is no VM');
    const bridge = await state.enter(fleet, vm, random);
    let began = performance.now();
    bridge.kill('SIGTERM');
    const { secondAfter, ends = [0], records = 1 } = state;
    if (secondAfter !== undefined) {
      await until(() => bridge.log.some(({ msg }) => msg.startsWith(secondAfter)), { what: secondAfter });
      began = performance.now();
      bridge.kill('SIGTERM');
    }
    const { code, signal } = await bridge.exited;
    const seconds = (performance.now() - began) / 1000;
    const end = signal ?? code;
    if (end === null || !ends.includes(end)) broken.push(`asked to stop while ${state.id}, it ended with ${end}`);
    clearFaults(fleet);
    fleet.startBridge(vm);
    const freshArrived = await fleet.freshArrives(random, 30);
    const judged = fleet.judge();
    return {
      lost: judged.lost,
      // To each sink.
      duplicated: { found: judged.copies, allowed: 2 * records },
      happened: [{ what: `stopped while ${state.id}`, count: 1, least: 1 }],
      worst: {
        what: secondAfter === undefined ? 'end after SIGTERM' : 'end after a second SIGTERM',
        seconds,
        mostSeconds: secondAfter === undefined ? mostSeconds : mostSecondsOfSecond,
      },
      freshArrived,
      conservation: fleet.conservation,
      broken: [...judged.broken, ...broken],
    };
  } finally {
    await fleet.close();
  }
}

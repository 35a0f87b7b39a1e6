import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '../../../src/log.ts';
import { readOutbox } from '../../../src/outbox/reader.ts';
import { createRandom } from '../../fleet-model/random.ts';
import { configurationFor } from '../../support/bridge-process.ts';
import { until } from '../../support/until.ts';
import { sendersHere, trust } from '../clock/azure-here.ts';
import { createJumpingClock, type JumpingClock } from '../clock/jumping-clock.ts';
import type { FaultContext, FaultTest } from '../fault-test.ts';
import { FleetUnderTest } from '../fleet/fleet-under-test.ts';
import { fromSources } from '../sources.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Steps of the wall clock, by name. The time of a suspension passes on it alone. */
const jumps: readonly (readonly [name: string, ms: number])[] = [
  ['an hour on', hour],
  ['an hour back', -hour],
  ['a day on', day],
  ['a day back', -day],
  ['a year on', 365 * day],
  ['a year back', -365 * day],
  ['NTP on', 700],
  ['NTP back', -700],
  ['suspended for eight hours', 8 * hour],
];

/** The longest pause of a sink that answers 503, and a round of the relay. In seconds of the clock of the bridge. */
const mostSeconds = 330;
/** Time passes so fast that a bridge polls every 70 ms, and a deadline of a minute is four seconds. */
const [passMs, everyMs] = [300, 20];
/** Within 300 ms in which no time is skipped: a poll, a relay and what else waits for a second at most. */
const mostSleeps = 40;

interface Bridge {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

async function start(context: FaultContext, fleet: FleetUnderTest, clock: JumpingClock): Promise<Bridge> {
  const [vm] = fleet.vms;
  if (!vm) throw new Error('there is no VM');
  const { runBridge } = await fromSources(context, 'bridge.ts');
  const { readConfig } = await fromSources(context, 'config/read-config.ts');
  const value = configurationFor(fleet.azure, vm.name, vm.stateDirectory);
  const documents = [{ value, source: 'the test', keepsSecrets: true }];
  const { config, problems } = readConfig({ documents, env: {}, defaultStateDirectory: vm.stateDirectory });
  if (!config) throw new Error(problems.join(' '));
  const stop = new AbortController();
  const openSenders = sendersHere(context, fleet.azure);
  const ended = runBridge({ config, clock, log: silentLog, stop: stop.signal, env: {}, openSenders });
  ended.catch(() => {});
  return { stop, ended };
}

/** Jumps of the clock while events come and go, one sink fails, and the bridge starts again now and then. */
export const clockJumps: FaultTest = {
  id: 'clock-jumps',
  title: 'jumps of the clock by up to a year',
  kind: 'one process',
  cases: { quick: jumps.length, full: 20 * jumps.length },
  load: { seconds: 15, processors: 0.2 },
  async run(context) {
    const random = createRandom(context.seed);
    const clock = createJumpingClock();
    const fleet = await FleetUnderTest.start(context, { vms: ['web_0'] });
    const { imds, logAnalytics } = fleet.azure;
    trust(fleet.azure);
    const broken: string[] = [];
    let [worst, restarts, isPassing] = [0, 0, true];
    const passing = setInterval(() => isPassing && clock.pass(passMs), everyMs);
    let bridge = await start(context, fleet, clock);
    const restart = async (change: () => void): Promise<void> => {
      bridge.stop.abort();
      await bridge.ended;
      change();
      bridge = await start(context, fleet, clock);
      restarts += 1;
    };

    const isBusy = async (name: string): Promise<void> => {
      isPassing = false;
      await sleep(100);
      const before = clock.sleeps();
      await sleep(300);
      const sleeps = clock.sleeps() - before;
      if (sleeps > mostSleeps) broken.push(`${name}: ${sleeps} waits in 300 ms`);
      isPassing = true;
    };

    const jump = async (name: string, ms: number, isRestarted: boolean): Promise<void> => {
      logAnalytics.fault({ status: 503 });
      const announcing = fleet.announce(random);
      await sleep(random.int(50, 400));
      if (isRestarted) await restart(() => clock.jump(ms));
      else clock.jump(ms);
      await announcing;
      await isBusy(name);
      // Maintenance deletes what is too old.
      clock.pass(2 * minute);
      logAnalytics.fault(null);
      const healed = clock.monotonicMs();
      await until(() => fleet.judge().lost === 0, { timeoutMs: 25_000, everyMs: 50 }).catch(() => {
        broken.push(`${name}: ${fleet.judge().lost} records did not arrive`);
      });
      worst = Math.max(worst, (clock.monotonicMs() - healed) / 1000);
    };

    try {
      await until(() => (imds.polls.web_0 ?? 0) > 1, { what: 'first polls' });
      for (let n = 0; n < context.cases; n += 1) {
        context.signal.throwIfAborted();
        const [name, ms] = jumps[n % jumps.length] ?? ['', 0];
        // Of every jump each second one is during a restart.
        await jump(name, ms, (n + Math.floor(n / jumps.length)) % 2 === 1);
      }
      const freshArrived = await fleet.freshArrives(random, 60);
      const { lost, copies, broken: wrong } = fleet.judge();
      const [vm] = fleet.vms;
      const expired = (readOutbox(vm?.stateDirectory ?? '')?.sinks ?? []).reduce(
        (sum, { counters }) => sum + counters.expired,
        0,
      );
      if (expired > 0) broken.push(`${expired} records were discarded`);
      return {
        lost,
        duplicated: { found: copies, allowed: 4 * restarts },
        happened: [{ what: 'jumps of the clock', count: context.cases, least: jumps.length }],
        worst: { what: 'sent after the sink healed (its own time)', seconds: worst, mostSeconds },
        freshArrived,
        conservation: fleet.conservation,
        broken: [...broken, ...wrong.slice(0, 3)],
      };
    } finally {
      bridge.stop.abort();
      await bridge.ended.catch(() => {});
      clearInterval(passing);
      await fleet.close();
    }
  },
};

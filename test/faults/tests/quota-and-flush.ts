import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../../src/clock.ts';
import { askService } from '../../../src/health/status-client.ts';
import { createRandom } from '../../fleet-model/random.ts';
import { until } from '../../support/until.ts';
import type { FaultContext, FaultTest, Outcome } from '../fault-test.ts';
import { buildShim, type FileFault, readShimLog, shimEnvironment, whyNoShim } from '../file-calls/shim.ts';
import { FleetUnderTest, type Vm } from '../fleet/fleet-under-test.ts';
import { combined } from '../outcome.ts';

/** When the disk is well again, the bridge polls and everything is written within this time. */
const mostSeconds = 10;
/** Less than the watchdog of the service allows: `WatchdogSec` in the unit is 60. */
const flushSeconds = 30;

interface Place {
  readonly context: FaultContext;
  readonly fleet: FleetUnderTest;
  readonly vm: Vm;
  /** The fault lasts as long as this file exists. */
  readonly during: string;
  readonly log: string;
  readonly broken: string[];
}

interface Kind {
  readonly name: string;
  readonly fault: FileFault;
  /** While the fault lasts. @returns proofs of what happened. */
  play(place: Place): Promise<Outcome['happened']>;
}

const storageOf = async ({ vm }: Place) => {
  const answer = await askService(vm.stateDirectory, systemClock);
  return answer.kind === 'answered' ? answer.snapshot.storage : answer.kind;
};

const pollsOf = ({ fleet, vm }: Place): number => fleet.azure.imds.polls[vm.name] ?? 0;

/** The call that the fault changes was made. */
const hasFired = (place: Place): Promise<unknown> =>
  until(() => readShimLog(place.log).some(({ call }) => call === 'fired'), {
    what: 'a call that meets the fault',
    timeoutMs: 30_000,
    everyMs: 100,
  });

/** EDQUOT instead of ENOSPC, which SQLite reports as an I/O error: nothing is damaged by it. */
async function playQuota(place: Place): Promise<Outcome['happened']> {
  const { fleet, broken } = place;
  const before = pollsOf(place);
  const events = await fleet.announceTogether(2);
  await hasFired(place);
  await until(() => fleet.judge(events).lost <= 2 * events.length, { timeoutMs: 5_000, everyMs: 100 }).catch(() =>
    broken.push('what was seen while the quota was used up was not sent within 5 s'),
  );
  let reported: Awaited<ReturnType<typeof storageOf>> | null = null;
  const undurable = (): number => (typeof reported === 'object' && reported?.fault ? reported.undurable : 0);
  const isReported = async (): Promise<boolean> => {
    reported = await storageOf(place);
    return undurable() >= 2 * events.length;
  };
  await until(isReported, { what: 'a fault in the status', timeoutMs: 30_000, everyMs: 200 }).catch(() =>
    broken.push(`status does not report what is in memory only: ${JSON.stringify(reported)}`),
  );
  return [
    { what: 'quota: records in memory only', count: undurable(), least: 2 * events.length },
    { what: 'quota: polls meanwhile', count: pollsOf(place) - before, least: 4 },
  ];
}

/** The process that polls also commits, so polls are missed meanwhile: infra/guarantees.md excludes them. Everything continues afterwards. */
function playFlush(ending: 'ends' | 'killed'): Kind['play'] {
  return async (place) => {
    const { fleet, vm, broken } = place;
    const { imds } = fleet.azure;
    const notBefore = new Date(Date.now() + 900_000);
    // Seen by this poll, committed by that flush, and still listed afterwards.
    const eventId = imds.schedule({ eventType: 'Freeze', resources: [vm.name], notBefore });
    fleet.announced.push({ eventId, eventType: 'Freeze', steps: ['scheduled'] });
    const isSent = (): boolean => fleet.azure.eventHubs.events().some(({ body }) => body.includes(eventId));
    await hasFired(place);
    fleet.isSampling = false;
    if (ending === 'killed') {
      await sleep(2000);
      if (isSent()) broken.push('a record was sent before its flush returned');
      await fleet.kill(vm);
    } else {
      await sleep(1000 * flushSeconds);
      if (isSent()) broken.push('a record was sent before its flush returned');
      if (vm.bridge?.child.exitCode !== null) broken.push('the bridge ended while the disk did not respond');
    }
    return [{ what: `flush that ${ending === 'ends' ? 'takes 30 s' : 'a kill interrupts'}`, count: 1, least: 1 }];
  };
}

const lasting = { n: 1, isLasting: true } as const;
const kinds: readonly Kind[] = [
  { name: 'quota', fault: { ...lasting, call: 'write', action: 'EDQUOT' }, play: playQuota },
  { name: 'flush of 30 s', fault: { ...lasting, call: 'fsync', action: 'wait' }, play: playFlush('ends') },
  { name: 'kill in a flush', fault: { ...lasting, call: 'fsync', action: 'wait' }, play: playFlush('killed') },
];

async function runCase(context: FaultContext, shim: string, index: number): Promise<Outcome> {
  const kind = kinds[index % kinds.length];
  if (!kind) throw new Error('there is no such fault');
  const directory = join(context.directory, String(index));
  const fleet = await FleetUnderTest.start({ ...context, directory }, { vms: ['web_0'] });
  const { azure } = fleet;
  const [vm] = fleet.vms as [Vm];
  const [during, log] = [`${directory}.during`, `${directory}.calls`];
  const broken: string[] = [];
  const place: Place = { context, fleet, vm, during, log, broken };
  try {
    fleet.startBridge(vm, shimEnvironment({ shim, folder: vm.stateDirectory, log, fault: kind.fault, during }));
    await fleet.firstDocuments();
    // One sink waits the whole time, so that committed records have to survive.
    azure.logAnalytics.fault({ status: 503 });
    await fleet.announceTogether(3);
    writeFileSync(during, '');
    const happened = await kind.play(place);
    const polls = pollsOf(place);
    const healed = performance.now();
    rmSync(during);
    if (vm.bridge) {
      const isWell = async (): Promise<boolean> => {
        const storage = await storageOf(place);
        if (typeof storage !== 'object') return false;
        return storage.fault === null && storage.undurable === 0 && pollsOf(place) > polls;
      };
      await until(isWell, { timeoutMs: 60_000, everyMs: 100 }).catch(() => {});
    }
    const recovery = (performance.now() - healed) / 1000;
    fleet.isSampling = true;
    await fleet.kill(vm);
    azure.logAnalytics.fault(null);
    fleet.startBridge(vm);
    const freshArrived = await fleet.freshArrives(createRandom(context.seed + index), 60);
    await until(() => fleet.judge().lost === 0, { timeoutMs: 60_000, everyMs: 200 }).catch(() => {});
    const { lost, copies, broken: wrong } = fleet.judge();
    return {
      lost,
      duplicated: { found: copies, allowed: 3 * fleet.announced.length },
      happened,
      worst: { what: 'written again', seconds: recovery, mostSeconds },
      freshArrived,
      conservation: fleet.conservation,
      broken: [...broken, ...wrong.slice(0, 3)].map((what) => `${kind.name}: ${what}`),
    };
  } finally {
    rmSync(during, { force: true });
    await fleet.close();
  }
}

/** A disk whose quota is used up, and one that takes 30 s for a flush: what is committed stays, and it heals by itself. */
export const quotaAndFlush: FaultTest = {
  id: 'quota-and-flush',
  title: 'a quota that is used up, and a flush that takes 30 s',
  kind: 'processes',
  cases: { quick: kinds.length, full: 10 * kinds.length },
  load: { seconds: 50, processors: 0.3 },
  whyNot: whyNoShim,
  async run(context) {
    const shim = buildShim(context.directory);
    const outcomes: Outcome[] = [];
    for (let index = 0; index < context.cases; index += kinds.length) {
      context.signal.throwIfAborted();
      outcomes.push(...(await Promise.all(kinds.map((_, kind) => runCase(context, shim, index + kind)))));
    }
    return combined(outcomes);
  },
};

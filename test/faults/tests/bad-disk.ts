import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { systemClock } from '../../../src/clock.ts';
import { askService } from '../../../src/health/status-client.ts';
import { socketName, statusPaths } from '../../../src/health/status-path.ts';
import type { Storage } from '../../../src/outbox/outbox.ts';
import { createRandom } from '../../fleet-model/random.ts';
import { until } from '../../support/until.ts';
import { PrivateDisk, type PrivateDiskOptions, whyNoPrivateDisk } from '../disk/private-disk.ts';
import type { FaultContext, FaultTest, Outcome } from '../fault-test.ts';
import { FleetUnderTest, type Vm } from '../fleet/fleet-under-test.ts';
import { combined } from '../outcome.ts';

/** After the disk is well everything is written within this time. */
const mostSeconds = 10;
/** What is seen while the disk takes no writes reaches the event hub within this time. */
const mostSendSeconds = 5;
/** A fault that lasts is logged at most once in this time. */
const logEverySeconds = 10;
const faultSeconds = 6;

interface Place {
  readonly disk: PrivateDisk;
  readonly fleet: FleetUnderTest;
  readonly vm: Vm;
}

interface Kind {
  readonly name: string;
  readonly disk: PrivateDiskOptions;
  /** Brings the fault about, and resolves when the outbox cannot be written. */
  make(place: Place): Promise<void>;
  /** How `status` and the log name it. */
  readonly code: RegExp;
  heal(disk: PrivateDisk): void;
}

/** What the service answers `status`, of its storage. Inside it has another path for its state directory than here. */
async function storageOf({ disk, vm }: Place): Promise<Storage | null> {
  const paths = [join(vm.stateDirectory, socketName), ...statusPaths(join(disk.path, vm.name)).slice(1)];
  const answer = await askService(vm.stateDirectory, systemClock, paths);
  return answer.kind === 'answered' ? answer.snapshot.storage : null;
}
const faultOf = async (place: Place) => (await storageOf(place))?.fault ?? null;

const run = promisify(execFile);

/** A bridge polls, other than one before. */
async function hasStarted({ azure }: FleetUnderTest): Promise<void> {
  const before = azure.imds.polls.web_0 ?? 0;
  await until(() => (azure.imds.polls.web_0 ?? 0) > before + 1, { what: 'polls after a start' });
}

async function restart(place: Place, change: (disk: PrivateDisk) => void): Promise<void> {
  const { fleet, vm, disk } = place;
  await fleet.kill(vm, 'SIGTERM');
  change(disk);
  fleet.startBridge(vm);
}

/** The outbox has a reserve for this: the disk is full again and again, until that is used up. */
async function fillUp(place: Place): Promise<void> {
  for (let tries = 0; tries < 20; tries += 1) {
    place.disk.fill();
    if (await faultOf(place)) return;
    await place.fleet.announceTogether(10, 'x'.repeat(20_000));
  }
  throw new Error('the disk was never too full for the outbox');
}

const hasFault = (place: Place): Promise<unknown> =>
  until(() => faultOf(place), { what: 'an outbox that cannot be written', everyMs: 200 });

const kinds: readonly Kind[] = [
  {
    name: 'full',
    disk: { megabytes: 200 },
    make: fillUp,
    code: /^(sqlite-13|ENOSPC)$/,
    heal: (disk) => disk.empty(),
  },
  {
    name: 'full at the start',
    disk: { megabytes: 200 },
    async make(place) {
      await restart(place, (disk) => disk.fill());
      await fillUp(place);
    },
    code: /^(sqlite-13|ENOSPC)$/,
    heal: (disk) => disk.empty(),
  },
  {
    name: 'read-only at the start',
    disk: { megabytes: 200 },
    async make(place) {
      await restart(place, (disk) => disk.remount('ro'));
      await hasFault(place);
    },
    code: /^EROFS$/,
    heal: (disk) => disk.remount('rw'),
  },
  {
    name: 'without inodes at the start',
    disk: { megabytes: 200, inodes: 64 },
    async make(place) {
      await restart(place, (disk) => disk.fillInodes());
      await hasFault(place);
    },
    code: /^ENOSPC$/,
    heal: (disk) => disk.emptyInodes(),
  },
];

async function runCase(context: FaultContext, index: number): Promise<Outcome> {
  const kind = kinds[index % kinds.length];
  if (!kind) throw new Error('there is no such disk');
  const disk = await PrivateDisk.open(join(context.directory, `disk-${index}`), kind.disk);
  const fleet = await FleetUnderTest.start(context, { vms: ['web_0'], disk });
  const { azure } = fleet;
  const broken: string[] = [];
  const fail = (what: string): number => broken.push(`${kind.name}: ${what}`);
  try {
    const [vm] = fleet.vms;
    if (!vm) throw new Error('there is no VM');
    const place: Place = { disk, fleet, vm };
    fleet.startBridge(vm);
    await until(() => (azure.imds.polls.web_0 ?? 0) > 1, { what: 'first polls' });
    // One sink waits the whole time, so that committed records have to survive.
    azure.logAnalytics.fault({ status: 503 });
    await fleet.announceTogether(3);
    await kind.make(place);
    const began = performance.now();
    const code = (await faultOf(place))?.code ?? 'none';
    if (!kind.code.test(code)) fail(`status has the code ${code}`);
    const events = await fleet.announceTogether(2);
    const isAtHub = () => fleet.judge(events).lost <= 2 * events.length;
    await until(isAtHub, { timeoutMs: 1000 * mostSendSeconds, everyMs: 100 }).catch(() =>
      fail(`what was seen was not sent within ${mostSendSeconds} s`),
    );
    const inMemory = (await storageOf(place))?.undurable ?? 0;
    await sleep(1000 * faultSeconds - (performance.now() - began));
    const lines = (vm.bridge?.log ?? []).filter((line) => line.part === 'outbox' && line.code === code).length;
    const seconds = (performance.now() - began) / 1000;
    if (lines === 0) fail('nothing was logged');
    if (lines > 1 + seconds / logEverySeconds) fail(`logged ${lines} times in ${seconds.toFixed(0)} s`);
    const healed = performance.now();
    kind.heal(disk);
    const isWritten = async () => {
      const storage = await storageOf(place);
      return storage && storage.fault === null && storage.undurable === 0;
    };
    await until(isWritten, { timeoutMs: 30_000, everyMs: 100 }).catch(() => {});
    const recovery = (performance.now() - healed) / 1000;
    await fleet.kill(vm);
    azure.logAnalytics.fault(null);
    fleet.startBridge(vm);
    // The table failed for so long that its pause may be minutes.
    const retry = ['outbox', 'retry', '--now', '--state-directory', join(disk.path, vm.name)];
    const [program = '', ...enter] = disk.enter;
    await hasStarted(fleet);
    await run(program, [...enter, process.execPath, context.program, ...retry]);
    const freshArrived = await fleet.freshArrives(createRandom(context.seed + index), 60);
    await until(() => fleet.judge().lost === 0, { timeoutMs: 30_000, everyMs: 200 }).catch(() => {});
    const { lost, copies, broken: wrong } = fleet.judge();
    context.say(`${kind.name}: ${code}, written again after ${recovery.toFixed(1)} s, ${lost} lost`);
    return {
      lost,
      duplicated: { found: copies, allowed: 3 * fleet.announced.length },
      happened: [
        { what: `disk ${kind.name}`, count: code === 'none' ? 0 : 1, least: 1 },
        { what: 'records in memory only', count: inMemory, least: 2 * events.length },
      ],
      worst: { what: 'written again', seconds: recovery, mostSeconds },
      freshArrived,
      conservation: fleet.conservation,
      broken: [...broken, ...wrong.slice(0, 3).map((what) => `${kind.name}: ${what}`)],
    };
  } finally {
    await fleet.close();
    await disk.close();
  }
}

/** A disk that takes no writes, in each way: what is committed stays, what is new is sent from memory, and it heals by itself. */
export const badDisk: FaultTest = {
  id: 'bad-disk',
  title: 'a disk that is full, read-only or without inodes',
  kind: 'processes',
  cases: { quick: kinds.length, full: 5 * kinds.length },
  load: { seconds: 35, processors: 0.4 },
  whyNot: whyNoPrivateDisk,
  async run(context) {
    const outcomes: Outcome[] = [];
    for (let index = 0; index < context.cases; index += kinds.length) {
      context.signal.throwIfAborted();
      outcomes.push(...(await Promise.all(kinds.map((_, kind) => runCase(context, index + kind)))));
    }
    return combined(outcomes);
  },
};

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import { exitCodes } from '../../../src/cli/exit-codes.ts';
import { systemClock } from '../../../src/clock.ts';
import { silentLog } from '../../../src/log.ts';
import type { Outbox, OutboxOptions, SinkProgress } from '../../../src/outbox/outbox.ts';
import { createRandom, type Random } from '../../fleet-model/random.ts';
import { until } from '../../support/until.ts';
import { backlogOf, store } from '../backlog/records.ts';
import type { FaultContext, FaultTest, Outcome } from '../fault-test.ts';
import { FleetUnderTest } from '../fleet/fleet-under-test.ts';
import type { Arrived } from '../fleet/judge.ts';
import { combined } from '../outcome.ts';
import { fromSources } from '../sources.ts';

const waiting = 1_000;
const mostSeconds = 30;
const fixtures = join(import.meta.dirname, '../../fixtures/outboxes');
const olderVersion = '0.1.0';

type OpenOutbox = (options: OutboxOptions) => Outbox;
/** As version 0.1.0 names what became of a delivery. */
type OpenOlder = (options: OutboxOptions) => Omit<Outbox, 'settle'> & {
  settle(sink: string, updates: readonly { position: number; outcome: 'delivered' }[], progress: SinkProgress): void;
};

interface Case {
  readonly fleet: FleetUnderTest;
  readonly random: Random;
  readonly directory: string;
  /** Of the version before, whose format is older, and of the tested one. */
  readonly older: OpenOlder;
  readonly newer: OpenOutbox;
}

/** What happened before the tested bridge gets the outbox. */
interface Prepared {
  readonly proof: string;
  readonly sentBefore: readonly Arrived[];
  readonly broken: readonly string[];
}

const options = (directory: string, version: string): OutboxOptions => {
  const sinks = ['event-hubs', 'log-analytics'];
  return { directory, sinks, maxMegabytes: 256, clock: systemClock, log: silentLog, version };
};

/** The outbox of that version, from its own code. */
function outboxOf(version: string, directory: string): OpenOlder {
  const file = join(directory, `outbox-${version}.cjs`);
  writeFileSync(file, gunzipSync(readFileSync(join(fixtures, `outbox-${version}.cjs.gz`))));
  return (createRequire(import.meta.url)(file) as { openOutbox: OpenOlder }).openOutbox;
}

/** Appends records, for which both sinks wait, and closes. */
function fill(
  outbox: Pick<Outbox, 'state' | 'append' | 'close'>,
  { fleet, random }: Case,
  count: number,
  name: string,
): void {
  const backlog = backlogOf(random, { after: outbox.state, count, name });
  fleet.announced.push(...backlog.announced);
  store(outbox, backlog);
}

async function upgrade(one: Case): Promise<Prepared> {
  fill(one.older(options(one.directory, olderVersion)), one, waiting, 'older');
  return { proof: 'upgrades', sentBefore: [], broken: [] };
}

/** The version before delivers a part of it to the event hub, and adds records of its own. */
async function rollBack(one: Case): Promise<Prepared> {
  const { directory, older } = one;
  fill(one.newer(options(directory, '9.9.9')), one, waiting, 'newer');
  const outbox = older(options(directory, olderVersion));
  const sent = outbox.pending('event-hubs', { limit: waiting });
  const broken =
    outbox.recovery === null && sent.length === waiting
      ? []
      : [`${olderVersion} found ${sent.length} of ${waiting} records, ${outbox.recovery?.reason ?? 'undamaged'}`];
  const part = sent.slice(0, waiting / 4);
  const delivered = part.map(({ position }) => ({ position, outcome: 'delivered' as const }));
  outbox.settle('event-hubs', delivered, outbox.progress('event-hubs'));
  fill(outbox, one, waiting / 10, 'roll-back');
  return { proof: 'roll-backs', sentBefore: part.map(({ json }) => JSON.parse(json.toString()) as Arrived), broken };
}

/** A major version that this one does not know is refused with its own exit code, and nothing is changed. */
async function newerMajor(one: Case): Promise<Prepared> {
  const { directory, fleet, newer } = one;
  fill(newer(options(directory, '9.9.9')), one, waiting, 'major');
  const file = join(directory, 'outbox.sqlite');
  const setVersion = (version: number): void => {
    using db = new DatabaseSync(file);
    db.exec(`PRAGMA user_version = ${version}`);
  };
  const present = userVersion(file);
  setVersion(1000 * (Math.floor(present / 1000) + 1));
  const before = hashOf(file);
  const [vm] = fleet.vms;
  if (!vm) throw new Error('there is no VM');
  const bridge = fleet.startBridge(vm);
  const { code } = await bridge.exited;
  vm.bridge = null;
  const broken = [
    ...(code === exitCodes.newerOutbox.code ? [] : [`a newer major ended with the exit code ${code}`]),
    ...(/Install version 9\.9\.9 or newer/.test(bridge.stderr()) ? [] : ['the version to install was not named']),
    ...(hashOf(file) === before ? [] : ['the outbox of a newer major was changed']),
  ];
  setVersion(present);
  return { proof: 'newer majors', sentBefore: [], broken };
}

/** An outbox that was moved aside was not accepted as it is. */
const movedAside = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => /^(corrupt|archived)-/.test(name))
    .map((name) => `the outbox was moved to ${name}`);

const userVersion = (file: string): number => {
  using db = new DatabaseSync(file, { readOnly: true });
  return Number(db.prepare('PRAGMA user_version').get()?.user_version);
};
const hashOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

const kinds = [upgrade, rollBack, newerMajor];

async function runCase(context: FaultContext, index: number): Promise<Outcome> {
  const folder = join(context.directory, `case-${index}`);
  const fleet = await FleetUnderTest.start({ ...context, directory: folder }, { vms: ['web_0'] });
  const random = createRandom(context.seed + index);
  try {
    const [vm] = fleet.vms;
    const prepare = kinds[index % kinds.length];
    if (!vm || !prepare) throw new Error('there is no VM');
    mkdirSync(vm.stateDirectory, { recursive: true, mode: 0o700 });
    const older = outboxOf(olderVersion, folder);
    const { openOutbox: newer } = await fromSources(context, 'outbox/durable-outbox.ts');
    const { proof, sentBefore, broken } = await prepare({ fleet, random, directory: vm.stateDirectory, older, newer });
    const stored = fleet.announced.reduce((sum, { steps }) => sum + steps.length, 0);
    fleet.startBridge(vm);
    const began = performance.now();
    const judged = () => fleet.judge(fleet.announced, { hub: sentBefore });
    await until(() => judged().lost === 0, { timeoutMs: 2 * mostSeconds * 1000, everyMs: 200 }).catch(() => {});
    const seconds = (performance.now() - began) / 1000;
    const freshArrived = await fleet.freshArrives(random, 30);
    const { lost, copies, broken: wrong } = judged();
    return {
      lost,
      duplicated: { found: copies, allowed: 0 },
      happened: [
        { what: proof, count: 1, least: 1 },
        { what: 'records that waited', count: stored, least: waiting },
      ],
      worst: { what: 'drained after', seconds, mostSeconds },
      freshArrived,
      conservation: fleet.conservation,
      broken: [...broken, ...movedAside(vm.stateDirectory), ...wrong.slice(0, 3)],
    };
  } finally {
    await fleet.close();
  }
}

/** Every stored format is opened by the version before it, too; a roll-back loses nothing that waits. */
export const upgrades: FaultTest = {
  id: 'upgrade',
  title: 'upgrade, roll-back and a newer format, with 1,000 records waiting',
  kind: 'processes',
  cases: { quick: kinds.length, full: 10 * kinds.length },
  load: { seconds: 30, processors: 0.2 },
  async run(context) {
    const outcomes: Outcome[] = [];
    for (let index = 0; index < context.cases; index += kinds.length) {
      context.signal.throwIfAborted();
      outcomes.push(...(await Promise.all(kinds.map((_, kind) => runCase(context, index + kind)))));
    }
    return combined(outcomes);
  },
};

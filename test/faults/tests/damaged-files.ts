import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import { readOutbox } from '../../../src/outbox/reader.ts';
import { imbalance } from '../../../src/outbox/store/counters.ts';
import { createRandom } from '../../fleet-model/random.ts';
import { appendRecords } from '../../outbox/harness.ts';
import type { FaultTest } from '../fault-test.ts';
import { cutLogs, type Damage, knownDamages, randomFlip } from '../file-calls/damage.ts';
import { freshArrives, stateDirectoryOf } from '../file-calls/life.ts';
import { ownVm } from '../file-calls/phases.ts';
import { fillOutbox, makeStateFolder, type OutboxModule, openIn, outboxModule } from '../file-calls/stored-backlog.ts';

/** What a crash left: some records are in the file, each further one in a commit of the log. */
interface Template {
  readonly directory: string;
  readonly streamId: string;
  readonly position: number;
  /** The bytes of each record, by its id. */
  readonly bodies: ReadonlyMap<string, string>;
  readonly inFile: number;
}

interface Found {
  readonly damage: Damage;
  /** Records that are missing without a word about it. */
  readonly silent: number;
  readonly missing: number;
  readonly isReported: boolean;
  readonly seconds: number;
  readonly samples: number;
  readonly imbalanced: number;
  readonly broken: readonly string[];
}

const sinks = ['stdout', 'table'];

/** Opens damaged state directories: nothing keeps the bridge from starting, what can be saved is saved, and what is lost is reported. */
export const damagedFiles: FaultTest = {
  id: 'damaged-files',
  title: 'state files with changed bytes, cut logs, foreign or missing files',
  kind: 'one process',
  cases: { quick: 200, full: 2500 },
  load: { seconds: 35, processors: 0.3 },
  async run(context) {
    const random = createRandom(context.seed);
    const module = await outboxModule(context.sources);
    const template = makeTemplate(module, context.directory);
    const known = knownDamages();
    const logs = cutLogs(template.directory, template.inFile);
    const quickLogs = logs.filter(() => random.chance(60 / logs.length));
    const isAll = context.cases >= 1000;
    const damages = [...known, ...(isAll ? logs : quickLogs)];
    while (damages.length < context.cases) damages.push(randomFlip(random, template.directory));
    const found: Found[] = [];
    const target = join(context.directory, 'damaged');
    for (const damage of damages) {
      context.signal.throwIfAborted();
      found.push(judged(module, template, damage, target));
    }
    const bridges = await runBridges(
      context,
      template,
      isAll ? known : known.filter(() => random.chance(4 / known.length)),
    );
    const sum = (of: (one: Found) => number): number => found.reduce((all, one) => all + of(one), 0);
    const reported = found.filter(({ isReported }) => isReported);
    context.say(
      `${reported.length} of ${found.length} damages were reported; ${sum(({ missing }) => missing)} of ${found.length * template.bodies.size} records were on what was damaged`,
    );
    return {
      lost: sum(({ silent }) => silent),
      duplicated: { found: 0, allowed: 0 },
      happened: [
        { what: 'damages', count: found.length, least: context.cases },
        { what: 'damages that were reported', count: reported.length, least: Math.floor(found.length / 3) },
      ],
      worst: { what: 'start', seconds: Math.max(...found.map(({ seconds }) => seconds)), mostSeconds: 5 },
      freshArrived: bridges.every(({ hasArrived }) => hasArrived),
      conservation: { samples: sum(({ samples }) => samples), violations: sum(({ imbalanced }) => imbalanced) },
      broken: [
        ...found.flatMap(({ broken }) => broken),
        ...bridges.filter(({ hasArrived }) => !hasArrived).map(({ what }) => `${what}: a bridge delivers nothing`),
      ],
    };
  },
};

function makeTemplate(module: OutboxModule, folder: string): Template {
  const open = makeStateFolder(join(folder, 'open'));
  const outbox = openIn(module, open, { sinks });
  const bodies = new Map<string, string>();
  fillOutbox(outbox, ownVm, 10);
  // The log is played back, and begins at its front again.
  outbox.maintain();
  const inFile = outbox.state.position;
  for (let n = 0; n < 24; n += 1) appendRecords(outbox, { eventId: `EVENT-${n % 6}`, bytes: 600 });
  for (const { json } of outbox.pending('table', { limit: 1000 })) {
    const text = String(json);
    bodies.set((JSON.parse(text) as { recordId: string }).recordId, text);
  }
  const directory = makeStateFolder(join(folder, 'template'));
  for (const name of ['outbox.sqlite', 'outbox.sqlite-wal', 'outbox.position', 'lock.sqlite'])
    cpSync(join(open, name), join(directory, name));
  const { streamId, position } = outbox.state;
  outbox.close();
  return { directory, streamId, position, bodies, inFile };
}

function judged(module: OutboxModule, template: Template, damage: Damage, directory: string): Found {
  rmSync(directory, { recursive: true, force: true });
  cpSync(template.directory, directory, { recursive: true });
  damage.apply(directory);
  const broken: string[] = [];
  const began = performance.now();
  const unopened = { damage, silent: 0, missing: template.bodies.size, isReported: false, samples: 0, imbalanced: 0 };
  let outbox: ReturnType<typeof openIn>;
  try {
    outbox = openIn(module, directory, { sinks });
  } catch (error) {
    const seconds = (performance.now() - began) / 1000;
    return {
      ...unopened,
      seconds,
      broken: [`${damage.what}: the bridge would not start: ${(error as Error).message}`],
    };
  }
  const seconds = (performance.now() - began) / 1000;
  const kept = new Map(
    outbox.pending('table', { limit: 1000 }).map(({ json }) => {
      const text = String(json);
      return [(JSON.parse(text) as { recordId: string }).recordId, text];
    }),
  );
  const missing = [...template.bodies.keys()].filter((id) => !kept.has(id)).length;
  const changed = [...kept].filter(([id, text]) => template.bodies.get(id) !== text).length;
  if (changed > 0) broken.push(`${damage.what}: ${changed} records would be sent with other bytes`);
  if (damage.leastKept !== undefined && kept.size < damage.leastKept)
    broken.push(`${damage.what}: ${kept.size} records are kept of ${damage.leastKept} whose commit is there`);
  const { recovery, storage, state } = outbox;
  const dead = outbox.counters().table?.dead ?? 0;
  const isReported = recovery !== null || storage.fault !== null || dead > 0;
  const [record] = appendRecords(outbox, { eventId: 'AFTERWARDS' });
  if (record && record.streamId === template.streamId && record.position <= template.position)
    broken.push(`${damage.what}: the position ${record.position} is given twice`);
  const counters = Object.values(outbox.counters());
  const isStored = storage.fault === null;
  outbox.close();
  if (isStored) {
    const again = openIn(module, directory, { sinks });
    if (again.recovery?.at !== recovery?.at) broken.push(`${damage.what}: the next start replaces the outbox again`);
    if (again.state.position !== state.position + 1) broken.push(`${damage.what}: the next start does not continue`);
    again.close();
    if (recovery && readOutbox(directory)?.recovery?.at !== recovery.at)
      broken.push(`${damage.what}: status does not report it`);
  }
  return {
    damage,
    silent: isReported ? 0 : missing,
    missing,
    isReported,
    seconds,
    samples: counters.length,
    imbalanced: counters.filter((one) => imbalance(one) !== 0).length,
    broken: [
      ...broken,
      ...(missing > 0 && !isReported ? [`${damage.what}: ${missing} records are missing unreported`] : []),
    ],
  };
}

/** Starts whole bridges on some of them. */
async function runBridges(
  { program, directory }: { readonly program: string; readonly directory: string },
  template: Template,
  damages: readonly Damage[],
): Promise<readonly { readonly what: string; readonly hasArrived: boolean }[]> {
  const azure = await startAzureSimulator({ vms: [{ name: ownVm }] });
  const slot = { azure, program, shim: '', folder: join(directory, 'slot') };
  const results = [];
  try {
    for (const { what, apply } of damages) {
      rmSync(slot.folder, { recursive: true, force: true });
      cpSync(template.directory, stateDirectoryOf(slot), { recursive: true });
      apply(stateDirectoryOf(slot));
      results.push({ what, hasArrived: await freshArrives(slot) });
    }
  } finally {
    await azure.close();
  }
  return results;
}

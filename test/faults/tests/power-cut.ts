import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import { imbalance } from '../../../src/outbox/store/counters.ts';
import { createRandom } from '../../fleet-model/random.ts';
import { until } from '../../support/until.ts';
import type { FaultTest } from '../fault-test.ts';
import { BridgeRun, freshArrives, type Slot, schedule, stateDirectoryOf } from '../file-calls/life.ts';
import { ownVm, type Phase, preparePhases } from '../file-calls/phases.ts';
import { afterPowerCut, type Files, readFiles, type Unconfirmed, writeFiles } from '../file-calls/power-cut.ts';
import { buildShim, type LoggedCall, readShimLog, shimEnvironment, whyNoShim } from '../file-calls/shim.ts';
import { makeStateFolder, type OutboxModule, openIn, outboxModule } from '../file-calls/stored-backlog.ts';

/** The life of a bridge: what was on the disk before, and every call since. */
interface Recording {
  readonly phase: Phase;
  readonly directory: string;
  readonly before: Files;
  readonly calls: readonly LoggedCall[];
}

/** One moment of a recording. */
interface Cut {
  readonly recording: Recording;
  /** The number of calls before it. */
  readonly after: number;
  readonly unconfirmed: Unconfirmed;
}

/** Of the records that were sent or stored before, those that are missing; what else is wrong, each a sentence. */
interface Found {
  readonly lost: readonly string[];
  readonly broken: readonly string[];
  readonly seconds: number;
  readonly samples: number;
  readonly imbalanced: number;
}

/** Cuts the power at each flush and between them, and opens what the disk would hold. */
export const powerCut: FaultTest = {
  id: 'power-cut',
  title: 'power cut at every flush and between two, with writes dropped, reordered and torn',
  kind: 'processes',
  cases: { quick: 150, full: 20_000 },
  load: { seconds: 25, processors: 0.3 },
  whyNot: whyNoShim,
  async run(context) {
    const random = createRandom(context.seed);
    const module = await outboxModule(context.sources);
    const phases = preparePhases(module, context.directory).filter(({ isRemoved }) => !isRemoved);
    const azure = await startAzureSimulator({ vms: [{ name: ownVm }] });
    const folder = join(context.directory, 'slot');
    const slot = { azure, program: context.program, shim: buildShim(context.directory), folder };
    try {
      const recordings: Recording[] = [];
      for (const phase of phases) recordings.push(await record(slot, phase));
      const flushes = recordings.flatMap(cutsAtFlushes);
      const cuts = [...flushes];
      while (cuts.length < context.cases) {
        const recording = random.pick(recordings);
        const after = random.int(1, recording.calls.length);
        cuts.push({ recording, after, unconfirmed: random.pick(['any', 'any', 'any', 'none', 'all']) });
      }
      const chosen = cuts
        .map((cut) => ({ cut, at: random.next() }))
        .sort((a, b) => a.at - b.at)
        .slice(0, context.cases);
      const found: Found[] = [];
      let fresh = 0;
      // The last ones are opened by a whole bridge, too.
      const bridges = Math.min(50, Math.ceil(chosen.length / 50));
      for (const [index, { cut }] of chosen.entries()) {
        context.signal.throwIfAborted();
        const files = afterPowerCut(
          cut.recording.before,
          cut.recording.calls.slice(0, cut.after),
          cut.unconfirmed,
          random,
        );
        found.push(opened(module, cut, files, makeStateFolder(join(context.directory, 'cut'))));
        if (index >= chosen.length - bridges && (await restarts(slot, cut, files))) fresh += 1;
        if (found.length % 1000 === 0) context.say(`${found.length} power cuts`);
      }
      const sum = (of: (one: Found) => number): number => found.reduce((all, one) => all + of(one), 0);
      return {
        lost: sum(({ lost }) => lost.length),
        duplicated: { found: 0, allowed: 0 },
        happened: [
          { what: 'power cuts', count: found.length, least: context.cases },
          { what: 'flushes', count: flushes.length, least: 20 * recordings.length },
          {
            what: 'records sent before',
            count: Math.max(...recordings.map(({ calls }) => sentBefore(calls).length)),
            least: 2,
          },
        ],
        worst: { what: 'open', seconds: Math.max(...found.map(({ seconds }) => seconds)), mostSeconds: 5 },
        freshArrived: fresh === bridges,
        conservation: { samples: sum(({ samples }) => samples), violations: sum(({ imbalanced }) => imbalanced) },
        broken: found.flatMap(({ broken }) => broken),
      };
    } finally {
      await azure.close();
    }
  },
};

/** Each flush is a moment, just before it and just after it, with nothing else on the disk. */
const cutsAtFlushes = (recording: Recording): readonly Cut[] =>
  recording.calls.flatMap(({ call }, index) =>
    call === 'fsync' ? [index, index + 1].map((after): Cut => ({ recording, after, unconfirmed: 'none' })) : [],
  );

/** Lets a bridge live on the directory of this phase while two events come and go, and writes down its calls. */
async function record(slot: Slot, phase: Phase): Promise<Recording> {
  rmSync(slot.folder, { recursive: true, force: true });
  const directory = makeStateFolder(stateDirectoryOf(slot));
  phase.place(directory);
  const before = readFiles(directory);
  const log = join(slot.folder, 'calls.log');
  const first = schedule(slot);
  const life = new BridgeRun(slot, shimEnvironment({ shim: slot.shim, folder: directory, log, hasData: true }));
  const hasSent = (eventId: string): boolean => life.records.some((sent) => sent.eventId === eventId);
  try {
    await until(() => hasSent(first) && life.records.length > 2 * phase.due.length, {
      what: `records of ${phase.name}`,
    });
    const second = schedule(slot);
    await until(() => hasSent(second), { what: 'a second event' });
    for (const eventId of [first, second]) slot.azure.imds.remove(eventId);
    life.process.kill('SIGTERM');
    await life.process.exited;
  } finally {
    life.process.kill('SIGKILL');
  }
  return { phase, directory, before, calls: readShimLog(log, { hasData: true }) };
}

interface Sent {
  readonly recordId: string;
  readonly streamId: string;
  readonly position: number;
}

/** Records that were about to leave for standard output. */
const sentBefore = (calls: readonly LoggedCall[]): readonly Sent[] =>
  calls
    .flatMap(({ call, data }) => (call === 'send' ? String(data).split('\n') : []))
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Sent);

/** Opens what the disk holds; a sink that is new to it gets every record that it keeps. */
function opened(module: OutboxModule, { recording, after, unconfirmed }: Cut, files: Files, directory: string): Found {
  const { phase } = recording;
  const what = `${phase.name}, after call ${after} of ${recording.calls.length}, unconfirmed ${unconfirmed}`;
  writeFiles(files, recording.directory, directory);
  const began = performance.now();
  const outbox = openIn(module, directory, { sinks: ['stdout', 'auditor'] });
  try {
    const seconds = (performance.now() - began) / 1000;
    const kept = outbox.pending('auditor', { limit: 10_000 }).map(({ json }) => JSON.parse(String(json)) as Sent);
    const ids = new Set(kept.map(({ recordId }) => recordId));
    const sent = sentBefore(recording.calls.slice(0, after));
    const wanted = new Set([...phase.recordIds, ...sent.map(({ recordId }) => recordId)]);
    const lost = [...wanted].filter((recordId) => !ids.has(recordId));
    const { state, storage, recovery } = outbox;
    const reused = sent.filter(({ streamId, position }) => streamId === state.streamId && position > state.position);
    const otherStream = sent.some(({ streamId }) => streamId !== state.streamId);
    const counters = Object.values(outbox.counters());
    return {
      lost,
      seconds,
      samples: counters.length,
      imbalanced: counters.filter((one) => imbalance(one) !== 0).length,
      broken: [
        ...(lost.length > 0 ? [`${what}: ${lost.length} records are lost`] : []),
        ...(reused.length > 0 ? [`${what}: ${reused.length} positions would be given twice`] : []),
        ...(otherStream ? [`${what}: a new stream begins: ${recovery?.reason}`] : []),
        ...(recovery && phase.name !== 'salvage' ? [`${what}: taken for damage: ${recovery.reason}`] : []),
        ...(storage.fault ? [`${what}: it cannot be written: ${storage.fault.reason}`] : []),
      ],
    };
  } finally {
    outbox.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Whether a whole bridge starts on it and delivers an event that is announced then. */
async function restarts(slot: Slot, { recording }: Cut, files: Files): Promise<boolean> {
  rmSync(slot.folder, { recursive: true, force: true });
  writeFiles(files, recording.directory, makeStateFolder(stateDirectoryOf(slot)));
  return freshArrives(slot);
}

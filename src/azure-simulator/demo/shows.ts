import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../cli/exit-codes.ts';
import { span } from '../../terminal/styled-text.ts';
import { bridgeConfiguration } from '../cli/addresses.ts';
import { bridgeProgram } from '../cli/programs.ts';
import type { AzureSimulator } from '../index.ts';
import { frame } from './frame.ts';
import { beginningOf, type Show } from './model.ts';
import { type PerformOptions, perform } from './perform.ts';
import { plainLine } from './plain-line.ts';
import { playForFleet, playForVm } from './script.ts';
import { type DemoOptions, onStage, type Stage, stoppedBeforeTheEnd } from './stage.ts';
import { summarize, whatNext } from './summary.ts';

/** A show, and how it is set up. */
export interface ShowDefinition {
  readonly beginning: Show;
  readonly introduction: readonly string[];
  readonly timeoutMs: number;
  /** Sets its bridges up and starts those that run from the beginning. */
  readonly prepare: (stage: Stage, options: DemoOptions) => Pick<PerformOptions, 'play' | 'stateDirectory'>;
}

/** @throws a {@link Failure} unless Azure, the event hub and the table agree. */
export async function demo(definition: ShowDefinition, options: DemoOptions): Promise<void> {
  const { beginning, introduction } = definition;
  const vms = beginning.vms;
  const height = (columns: number): number => frame(beginning, 0, columns).length;
  await onStage(options, { vms, height }, async (stage) => {
    const { display } = stage;
    display.print(['', ...introduction.map((text) => `   ${text}`), ''].map((text) => [span(text)]));
    const ended = await play(definition, stage, options, {
      onMoment: (moment, before) => display.line(plainLine(moment, before)),
      onTick: (show, now) => display.draw((columns) => frame(show, now, columns)),
    });
    display.close();
    if (ended === null) throw stoppedBeforeTheEnd();
    display.print(summarize(ended.verdict, ended.show));
    if (ended.verdict.differences.length > 0) {
      throw new Failure('unexpected', 'The destinations differ from what Azure issued; see above.');
    }
    if (vms.length === 1) options.print(whatNext(options.entry));
  });
}

/** The show itself, for any audience. @returns null: it was stopped. */
export function play(
  { beginning, timeoutMs, prepare }: ShowDefinition,
  stage: Stage,
  options: DemoOptions,
  audience: Pick<PerformOptions, 'onMoment' | 'onTick'>,
): ReturnType<typeof perform> {
  const { azure, stop } = stage;
  return perform({
    azure,
    stop,
    beginning,
    timeoutMs: options.timeoutMs ?? timeoutMs,
    ...prepare(stage, options),
    ...audience,
  });
}

const vm = 'web_0';

export const oneVm: ShowDefinition = {
  beginning: beginningOf([vm]),
  introduction: [
    'A local Azure on this machine: the metadata service of one VM, an event hub',
    'and a table. A bridge, in a process of its own, polls the one and delivers to',
    'the others with the real Azure client libraries.',
  ],
  timeoutMs: 20_000,
  prepare({ azure, addProcess }, { directory, entry }) {
    const stateDirectory = join(directory, 'state');
    const file = join(directory, 'bridge.json');
    const { sinks, ...rest } = bridgeConfiguration(azure, vm, stateDirectory);
    const { stdout: _, ...both } = sinks;
    // A heartbeat would take the late answer that is meant for a record.
    const configuration = { heartbeat: { everyMinutes: 0 }, ...rest, sinks: both };
    writeFileSync(file, JSON.stringify(configuration), { mode: 0o600 });
    const bridge = addProcess(bridgeProgram(entry), ['run', '--config', file]);
    return { stateDirectory, play: (scene) => playForVm({ ...scene, vm, bridge }) };
  },
};

/** Processes that share the bridges. 200 bridges that poll once a second take six tenths of a core. */
const parts = 2;
const mostDomains = 5;
/** Share of the other VMs that report an event as well. */
const witnessRate = 0.02;
/** So that they do not all connect at once. */
const connectJitterSeconds = 1;

export function fleetOf(vmCount: number): ShowDefinition {
  const vms = Array.from({ length: vmCount }, (_, number) => `web_${number}`);
  return {
    beginning: beginningOf(vms, Math.min(mostDomains, vmCount)),
    introduction: [
      `A scale set of ${vmCount} VMs on this machine, each with a bridge and an outbox of`,
      'its own. Azure announces maintenance of one update domain after the other.',
    ],
    timeoutMs: 40_000,
    prepare({ azure, addProcess }, { directory, entry }) {
      for (let part = 0; part < parts; part += 1) {
        const file = join(directory, `part-${part}.json`);
        const ofPart = vms.filter((_, number) => number % parts === part);
        writeFileSync(file, JSON.stringify(ofPart.map((vm) => fleetConfiguration(azure, vm, directory, vmCount))));
        addProcess(entry, ['demo', '--fleet-part', file]).start();
      }
      return { play: playForFleet };
    },
  };
}

/** A large fleet polls every other second, so that two cores are enough; every step lasts longer than that. */
function fleetConfiguration(azure: AzureSimulator, vm: string, directory: string, vmCount: number) {
  const { imds, sinks, tls, stateDirectory } = bridgeConfiguration(azure, vm, join(directory, vm));
  const { eventHubs, logAnalytics } = sinks;
  return {
    imds: { ...imds, pollIntervalSeconds: vmCount > 250 ? 2 : 1 },
    scope: { witnessRate },
    stateDirectory,
    sinks: { eventHubs: { ...eventHubs, connectJitterSeconds }, logAnalytics },
    tls,
  };
}

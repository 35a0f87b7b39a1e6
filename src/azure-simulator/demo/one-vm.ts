import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../cli/exit-codes.ts';
import { bridgeConfiguration } from '../cli/addresses.ts';
import { bridgeProgram } from '../cli/programs.ts';
import type { AzureSimulator } from '../index.ts';
import { beginning } from './model.ts';
import { frame } from './picture/frame.ts';
import { piece } from './picture/ink.ts';
import { plainLine } from './plain-line.ts';
import { runShow, type ShowOptions } from './show.ts';
import { type DemoOptions, onStage, type Stage, stoppedBeforeTheEnd } from './stage.ts';
import { summarize, whatNext } from './summary.ts';

/** The VM of the show. */
export const vm = 'web_0';

/** The show with one VM. @throws a {@link Failure} unless Azure, the event hub and the table agree. */
export async function demoOneVm(options: DemoOptions): Promise<void> {
  const height = (columns: number): number => frame(beginning, 0, columns).length;
  await onStage(options, { vms: [vm], height }, async (stage) => {
    const { display } = stage;
    display.say(introduction);
    const seen = await playOneVm(stage, options, {
      happened: (moment, before) => display.line(plainLine(moment, before)),
      tick: (show, now) => display.draw((columns) => frame(show, now, columns)),
    });
    display.close();
    if (seen === null) throw stoppedBeforeTheEnd();
    display.say(summarize(seen.verdict, seen.show));
    if (seen.verdict.complaints.length > 0) {
      throw new Failure('unexpected', 'What Azure said is not what the destinations hold: see above what is missing.');
    }
    options.print(whatNext(options.entry));
  });
}

/** The show itself, for whoever watches it. Null: it was stopped. */
export function playOneVm(
  { azure, stop, addProcess }: Stage,
  { directory, entry, patienceMs }: Pick<DemoOptions, 'directory' | 'entry' | 'patienceMs'>,
  audience: Pick<ShowOptions, 'happened' | 'tick'>,
): ReturnType<typeof runShow> {
  const stateDirectory = join(directory, 'state');
  const configFile = join(directory, 'bridge.json');
  writeFileSync(configFile, JSON.stringify(configuration(azure, stateDirectory)), { mode: 0o600 });
  const bridge = addProcess(bridgeProgram(entry), ['run', '--config', configFile]);
  return runShow({
    azure,
    vm,
    bridge,
    stateDirectory,
    stop,
    ...audience,
    ...(patienceMs !== undefined && { patienceMs }),
  });
}

const introduction = [
  '',
  '   A local Azure on this machine: the metadata service of one VM, an event hub',
  '   and a table. A bridge, a process of its own, watches the one and delivers to',
  '   the others through the real Azure clients.',
  '',
].map((text) => [piece(text)]);

function configuration(azure: AzureSimulator, stateDirectory: string) {
  const { sinks, ...rest } = bridgeConfiguration(azure, vm, stateDirectory);
  const { stdout: _, ...both } = sinks;
  // A heartbeat would take the late answer that is meant for a record.
  return { heartbeat: { everyMinutes: 0 }, ...rest, sinks: both };
}

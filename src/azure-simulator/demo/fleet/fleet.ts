import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../../cli/exit-codes.ts';
import { bridgeConfiguration } from '../../cli/addresses.ts';
import type { AzureSimulator } from '../../index.ts';
import { piece } from '../picture/ink.ts';
import { type DemoOptions, onStage, stoppedBeforeTheEnd } from '../stage.ts';
import { fleetFrame } from './frame.ts';
import { fleetBeginning } from './model.ts';
import { fleetPlainLine } from './plain-line.ts';
import { runFleetShow } from './show.ts';
import { summarizeFleet } from './summary.ts';

/** Processes that share the bridges among them. 200 bridges that look once a second take six tenths of a core. */
const parts = 2;
const mostDomains = 5;
/** Share of the other VMs that tell of an event as well. */
const witnessRate = 0.02;
/** A large fleet looks every other second, so that two cores are enough; every step lasts longer than that. */
const pollSeconds = (vmCount: number): number => (vmCount > 250 ? 2 : 1);
const minimumStepSeconds = 3.2;
/** So that not all of them connect at once. */
const connectJitterSeconds = 1;

/** The show with a scale set. @throws a {@link Failure} unless the records fold to what Azure issued. */
export async function demoFleet(options: DemoOptions, vmCount: number): Promise<void> {
  const vms = Array.from({ length: vmCount }, (_, number) => `web_${number}`);
  const domains = Math.min(mostDomains, vmCount);
  const fleet = { vms, domains };
  const height = (columns: number): number => fleetFrame(fleetBeginning, 0, columns, fleet).length;
  await onStage(options, { vms, height }, async ({ azure, display, stop, addProcess }) => {
    display.say(introduction(vmCount));
    for (let part = 0; part < parts; part += 1) {
      const file = join(options.directory, `part-${part}.json`);
      const ofPart = vms.filter((_, number) => number % parts === part);
      writeFileSync(file, JSON.stringify(ofPart.map((vm) => configuration(azure, vm, options.directory, vmCount))));
      addProcess(options.entry, ['demo', '--fleet-part', file]).start();
    }
    const seen = await runFleetShow({
      azure,
      ...fleet,
      minimumStepSeconds,
      stop,
      happened: (moment, before) => display.line(fleetPlainLine(moment, before, vmCount)),
      tick: (show, now) => display.draw((columns) => fleetFrame(show, now, columns, fleet)),
      ...(options.patienceMs !== undefined && { patienceMs: options.patienceMs }),
    });
    display.close();
    if (seen === null) throw stoppedBeforeTheEnd();
    display.say(summarizeFleet(seen.verdict, seen.show));
    if (seen.verdict.complaints.length > 0) {
      throw new Failure('unexpected', 'What Azure issued is not what the records say: see above what differs.');
    }
  });
}

const introduction = (vmCount: number) =>
  [
    '',
    `   A scale set of ${vmCount} VMs on this machine, each with a bridge and an outbox of`,
    '   its own. Azure announces maintenance of one update domain after the other.',
    '',
  ].map((text) => [piece(text)]);

function configuration(azure: AzureSimulator, vm: string, directory: string, vmCount: number) {
  const { imds, sinks, tls, stateDirectory } = bridgeConfiguration(azure, vm, join(directory, vm));
  const { eventHubs, logAnalytics } = sinks;
  return {
    imds: { ...imds, pollIntervalSeconds: pollSeconds(vmCount) },
    scope: { witnessRate },
    stateDirectory,
    sinks: { eventHubs: { ...eventHubs, connectJitterSeconds }, logAnalytics },
    tls,
  };
}

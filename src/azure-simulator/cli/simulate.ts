import { type CommandContext, stopped } from '../../cli/command-context.ts';
import { Failure } from '../../cli/exit-codes.ts';
import { systemClock } from '../../clock.ts';
import { startControl } from '../control/control.ts';
import { type AzureSimulator, startAzureSimulator, type VmDefinition } from '../index.ts';
import type { Recording } from '../recording/read-recording.ts';
import type { Scenario } from '../scenarios/index.ts';
import { addresses } from './addresses.ts';
import { openClientFiles } from './files.ts';
import { createFreezer } from './freezer.ts';
import { hangup } from './hangup.ts';
import { introduce } from './introduce.ts';
import { describeKeys, keysFor } from './keys.ts';
import { minimumStepSeconds } from './minimum-durations.ts';
import { openRecording } from './open-recording.ts';
import { type Output, openOutput } from './output.ts';
import { scenarioNamed } from './scenario-named.ts';
import { createRunner } from './scenario-runner.ts';
import { streams } from './streams.ts';
import { hasKeyboard, readKeys } from './terminal.ts';

/** The options of `simulate`. Commander checks each and refuses conflicting ones. */
export interface SimulateOptions {
  readonly list?: true;
  readonly speed?: number;
  readonly vm?: string;
  readonly vms?: number;
  readonly repeat?: true;
  /** The first of six; 0: free ones. */
  readonly port: number;
  readonly host?: string;
  readonly writeConfig?: string;
  readonly json?: true;
  readonly freeze?: number;
  readonly replay?: string;
  /** Removed; refused with its replacement. */
  readonly record?: string;
}

/** Per VM, as in Azure. */
const requestsPerSecond = 5;
/** Pause after the first poll: what a bridge sees in its first second may have been there before. */
const settleMs = 2_000;

/** Runs a local Azure until stopped. */
export async function simulate(
  name: string | undefined,
  options: SimulateOptions,
  { print, stop }: CommandContext,
): Promise<void> {
  const scenario = name === undefined ? null : scenarioNamed(name);
  const recording = options.replay === undefined ? null : openRecording(options.replay);
  const output = await openOutput(print, options);
  const quit = new AbortController();
  const signal = AbortSignal.any([stop, quit.signal, hangup()]);

  await using closing = new AsyncDisposableStack();
  const freezer = options.freeze === undefined ? null : createFreezer(options.freeze);
  closing.defer(() => freezer?.close());
  const vms = vmsFor(options, scenario, recording);
  const files = openClientFiles(options.writeConfig);
  closing.defer(files.remove);
  const azure = await start(vms, files.directory, options);
  closing.defer(azure.close);
  azure.imds.limitRate(requestsPerSecond);

  const runner = createRunner(azure, {
    vms: vms.map((vm) => vm.name),
    speed: options.speed,
    freezer,
    output: output,
    signal,
  });
  const [{ name: vm }] = vms;
  const control = await listening(
    startControl(azure, {
      ...(options.port !== 0 && { port: options.port + 5 }),
      ...(options.host !== undefined && { host: options.host }),
      play: (scenario, options) => void runner.play(scenario, options),
      addresses: (url) => addresses(azure, vm, url),
    }),
  );
  closing.defer(control.close);
  files.write(azure, vm, control.url);

  if (recording) azure.imds.fault('scheduledevents', { status: 503 });
  if (options.json) print(`${JSON.stringify(addresses(azure, vm, control.url))}\n`);
  else {
    const play = (name: string): void => void runner.play(scenarioNamed(name));
    const about = introduce(azure, {
      vm,
      control: control.url,
      files: files.shown,
      keepsFiles: options.writeConfig !== undefined,
      entry: process.argv[1] ?? '',
    });
    const keys = hasKeyboard() ? keysFor(azure, { play, quit: () => quit.abort(), about }) : [];
    print(`The simulator is ready; Ctrl+C stops it.\n\n${about}\n`);
    if (keys.length > 0) print(`${describeKeys(keys)}\n\n`);
    print(`${beginning(scenario, recording)}\n\n`);
    if (keys.length > 0) closing.defer(readKeys(process.stdin, keys, output.print).close);
    printChanges(azure, output);
  }

  if (scenario ?? recording) await runner.firstPoll();
  if (scenario) await systemClock.sleep(settleMs, signal);
  if (recording && !signal.aborted) await runner.replay(recording);
  while (scenario && !signal.aborted) {
    await runner.play(scenario);
    if (!options.repeat) break;
    await systemClock.sleep(1000 * minimumStepSeconds, signal);
  }
  await stopped(signal);
}

type Vms = readonly [VmDefinition, ...VmDefinition[]];

/** As many as `--vms` or the scenario says; the first as recorded. */
function vmsFor(options: SimulateOptions, scenario: Scenario | null, recording: Recording | null): Vms {
  const recorded = recording?.header.vm ?? null;
  const first = { ...recorded, name: options.vm ?? recorded?.name ?? 'web_0' };
  const count = options.vms ?? scenario?.vms?.length ?? 1;
  const others = Array.from({ length: count }, (_, number) => ({ name: `web_${number}` }));
  return [first, ...others.filter(({ name }) => name !== first.name).slice(0, count - 1)];
}

function start(vms: Vms, directory: string, { port, host }: SimulateOptions): Promise<AzureSimulator> {
  const ports = {
    imds: port,
    eventHubs: port + 1,
    eventHubsPlain: port + 2,
    eventHubsWebSocket: port + 3,
    logAnalytics: port + 4,
  };
  return listening(
    startAzureSimulator({
      vms,
      streams,
      directory,
      ...(host !== undefined && { host }),
      ...(port !== 0 && { ports }),
    }),
  );
}

/** Adds what to do to the error of a port that is in use. */
async function listening<T>(starting: Promise<T>): Promise<T> {
  try {
    return await starting;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(
      'notDone',
      `${why}: another simulate may be running. Stop it, or choose other ports with --port (0: free ones).`,
    );
  }
}

function beginning(scenario: Scenario | null, recording: Recording | null): string {
  if (scenario) return `${scenario.name} starts ${settleMs / 1000} s after the first poll of scheduled events.`;
  if (recording) return 'The recording starts after the first poll of scheduled events, which is answered with 503.';
  return 'No scenario: control it with keys or the control API.';
}

/** Prints every change of the document. */
function printChanges({ imds }: AzureSimulator, { print }: Output): void {
  let printed = 0;
  imds.watch(() => {
    for (const { at, eventType, eventId, step, resources, incarnation } of imds.issued.slice(printed)) {
      print(`${eventType} ${eventId} of ${resources.join(', ')} ${step} (incarnation ${incarnation})`, at);
    }
    printed = imds.issued.length;
  });
}

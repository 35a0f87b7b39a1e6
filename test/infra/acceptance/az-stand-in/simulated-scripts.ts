import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { MachineHalf } from '../../../../infra/acceptance/events/machine-half.ts';
import { pieceLength } from '../../../../infra/acceptance/events/machine-scripts.ts';
import type { SimulatedVm } from '../../../../infra/acceptance/events/simulated-vm.ts';
import { isRecorded } from '../../../../infra/acceptance/events/simulator-machines.ts';
import { printed, printedOnWindows } from './virtual-machines.ts';
import type { RunCommandStatus } from './world.ts';

/** Whether a script is one of `infra/acceptance/events/machine-scripts.ts`. */
export const isOfRecorder = (script: string): boolean => script.includes('scheduled-events-recorder');

interface Place {
  readonly vm: SimulatedVm;
  readonly simulated: MachineHalf;
  /** Where the files of the VM are. */
  readonly directory: string;
}

/** Runs a script on a simulated VM. The service manager is that of the simulator; all else is done by `sh`, or as PowerShell would. */
export async function runInSimulatedVm(script: string, place: Place): Promise<readonly RunCommandStatus[]> {
  return place.vm.machine.os === 'windows' ? await onWindows(script, place) : await onLinux(script, place);
}

const ended = (code: number): string => `\nacceptance-exit-code=${code}`;

async function onLinux(script: string, { vm, simulated, directory }: Place): Promise<readonly RunCommandStatus[]> {
  if (script.includes('systemctl enable')) {
    await simulated.startRecording(vm.machine);
    return printed(ended(0));
  }
  if (script.includes('systemctl disable')) {
    await simulated.stopRecording(vm.machine);
    return printed(ended(0));
  }
  if (script.includes('/*.jsonl')) {
    writeFileSync(join(directory, 'var/lib/scheduled-events-recorder/1.jsonl'), await recordingOf(vm));
  }
  const within = script.replaceAll(/(?<=^|[\s<>"'`])\/(?=(opt|var)\/)/gm, `${directory}/`);
  return printed(await sh(within));
}

/** What `sh` prints on standard output; the exit code is in it. */
const sh = (script: string): Promise<string> =>
  new Promise((resolve) => {
    execFile('sh', ['-c', script], (_, stdout) => resolve(stdout));
  });

/** Texts that were packed on Windows VMs. */
const packed = new WeakMap<SimulatedVm, string>();

async function onWindows(script: string, { vm, simulated }: Place): Promise<readonly RunCommandStatus[]> {
  if (script.includes('Unregister-ScheduledTask')) {
    await simulated.stopRecording(vm.machine);
    return printedOnWindows(ended(0));
  }
  if (script.includes('Register-ScheduledTask')) {
    await simulated.startRecording(vm.machine);
    return printedOnWindows(ended(0));
  }
  const pack = (text: string): void => void packed.set(vm, gzipSync(text).toString('base64'));
  const command = /\.cmd" (.*) 2>&1/.exec(script)?.[1];
  let exitCode = 0;
  if (command !== undefined) {
    const args = [...command.matchAll(/'((?:[^']|'')*)'/g)].map(([, word = '']) => word.replaceAll("''", "'"));
    const { exitCode: code, stdout } = await vm.run(args);
    exitCode = code;
    pack(stdout);
  } else if (script.includes('*.jsonl')) {
    pack(await recordingOf(vm));
  }
  const offset = Number(/\$packed\.Length - (\d+)/.exec(script)?.[1] ?? 0);
  const text = packed.get(vm) ?? '';
  return printedOnWindows(`${text.length} ${text.slice(offset, offset + pieceLength)}${ended(exitCode)}`);
}

const recordedMs = 15_000;

/** A VM of Azure records for minutes after its event; here the recorder has polled once more. */
async function recordingOf(vm: SimulatedVm): Promise<string> {
  for (const until = Date.now() + recordedMs; vm.isOn() && !isRecorded(vm) && Date.now() < until; ) await sleep(50);
  return vm.readRecording();
}

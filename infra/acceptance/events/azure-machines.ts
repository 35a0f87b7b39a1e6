import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { AzError } from '../az.ts';
import { type MachineFound, machinesFound } from '../azure/found.ts';
import { runOn, type ScriptResult } from '../azure/run-script.ts';
import { type AzureTools, retry, toolsHere } from '../azure/tools.ts';
import type { CreateTarget, Machine } from '../target.ts';
import { operationCommands } from './commands.ts';
import { joinRecordings } from './join-recordings.ts';
import type { MachineHalf } from './machine-half.ts';
import { machineScripts } from './machine-scripts.ts';

/** Acts on the VMs of the run by the Azure CLI: requests operations, and runs scripts by run-command. */
export function createAzureMachines(
  { run, az, found, say }: Parameters<CreateTarget>[0],
  tools: Pick<AzureTools, 'sleep'> = toolsHere,
): MachineHalf {
  const closed = new AbortController();
  let scripts = 0;
  const save = (name: string, text: string): string => {
    scripts += 1;
    const path = join('scripts', `${String(scripts).padStart(4, '0')}.${name}`);
    mkdirSync(dirname(join(run.folder, path)), { recursive: true });
    writeFileSync(join(run.folder, path), text);
    return path;
  };
  const context = { run, az, say, save, signal: closed.signal };

  const foundMachine = ({ name }: Machine): MachineFound => {
    const machine = machinesFound(found).find((one) => one.name === name);
    if (machine === undefined) throw new Error(`No step has created the VM ${name}.`);
    return machine;
  };
  /** A VM that restarts refuses scripts, or loses one that runs. */
  const runScript = (machine: Machine, name: string, script: string): Promise<ScriptResult> =>
    retry(
      context,
      tools,
      { what: `${machine.name}, which may be restarting`, everySeconds: 30, limitMinutes: 15 },
      async () => {
        const result = await runOn(context, tools, foundMachine(machine), { name, script });
        if (result.exitCode === null) throw new LostScript(machine.name);
        return result;
      },
      mayPass,
    );
  const runSuccessfully = async (machine: Machine, name: string, script: string): Promise<void> => {
    const { exitCode, stdout, stderr } = await runScript(machine, name, script);
    if (exitCode !== 0)
      throw new Error(`${name} on ${machine.name} ended with ${exitCode}: ${`${stdout} ${stderr}`.trim()}`);
  };
  /** Everything that the first script has packed. */
  const fetchText = async (machine: Machine, name: string, script: string) => {
    const { exitCode, stdout, stderr } = await runScript(machine, name, script);
    const first = readPiece(stdout);
    if (first === null)
      throw new Error(`${name} on ${machine.name} printed no packed text: ${`${stdout} ${stderr}`.trim()}`);
    let packed = first.text;
    while (packed.length < first.length) {
      const { stdout: next } = await runScript(
        machine,
        `${name}-piece`,
        machineScripts(machine.os).piece(packed.length),
      );
      const text = readPiece(next)?.text ?? '';
      if (text === '')
        throw new Error(`${name} on ${machine.name}: ${packed.length} of ${first.length} characters were fetched.`);
      packed += text;
    }
    return { exitCode: exitCode ?? -1, text: gunzipSync(Buffer.from(packed, 'base64')).toString('utf8') };
  };
  const readRecording = async (machine: Machine): Promise<string> => {
    const { text } = await fetchText(machine, 'read-recording', machineScripts(machine.os).packRecording);
    const joined = joinRecordings(text.split(/^(?=\{"format":)/m));
    if (joined === null) throw new Error(`The recording of ${machine.name} is empty.`);
    return joined;
  };
  const runBridge = async (machine: Machine, args: readonly string[]) => {
    const { exitCode, text } = await fetchText(machine, args[0] ?? 'bridge', machineScripts(machine.os).run(args));
    return { exitCode, stdout: text };
  };

  return {
    machines: async () => machinesFound(found),
    async request(operation, machine) {
      // A second request would make a second event.
      await az.call(operationCommands[operation](run, foundMachine(machine)), {
        timeoutMinutes: 30,
        isRepeatable: false,
      });
    },
    startRecording: (machine) => runSuccessfully(machine, 'start-recording', machineScripts(machine.os).startRecording),
    readRecording,
    async stopRecording(machine) {
      const text = await readRecording(machine);
      await runSuccessfully(machine, 'stop-recording', machineScripts(machine.os).stopRecording);
      return text;
    },
    async approve(machine, eventId) {
      const { exitCode, stdout } = await runBridge(machine, ['approve', eventId, '--yes']);
      if (exitCode !== 0) throw new Error(`approve ended with ${exitCode}: ${stdout.trim()}`);
    },
    runBridge,
    async close() {
      closed.abort();
    },
  };
}

/** A script whose end was not reported. */
class LostScript extends Error {
  constructor(machine: string) {
    super(`A script on ${machine} was ended before its exit code was printed.`);
  }
}

/** Whether the same call may succeed later. Not if the VM is gone or the account lacks a right. */
const mayPass = (error: unknown): boolean =>
  error instanceof LostScript ||
  (error instanceof AzError && !['ResourceNotFound', 'NotFound', 'AuthorizationFailed'].includes(error.code ?? ''));

/** Length of the whole, and this part of it. */
export function readPiece(stdout: string): { readonly length: number; readonly text: string } | null {
  const [, length, text = ''] = /^(\d+)\s+([A-Za-z\d+/=\s]*)$/.exec(stdout.trim()) ?? [];
  return length === undefined ? null : { length: Number(length), text: text.replaceAll(/\s/g, '') };
}

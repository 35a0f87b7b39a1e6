import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bridgeConfiguration } from '../../../src/azure-simulator/cli/addresses.ts';
import { type BridgeProcess, createBridgeProcess } from '../../../src/azure-simulator/demo/bridge-process.ts';
import { guidOf } from '../../../src/azure-simulator/guid-of.ts';
import type { AzureSimulator, ImdsSimulator } from '../../../src/azure-simulator/index.ts';
import { systemClock } from '../../../src/clock.ts';
import { configFileVariable } from '../../../src/config/read-config.ts';
import { askService } from '../../../src/health/status-client.ts';
import type { Machine } from '../target.ts';
import { joinRecordings } from './join-recordings.ts';

/** A VM of the simulator: a bridge, and perhaps a recorder, as processes that end and begin with it. */
export interface SimulatedVm {
  readonly machine: Machine;
  /** The metadata service of its placement group. */
  readonly imds: ImdsSimulator;
  readonly isOn: () => boolean;
  /** Resolves when its bridge has observed a document, and its recorder another. */
  boot(options?: { readonly onAnotherHost?: boolean }): Promise<void>;
  /** Resolves after that many more polls. */
  polled(times: number): Promise<void>;
  /** As by a power cut. */
  cut(): Promise<void>;
  startRecording(): Promise<void>;
  stopRecording(): Promise<string>;
  readRecording(): string;
  run(args: readonly string[]): Promise<{ readonly exitCode: number; readonly stdout: string }>;
  /** Variables with which a program of this machine acts as on the VM. */
  readonly environment: NodeJS.ProcessEnv;
  /** The last lines of the bridge's log. */
  log(): readonly string[];
  close(): Promise<void>;
}

export interface SimulatedVmOptions {
  readonly machine: Machine;
  readonly imds: ImdsSimulator;
  /** With the destinations and the tokens. */
  readonly azure: AzureSimulator;
  /** File of the bridge's program. */
  readonly program: string;
  /** A new directory for its files. */
  readonly directory: string;
}

/** The files of the machine that the bridge reads: each boot writes its own. */
const machineFiles = {
  '/proc/sys/kernel/random/boot_id': 'boot_id',
  '/var/lib/hyperv/.kvp_pool_3': 'kvp_pool_3',
} as const;

export function createSimulatedVm({ machine, imds, azure, program, directory }: SimulatedVmOptions): SimulatedVm {
  mkdirSync(join(directory, 'state'), { recursive: true });
  const configFile = join(directory, 'config.json');
  const { sinks, ...configuration } = bridgeConfiguration(azure, machine.name, join(directory, 'state'));
  const { stdout: _, ...destinations } = sinks;
  const endpoint = imds.vmUrl(machine.name);
  writeFileSync(
    configFile,
    JSON.stringify({ ...configuration, imds: { endpoint, firstTimeoutSeconds: 1 }, sinks: destinations }),
    { mode: 0o600 },
  );
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(dirname(program), 'compiled'),
    NODE_OPTIONS: `--import ${withMachineFiles(directory)}`,
    AZURE_POD_IDENTITY_AUTHORITY_HOST: azure.imds.url,
  };
  const state = { isOn: false, boots: 0, hosts: 0, folder: '', recordings: 0, failure: '' };
  const onUnexpectedExit = (how: string): void => {
    state.failure = `A process of ${machine.name} exited unexpectedly (${how}).`;
  };
  const bridge = createBridgeProcess({ program, args: ['run', '--config', configFile], env, onUnexpectedExit });
  let recorder: BridgeProcess | null = null;

  const polls = (): number => imds.polls[machine.name] ?? 0;
  const polled = (times: number): Promise<void> => {
    const wanted = polls() + times;
    return until(`${times} polls`, () => polls() >= wanted);
  };
  const recordings = (): string[] => (state.folder === '' ? [] : readdirSync(state.folder).sort());
  const read = (name: string): string => readFileSync(join(state.folder, name), 'utf8');
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    for (const deadline = performance.now() + bootMs; !holds(); await sleep(20)) {
      if (state.failure !== '') throw new Error(`${state.failure} Its last lines: ${bridge.log.slice(-3).join(' | ')}`);
      if (performance.now() > deadline) throw new Error(`${machine.name} waited ${bootMs / 1000} s for ${what}.`);
    }
  };
  const environment = { ...env, [configFileVariable]: configFile };
  const run = (args: readonly string[]) => runProgram(program, args, environment);
  const hasDocument = async (): Promise<boolean> => {
    const answer = await askService(join(directory, 'state'), systemClock);
    return answer.kind === 'answered' && typeof answer.snapshot.poll.documentAgeSeconds === 'number';
  };
  const record = async (): Promise<void> => {
    state.recordings += 1;
    const name = `${String(state.recordings).padStart(3, '0')}.jsonl`;
    const args = ['record', join(state.folder, name), '--endpoint', endpoint];
    recorder = createBridgeProcess({ program, args, env, onUnexpectedExit });
    recorder.start();
    // The header and the first document.
    await until('its recorder', () => recordings().includes(name) && read(name).split('\n').length > 2);
  };
  const readRecording = (): string => joinRecordings(recordings().map(read)) ?? '';

  return {
    machine,
    imds,
    isOn: () => state.isOn,
    async boot({ onAnotherHost = state.hosts === 0 } = {}) {
      state.boots += 1;
      if (onAnotherHost) state.hosts += 1;
      const { boots, hosts } = state;
      writeFileSync(
        join(directory, machineFiles['/proc/sys/kernel/random/boot_id']),
        guidOf(`${machine.name} ${boots}`),
      );
      writeFileSync(
        join(directory, machineFiles['/var/lib/hyperv/.kvp_pool_3']),
        hostPool(`host-${hosts}.${machine.name}`),
      );
      await inTurn(async () => {
        bridge.start();
        state.isOn = true;
        await polled(2);
        // A poll that it abandoned is counted too.
        while (!(await hasDocument())) await polled(1);
        if (state.folder !== '') await record();
      });
    },
    polled,
    async cut() {
      state.isOn = false;
      await Promise.all([bridge.kill(), recorder?.kill()]);
      recorder = null;
    },
    async startRecording() {
      state.folder = join(directory, `recordings-${state.boots}-${state.recordings}`);
      mkdirSync(state.folder);
      await record();
    },
    async stopRecording() {
      await recorder?.stop(stopMs);
      recorder = null;
      const text = readRecording();
      state.folder = '';
      return text;
    },
    readRecording,
    run,
    environment,
    log: () => bridge.log,
    async close() {
      state.isOn = false;
      await Promise.all([bridge.stop(stopMs), recorder?.stop(stopMs)]);
    },
  };
}

const bootMs = 30_000;

/** Programs that start keep two cores busy, so that other VMs miss polls: only two VMs of this process boot at the same time. */
const inTurn = limited(2);

function limited(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

const stopMs = 6_000;

/** Preloaded: files of the machine are read from that directory. */
function withMachineFiles(directory: string): string {
  const files = Object.fromEntries(Object.entries(machineFiles).map(([path, name]) => [path, join(directory, name)]));
  const code = `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const files = ${JSON.stringify(files)};
for (const name of ['readFileSync', 'statSync']) {
  const original = fs[name];
  fs[name] = (path, ...rest) => original(files[path] ?? path, ...rest);
}
syncBuiltinESMExports();`;
  return `data:text/javascript,${encodeURIComponent(code).replaceAll("'", '%27')}`;
}

/** A pool of the Hyper-V data exchange that names the physical host: 512 bytes for the key, 2048 for the value. */
function hostPool(host: string): Buffer {
  const pool = Buffer.alloc(512 + 2048);
  pool.write('PhysicalHostNameFullyQualified', 0);
  pool.write(host, 512);
  return pool;
}

async function runProgram(program: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? -1));
  });
  return { exitCode, stdout: exitCode === 0 ? stdout : `${stdout}${stderr}` };
}

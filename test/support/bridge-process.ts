import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import { mainFile } from './program.ts';

/** One line of the bridge's log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** A real bridge in a process of its own, as an operator runs it. */
export interface BridgeProcess {
  readonly child: ChildProcess;
  readonly log: readonly LogLine[];
  /** What it wrote to stdout so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

export type BridgeConfiguration = Record<string, unknown>;

/** A directory that is gone after the test. */
export function temporaryDirectory(name: string): { readonly path: string; readonly [Symbol.dispose]: () => void } {
  const path = mkdtempSync(join(tmpdir(), `bridge-${name}-`));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Points a bridge at the simulator, both sinks on. */
export function configurationFor(
  azure: AzureSimulator,
  vm: string,
  stateDirectory: string,
  more: BridgeConfiguration = {},
): BridgeConfiguration {
  const { eventHubs, logAnalytics } = azure;
  const { fullyQualifiedNamespace, customEndpoint, eventHubName } = eventHubs;
  const { endpoint, ruleId, streamName } = logAnalytics;
  return {
    imds: { endpoint: azure.imds.vmUrl(vm), firstTimeoutSeconds: 1 },
    stateDirectory,
    sinks: {
      eventHubs: { fullyQualifiedNamespace, customEndpoint, eventHubName },
      logAnalytics: { endpoint, ruleId, streamName },
    },
    tls: { caFile: azure.caFile },
    ...more,
  };
}

export interface StartOptions {
  /** The file of the bridge; default: that of this run of the tests. */
  readonly program?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Replaces the boot id of the machine. */
  readonly bootIdFile?: string;
  /** A command that runs the rest of its arguments, for example in another namespace. */
  readonly enter?: readonly string[];
  /** `pipe`: standard input stays open until `child.stdin` is ended. */
  readonly stdin?: 'ignore' | 'pipe';
}

/** Starts `run` with a configuration written to a file beside the state. */
export function startBridge(
  configuration: BridgeConfiguration,
  { program: file = mainFile, env = {}, bootIdFile, enter = [], stdin = 'ignore' }: StartOptions = {},
): BridgeProcess {
  const folder = mkdtempSync(join(tmpdir(), 'bridge-config-'));
  const configurationFile = join(folder, 'config.json');
  writeFileSync(configurationFile, JSON.stringify(configuration), { mode: 0o600 });
  const command = [...enter, process.execPath, file, 'run', '--config', configurationFile];
  const [program = '', ...rest] = bootIdFile === undefined ? command : inAnotherBoot(bootIdFile, command);
  const child = spawn(program, rest, {
    env: { ...withoutProxies(process.env), ...env },
    stdio: [stdin, 'pipe', 'pipe'],
  });
  child.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const log: LogLine[] = [];
  const output = { stdout: '', stderr: '', rest: '' };
  child.stdout?.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    output.stderr += chunk;
    const lines = (output.rest + chunk).split('\n');
    output.rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('{')) log.push(JSON.parse(line) as LogLine);
  });
  return {
    child,
    log,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    kill: (signal) => void child.kill(signal),
    exited: new Promise((resolve) => child.on('exit', (code, signal) => resolve({ code, signal }))),
  };
}

const bootIdPath = '/proc/sys/kernel/random/boot_id';

/** The same command with this file in place of the machine's boot id: as after a reboot, or on a copy of the machine. */
const inAnotherBoot = (bootIdFile: string, command: readonly string[]): string[] => [
  'unshare',
  '--mount',
  'sh',
  '-c',
  `mount --bind "$0" ${bootIdPath} && exec "$@"`,
  bootIdFile,
  ...command,
];

/** Whether this user may put a file over the boot id, in a mount namespace of its own. Empty, or why not. */
export function whyNoOtherBoot(): string {
  const [program = '', ...rest] = inAnotherBoot('/dev/null', ['true']);
  const { status, error, stderr } = spawnSync(program, rest, { encoding: 'utf8' });
  return status === 0 ? '' : `no mount namespace here (${error?.message ?? stderr.trim()})`;
}

function withoutProxies(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/_proxy$/i.test(name)));
}

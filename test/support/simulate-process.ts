import { type ChildProcess, spawn } from 'node:child_process';
import type { addresses } from '../../src/azure-simulator/cli/addresses.ts';
import type { BridgeConfiguration } from './bridge-process.ts';
import { mainFile, simulatorFile } from './program.ts';
import { until } from './until.ts';

export type Addresses = ReturnType<typeof addresses>;

/** A command in a process of its own, as a person or a test in another language runs it. */
export interface CommandProcess {
  readonly child: ChildProcess;
  readonly out: () => string;
  readonly err: () => string;
  /** What it printed with `--json` when it was ready. */
  readonly ready: () => Promise<Addresses>;
  /** Ends it and answers with its exit code. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | null>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** `simulate` on free ports, unless the arguments say otherwise. */
export const startSimulate = (...args: readonly string[]): CommandProcess =>
  start([simulatorFile, 'simulate', ...(args.includes('--port') ? [] : ['--port', '0']), ...args]);

/** `record` of the bridge. */
export const startRecord = (...args: readonly string[]): CommandProcess => start([mainFile, 'record', ...args]);

function start(command: readonly string[]): CommandProcess {
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] });
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    text.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    text.err += chunk;
  });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const end = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
    child.kill(signal);
    return await exited;
  };
  return {
    child,
    out: () => text.out,
    err: () => text.err,
    async ready() {
      await until(() => text.out.endsWith('\n') || child.exitCode !== null, {
        timeoutMs: 30_000,
        what: 'simulate to be ready',
      });
      return JSON.parse(text.out) as Addresses;
    },
    end,
    [Symbol.asyncDispose]: async () => void (await end()),
  };
}

/** What the control API answers. */
export async function control<T>({ control }: Addresses, call: string, body?: object): Promise<T> {
  const [method = '', path = ''] = call.split(' ');
  const response = await fetch(`${control}${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
  const value = await response.json();
  if (!response.ok) throw new Error(`${call}: ${JSON.stringify(value)}`);
  return value as T;
}

/** Points a bridge at the addresses, both sinks on. */
export function bridgeAt(
  { imds, eventHubs, logAnalytics, caFile }: Addresses,
  stateDirectory: string,
): BridgeConfiguration {
  const { fullyQualifiedNamespace, customEndpoint, eventHubName } = eventHubs;
  const { endpoint, ruleId, streamName } = logAnalytics;
  return {
    imds: { endpoint: imds, firstTimeoutSeconds: 1 },
    stateDirectory,
    sinks: {
      eventHubs: { fullyQualifiedNamespace, customEndpoint, eventHubName },
      logAnalytics: { endpoint, ruleId, streamName },
    },
    tls: { caFile },
  };
}

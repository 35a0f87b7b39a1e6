import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { addStatus } from '../../src/cli/status/command.ts';
import { readStatus, type Status } from '../../src/cli/status/status.ts';
import { systemClock } from '../../src/clock.ts';
import { runVerb } from '../cli/outbox/command-line.ts';
import { freePort } from '../health/free-port.ts';
import {
  type BridgeConfiguration,
  type BridgeProcess,
  configurationFor,
  startBridge,
  temporaryDirectory,
} from './bridge-process.ts';
import { type CommandOptions, type Ended, runCommand } from './program.ts';
import { until } from './until.ts';

/** A state directory, a configuration, and at most one bridge at a time: what situations are made with. */
export interface Stage extends AsyncDisposable {
  readonly azure: AzureSimulator;
  readonly directory: string;
  /** The one that was started last. */
  readonly bridge: BridgeProcess;
  start(): Promise<BridgeProcess>;
  /** Changes what the next start and every command read. */
  configure(more: BridgeConfiguration): void;
  /** Runs a command of the program with this configuration. */
  command(args: readonly string[], options?: CommandOptions): Promise<Ended>;
  /** Runs the command `status` in this process: it needs no other one, which would take 0.2 s of CPU. */
  showStatus(): Promise<Ended>;
  /** What `status --json` prints. */
  status(): Promise<Status>;
  /** Waits until it says so. */
  untilStatus(
    what: string,
    is: (status: Status) => boolean,
    options?: { readonly timeoutMs?: number; readonly everyMs?: number },
  ): Promise<void>;
  /** Null when there is no answer within four seconds. */
  http(path: string): Promise<{ readonly status: number; readonly body: string } | null>;
}

/** Short deadlines for the metadata service, so that a situation is established soon. */
export const quickImds = { timeoutSeconds: 4, firstTimeoutSeconds: 4 };

/** It polls, and has seen a document. */
export const seesDocuments = (stage: Stage): Promise<void> =>
  stage.untilStatus('a document', ({ service }) => service !== null && service.poll.documentAgeSeconds !== null);

export async function openStage(
  azure: AzureSimulator,
  { vm = 'web_0', directory, more = {} }: { vm?: string; directory?: string; more?: BridgeConfiguration } = {},
): Promise<Stage> {
  const folder = temporaryDirectory('stage');
  chmodSync(folder.path, 0o755); // other users may read the configuration, and no more
  const state = directory ?? join(folder.path, 'state');
  const port = await freePort();
  const file = join(folder.path, 'config.json');
  const bridges: BridgeProcess[] = [];
  let configuration: BridgeConfiguration = {};

  const configure = (next: BridgeConfiguration): void => {
    const imds = { endpoint: azure.imds.vmUrl(vm), ...quickImds };
    configuration = configurationFor(azure, vm, state, { http: { port }, imds, ...more, ...next });
    writeFileSync(file, JSON.stringify(configuration), { mode: 0o644 });
  };
  configure({});

  /** Waiting for something asks as the command does, without a process for each time. */
  const status = (): Promise<Status> => readStatus(state, { clock: systemClock, maxMegabytes: null });

  return {
    azure,
    directory: state,
    get bridge() {
      const last = bridges.at(-1);
      if (!last) throw new Error('no bridge was started');
      return last;
    },
    async start() {
      const bridge = startBridge(configuration);
      bridges.push(bridge);
      await until(() => bridge.log.some(({ msg }) => msg.startsWith('The bridge is running')), {
        what: 'the start',
        timeoutMs: 60_000,
      });
      return bridge;
    },
    configure,
    command: (args, options) => runCommand([...args, '--config', file], options),
    async showStatus() {
      const { out, reason, message } = await runVerb(addStatus, ['status', '--config', file]);
      if (reason === 'commander') throw new Error(message);
      return { code: exitCodes[reason ?? 'ok'].code, out, err: message };
    },
    status,
    async untilStatus(what, is, options) {
      await until(() => status().then(is, () => false), { what, timeoutMs: 40_000, ...options });
    },
    async http(path) {
      try {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(15_000) });
        return { status: answer.status, body: await answer.text() };
      } catch {
        return null;
      }
    },
    async [Symbol.asyncDispose]() {
      for (const bridge of bridges) bridge.kill('SIGKILL');
      await Promise.all(bridges.map(({ exited }) => exited));
      rmSync(folder.path, { recursive: true, force: true });
    },
  };
}

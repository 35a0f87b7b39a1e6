import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, type TestContext } from 'vitest';
import type { Report } from '../../../../infra/acceptance/report.ts';
import { reportFiles } from '../../../../infra/acceptance/write-report.ts';
import { temporaryDirectory } from '../../../support/bridge-process.ts';
import { root } from '../../../support/source-tree.ts';
import { type AzureStandIn, startAzureStandIn } from '../az-stand-in/azure.ts';
import { type AzureCli, startAzureCli } from '../az-stand-in/azure-cli.ts';
import { type SimulatedServices, startSimulatedServices } from '../az-stand-in/simulated-services.ts';

/** A subscription in the stand-in for Azure, and the folder of the runs in it. */
export interface Subscription {
  readonly azure: AzureStandIn;
  /** Null without. */
  readonly services: SimulatedServices | null;
  /** `npm run acceptance` with these arguments; those that name the place are added. */
  begin(...args: readonly string[]): WholeRun;
  /** The report of the only run. */
  report(): Report & { readonly markdown: string };
  /** Ids of what exists, without registrations and tables of Azure itself. */
  left(): readonly string[];
}

export interface WholeRun {
  /** What it has printed so far, both streams. */
  readonly output: () => string;
  /** Sends a signal to its process group, as a terminal does. */
  signal(signal: NodeJS.Signals): void;
  /** Null after a signal that it could not handle. */
  readonly exitCode: Promise<number | null>;
}

export interface SubscriptionOptions {
  /** Ids of the scenarios that are played on simulated VMs; without it there is no hub, no table and no VM. */
  readonly played?: readonly string[];
  /** Ids of steps whose connections to the hub and the rule are refused. */
  readonly unreachableIn?: readonly string[];
  /** Steps do not wait long for what does not come. */
  readonly isHasty?: boolean;
}

/** Starts the Azure CLI for the tests of this file. Returns how a test gets a subscription of its own, which ends with it. */
export function useAzureCli(): (
  context: Pick<TestContext, 'onTestFinished'>,
  options?: SubscriptionOptions,
) => Promise<Subscription> {
  let cli: AzureCli;
  const directory = temporaryDirectory('azure-cli');
  beforeAll(async () => {
    cli = await startAzureCli(directory.path);
  }, 120_000);
  afterAll(async () => {
    await cli?.close();
    directory[Symbol.dispose]();
  });
  // Of tests that run at the same time, only the context says which one it is.
  return async ({ onTestFinished }, { played, unreachableIn = [], isHasty = false } = {}) => {
    const runs = temporaryDirectory('acceptance');
    const services = played === undefined ? null : await startSimulatedServices(played);
    const starting = startAzureStandIn(services ?? undefined);
    const begun: WholeRun[] = [];
    onTestFinished(async () => {
      for (const run of begun) run.signal('SIGKILL');
      await Promise.all(begun.map(({ exitCode }) => exitCode));
      await (await starting).close();
      await services?.close();
      runs[Symbol.dispose]();
    });
    const azure = await starting;
    return {
      azure,
      services,
      begin(...args) {
        const faults = {
          AZ_STAND_IN_UNREACHABLE_IN: unreachableIn.join(','),
          ...(isHasty && { AZ_STAND_IN_HASTY: '1' }),
        };
        const env = { ...process.env, ...cli.environment(azure.url), ...services?.environment, ...faults };
        const run = begin(args, runs.path, env);
        begun.push(run);
        return run;
      },
      report() {
        const [id = ''] = readdirSync(runs.path);
        const read = (name: string): string => readFileSync(join(runs.path, id, name), 'utf8');
        return { ...JSON.parse(read(reportFiles.json)), markdown: read(reportFiles.markdown) };
      },
      left: () => [...azure.world.resources.values()].map(({ id }) => id),
    };
  };
}

const program = join(import.meta.dirname, 'program.ts');

function begin(args: readonly string[], folder: string, env: NodeJS.ProcessEnv): WholeRun {
  const isCleanUp = args.includes('--clean-up');
  const place = isCleanUp ? [] : ['--subscription', 'Test', '--location', 'westeurope'];
  const child = spawn(process.execPath, [program, ...place, '--folder', folder, ...args], {
    cwd: root,
    env,
    // A process group of its own.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exitCode = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    output: () => output,
    signal(signal) {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
        process.kill(-child.pid, signal);
      }
    },
    exitCode,
  };
}

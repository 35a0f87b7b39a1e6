import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundle } from '../../infra/package/bundle.ts';
import { until } from '../support/until.ts';
import type { AzureMethods, Change, Destination } from './azure-program.ts';
import { startBridge } from './bridge-program.ts';
import { type ChildProgram, startProgram } from './child-program.ts';
import { machine, percentile } from './figures.ts';
import { naiveEnvironment } from './naive/environment.ts';

export interface LatencyOptions {
  /** On open connections; of those that a throttled sink accompanies, a fifth. */
  readonly events: number;
  /** Starts, each with one event on a cold connection. */
  readonly starts: number;
  readonly json: string | null;
}

interface Place {
  readonly directory: string;
  readonly bundled: string;
  readonly azure: ChildProgram<AzureMethods>;
}

type Program = 'bridge' | 'bare SDK';

/** One event as one program delivered it. */
interface Sample extends Change {
  readonly program: Program;
  readonly situation: string;
}

const both: readonly Destination[] = ['hub', 'table'];
const untilPolled = { timeoutMs: 60_000, everyMs: 100 };

/**
 * From a change of the document until each destination has the record, by the bridge as it is shipped and by a plain loop around the
 * SDKs that polls as often. Both watch the same events, at random times, in one simulated placement group, so load hits both.
 */
export async function latency({ events, starts, json }: LatencyOptions): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'latency-'));
  mkdirSync(join(directory, 'azure'));
  const bundled = join(directory, 'bridge.cjs');
  await bundle(bundled);
  const samples = [
    ...(await onOpenConnections({ directory, bundled }, events)),
    ...(await onColdConnections({ directory, bundled }, starts)),
  ];
  const file = json ?? join(mkdtempSync(join(tmpdir(), 'bench-')), 'latency.json');
  writeFileSync(file, `${JSON.stringify({ at: new Date(), machine: machine(), samples }, null, 2)}\n`);
  rmSync(directory, { recursive: true });
  process.stdout.write(`${table(samples)}\n\nEvery figure: ${file}\n`);
}

async function onOpenConnections(files: Omit<Place, 'azure'>, events: number): Promise<readonly Sample[]> {
  const vms = ['bridge_0', 'naive_0'] as const;
  const place = { ...files, azure: await openAzure(files.directory, vms) };
  const { azure } = place;
  const [bridge, naive] = [await runBridge(place, vms[0]), await runNaive(place, vms[1])];
  const plan = { vms, times: events, everyMs: 700, sinks: both };
  // The first ones open the connections, and let both programs compile what they do.
  await azure.call('change', { ...plan, eventType: 'Freeze', times: 10 });
  const samples = labelled(await azure.call('change', { ...plan, eventType: 'Freeze' }), 'open');
  await end([naive]);
  const few = { ...plan, vms: [vms[0]], times: Math.ceil(events / 5), eventType: 'Preempt' };
  const preempts = labelled(await azure.call('change', few), 'Preempt, open');
  const throttled: Sample[] = [];
  for (const other of both) {
    await azure.call('throttle', other);
    const changes = await azure.call('change', { ...few, sinks: both.filter((one) => one !== other) });
    throttled.push(...labelled(changes, `Preempt, ${other} throttled`));
    await azure.call('throttle', null);
    // Its pause ends with a record that arrives.
    await azure.call('change', { ...few, times: 1 });
  }
  await end([bridge]);
  await azure.end();
  return [...samples, ...preempts, ...throttled];
}

/** Nothing was sent since the start: no connection is open, and no sender of the bridge runs. */
async function onColdConnections(files: Omit<Place, 'azure'>, starts: number): Promise<readonly Sample[]> {
  const names = Array.from({ length: starts }, (_, n) => [`bridge_${n + 1}`, `naive_${n + 1}`]);
  const place = { ...files, azure: await openAzure(files.directory, names.flat()) };
  const samples: Sample[] = [];
  for (const [n, vms] of names.entries()) {
    const [bridge = '', naive = ''] = vms;
    const running = [await runBridge(place, bridge), await runNaive(place, naive)];
    // Long enough for startup work to finish.
    await sleep(4000);
    const plan = { vms, eventType: 'Preempt', times: 1, everyMs: 700, sinks: both };
    samples.push(...labelled(await place.azure.call('change', plan), 'Preempt, cold'));
    await end(running);
    process.stderr.write(`start ${n + 1} of ${starts}\n`);
  }
  await place.azure.end();
  return samples;
}

const labelled = (changes: readonly Change[], situation: string): Sample[] =>
  changes.map((change) => ({ ...change, situation, program: change.vm.startsWith('bridge') ? 'bridge' : 'bare SDK' }));

async function openAzure(directory: string, vms: readonly string[]): Promise<ChildProgram<AzureMethods>> {
  const azure = startProgram<AzureMethods>('./azure-program.ts');
  await azure.call('open', { directory: join(directory, 'azure'), vms });
  return azure;
}

async function runBridge({ directory, bundled, azure }: Place, vm: string): Promise<ChildProcess> {
  const home = join(directory, vm);
  mkdirSync(home);
  const configuration = await azure.call('configuration', { vm, stateDirectory: join(home, 'state') });
  const { stdout: _, ...sinks } = configuration.sinks;
  const child = startBridge(bundled, home, { ...configuration, sinks });
  await until(async () => (await azure.call('polls', vm)) > 3, { ...untilPolled, what: `${vm} to poll` });
  return child;
}

async function runNaive({ directory, azure }: Place, vm: string): Promise<ChildProcess> {
  const configuration = await azure.call('configuration', { vm, stateDirectory: directory });
  const child = spawn(process.execPath, [join(import.meta.dirname, 'naive/naive.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: naiveEnvironment(vm, configuration),
  });
  await until(async () => (await azure.call('polls', vm)) > 3, { ...untilPolled, what: `${vm} to poll` });
  return child;
}

async function end(children: readonly ChildProcess[]): Promise<void> {
  for (const child of children) {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }
}

function table(samples: readonly Sample[]): string {
  const figures = (values: readonly number[]): string =>
    `${Math.round(percentile(values, 50))} / ${Math.round(percentile(values, 99))} (${Math.round(Math.min(...values))} to ${Math.round(Math.max(...values))})`;
  const lines = [...new Set(samples.map(({ situation }) => situation))].flatMap((situation) =>
    both.flatMap((sink) => {
      const cells = (['bridge', 'bare SDK'] as const).flatMap((program) => {
        const found = samples.filter((one) => one.situation === situation && one.program === program);
        const since = (from: 'at' | 'polled'): number[] =>
          found.flatMap((one) => {
            const [began, stored] = [one[from], one[sink]];
            return began !== null && stored !== null ? [stored - began] : [];
          });
        const count = since('at').length;
        return count === 0 ? ['-', '-', '-'] : [String(count), figures(since('at')), figures(since('polled'))];
      });
      return cells[0] === '-' ? [] : [`| ${[`${situation}, to the ${sink}`, ...cells].join(' | ')} |`];
    }),
  );
  return [
    `Milliseconds, p50 / p99 (lowest to highest), polling once a second; ${machine()}`,
    '',
    '| | bridge, events | from the change | from the poll | bare SDK, events | from the change | from the poll |',
    '|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}

import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundle } from '../../infra/package/bundle.ts';
import { until } from '../support/until.ts';
import type { AzureMethods, Change, Configuration, Destination } from './azure-program.ts';
import type { BareMethods } from './bare-program.ts';
import { startBridge, stopBridge } from './bridge-program.ts';
import { type ChildProgram, startProgram } from './child-program.ts';
import { cell, machine, percentile } from './figures.ts';
import { childrenOf, figuresOf } from './process-figures.ts';
import { fillOutbox, maxMegabytes, settleAll, type Waiting } from './waiting-records.ts';

export interface DrainOptions {
  readonly runs: number;
  readonly records: number;
  readonly perEvent: readonly number[];
  readonly to: readonly string[];
  /** Where every figure goes; null: a temporary file. */
  readonly json: string | null;
  /** NODE_OPTIONS of the bridge: `--cpu-prof` and the like. */
  readonly nodeOptions: string;
}

const targets: Readonly<Record<string, readonly Destination[]>> = {
  hub: ['hub'],
  table: ['table'],
  both: ['hub', 'table'],
};
const sinkNames = { hub: 'event-hubs', table: 'log-analytics' } as const;
const vm = 'web_0';
const pollMs = 1_000;

/** One drain: what was sent in a second, and what each process took. CPU in µs a record. */
interface Sending {
  readonly recordsPerSecond: number;
  readonly cpu: number;
  readonly simulatorCpu: number;
  /** The part of the time in which the simulator's CPU worked: near 1, it is what was measured. */
  readonly simulatorLoad: number;
}

interface BridgeSending extends Sending {
  readonly pollerCpu: number;
  readonly senderCpu: number;
  readonly peakMb: number;
  readonly peaks: Readonly<Record<string, number>>;
  /** Milliseconds from the poll that shows an event until the sink without a backlog has its record. */
  readonly healthy: readonly number[];
  /** How much later than its time each poll came, in ms. */
  readonly late: readonly number[];
}

interface Row {
  readonly perEvent: number;
  readonly to: string;
  readonly bridge: BridgeSending;
  readonly bare: Sending;
}

interface Place {
  readonly directory: string;
  readonly bundled: string;
  readonly options: DrainOptions;
}

/**
 * Records that wait on disk after an outage, sent to one destination or to both by the bridge as it is shipped, and by the SDKs alone
 * from memory; in turn. What receives them is a process of its own; another one is the metadata service and the sink without a
 * backlog, to which new events go meanwhile.
 */
export async function drain(options: DrainOptions): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'drain-'));
  const place = { directory, bundled: join(directory, 'bridge.cjs'), options };
  mkdirSync(join(directory, 'azure'));
  await bundle(place.bundled);
  const rows: Row[] = [];
  for (const recordsPerEvent of options.perEvent) {
    const filled = await fill(place, { records: options.records, recordsPerEvent });
    for (let run = 1; run <= options.runs; run += 1) {
      for (const to of options.to) {
        const bridge = await byBridge(place, filled, targets[to] ?? []);
        const bare = await byBareSdk(place, filled, targets[to] ?? []);
        rows.push({ perEvent: recordsPerEvent, to, bridge, bare });
        process.stderr.write(
          `${recordsPerEvent} per event, ${to}, run ${run} of ${options.runs}: ${brief(bridge, bare)}\n`,
        );
      }
    }
    rmSync(filled.home, { recursive: true });
  }
  const file = options.json ?? join(mkdtempSync(join(tmpdir(), 'bench-')), 'drain.json');
  writeFileSync(file, `${JSON.stringify({ at: new Date(), machine: machine(), options, rows }, null, 2)}\n`);
  rmSync(directory, { recursive: true });
  process.stdout.write(`${table(rows, options)}\n\nEvery figure: ${file}\n`);
}

interface Filled {
  readonly home: string;
  /** The same records, a line each. */
  readonly lines: string;
  readonly waiting: Waiting;
}

/** The state of a bridge that was stopped while records waited for both sinks. */
async function fill({ directory, bundled }: Place, waiting: Waiting): Promise<Filled> {
  const home = join(directory, `filled-${waiting.recordsPerEvent}`);
  mkdirSync(home);
  const azure = await openAzure(directory);
  const configuration = await azure.call('configuration', { vm, stateDirectory: join(home, 'state') });
  const bridge = startBridge(bundled, home, bothSinks(configuration));
  await until(async () => (await azure.call('polls', vm)) > 3, { what: 'the bridge to poll' });
  await stopBridge(bridge);
  await azure.end();
  const lines = join(home, 'lines');
  await fillOutbox(join(home, 'state'), lines, waiting);
  return { home, lines, waiting };
}

async function openAzure(directory: string): Promise<ChildProgram<AzureMethods>> {
  const azure = startProgram<AzureMethods>('./azure-program.ts');
  await azure.call('open', { directory: join(directory, 'azure'), vms: [vm] });
  return azure;
}

function bothSinks(configuration: Configuration) {
  const { stdout: _, ...sinks } = configuration.sinks;
  return { ...configuration, sinks, outbox: { maxMegabytes } };
}

async function byBridge(place: Place, filled: Filled, destinations: readonly Destination[]): Promise<BridgeSending> {
  const { directory, bundled, options } = place;
  const home = join(directory, 'home');
  cpSync(filled.home, home, { recursive: true });
  const healthy = (['hub', 'table'] as const).filter((one) => !destinations.includes(one));
  for (const one of healthy) settleAll(join(home, 'state'), sinkNames[one]);
  const [near, far] = [await openAzure(directory), await openAzure(directory)];
  const stateDirectory = join(home, 'state');
  const configuration = bothSinks(await near.call('configuration', { vm, stateDirectory }));
  const { eventHubs, logAnalytics } = (await far.call('configuration', { vm, stateDirectory })).sinks;
  const sinks = {
    ...configuration.sinks,
    ...(destinations.includes('hub') && { eventHubs }),
    ...(destinations.includes('table') && { logAnalytics }),
  };
  const child = startBridge(bundled, home, { ...configuration, sinks }, options.nodeOptions);
  child.once('exit', (code) => code && process.stderr.write(`the bridge ended with code ${code}\n`));
  const changing = near.call('change', {
    vms: [vm],
    eventType: 'Freeze',
    times: Number.POSITIVE_INFINITY,
    everyMs: 300,
    sinks: healthy,
  });
  const measured = await measure(child.pid ?? 0, far, filled.waiting.records, destinations);
  await near.call('stop', null);
  const changes = await changing;
  const polls = await near.call('pollTimes', vm);
  await stopBridge(child);
  await Promise.all([near.end(), far.end()]);
  rmSync(home, { recursive: true });
  return {
    ...measured,
    // The first one opens the connection.
    healthy: changes.slice(1).flatMap((one) => healthy.flatMap((sink) => afterPoll(one, sink))),
    late: polls.slice(1).map((at, n) => Math.max(0, at - (polls[n] ?? at) - pollMs)),
  };
}

const afterPoll = ({ polled, ...at }: Change, sink: Destination): number[] => {
  const stored = at[sink];
  return polled !== null && stored !== null ? [stored - polled] : [];
};

async function byBareSdk(
  { directory }: Place,
  { lines, waiting }: Filled,
  destinations: readonly Destination[],
): Promise<Sending> {
  const azure = await openAzure(directory);
  const configuration = await azure.call('configuration', { vm, stateDirectory: '' });
  const program = startProgram<BareMethods>('./bare-program.ts', {
    NODE_EXTRA_CA_CERTS: configuration.tls.caFile,
    AZURE_POD_IDENTITY_AUTHORITY_HOST: configuration.imds.endpoint,
  });
  await program.call('load', lines);
  const sending = program.call('send', { sinks: configuration.sinks, destinations });
  const measured = await measure(program.pid, azure, waiting.records, destinations);
  await sending;
  await Promise.all([azure.end(), program.end()]);
  return measured;
}

/** From the first records that arrive to the last ones. */
async function measure(
  pid: number,
  azure: ChildProgram<AzureMethods>,
  records: number,
  destinations: readonly Destination[],
): Promise<Omit<BridgeSending, 'healthy' | 'late'>> {
  const target = records * destinations.length;
  const arrived = async (): Promise<number> => {
    const { events, rows } = await azure.call('counts', null);
    const counts = { hub: events, table: rows };
    return destinations.reduce((sum, one) => sum + Math.min(counts[one], records), 0);
  };
  await until(async () => (await arrived()) > 0, { timeoutMs: 60_000, everyMs: 5, what: 'the first record to arrive' });
  const now = async () => ({
    at: performance.now(),
    done: await arrived(),
    ...cpuOf(pid),
    simulator: figuresOf(azure.pid).cpuMs,
  });
  const began = await now();
  let ended = began;
  let peakMb = 0;
  let peaks: Record<string, number> = {};
  while (ended.done < target) {
    await sleep(100);
    const { residentMb } = figuresOf(pid);
    if (residentMb > peakMb) {
      peakMb = residentMb;
      peaks = Object.fromEntries([
        ['all', residentMb],
        ...childrenOf(pid).map((one) => [String(one), figuresOf(one).anonymousMb]),
      ]);
    }
    ended = await now();
    if (ended.at - began.at > 600_000) throw new Error(`after ten minutes ${ended.done} of ${target} had arrived`);
  }
  const seconds = (ended.at - began.at) / 1000;
  const count = (ended.done - began.done) / destinations.length;
  const each = (ms: number): number => (1000 * ms) / count;
  return {
    recordsPerSecond: count / seconds,
    cpu: each(ended.all - began.all),
    pollerCpu: each(ended.own - began.own),
    senderCpu: each(ended.all - ended.own - (began.all - began.own)),
    simulatorCpu: each(ended.simulator - began.simulator),
    simulatorLoad: (ended.simulator - began.simulator) / 1000 / seconds,
    peakMb,
    peaks,
  };
}

function cpuOf(pid: number): { readonly all: number; readonly own: number } {
  const all = figuresOf(pid).cpuMs;
  return { all, own: all - childrenOf(pid).reduce((sum, one) => sum + figuresOf(one).cpuMs, 0) };
}

const brief = (bridge: BridgeSending, bare: Sending): string => {
  const [own, sdk] = [bridge, bare].map(
    ({ recordsPerSecond, cpu }) => `${Math.round(recordsPerSecond)}/s ${Math.round(cpu)} µs`,
  );
  const { pollerCpu, senderCpu, peakMb, simulatorLoad, healthy, late } = bridge;
  return `${own} (${Math.round(pollerCpu)} + ${Math.round(senderCpu)}), ${Math.round(peakMb)} MB, simulator ${Math.round(100 * simulatorLoad)} %, healthy ${Math.round(percentile(healthy, 50))}/${Math.round(percentile(healthy, 99))} ms of ${healthy.length}, late ${Math.round(Math.max(...late))} ms; bare ${sdk}, simulator ${Math.round(100 * bare.simulatorLoad)} %`;
};

function table(rows: readonly Row[], { perEvent, to, records, runs }: DrainOptions): string {
  const lines = perEvent.flatMap((count) =>
    to.map((name) => {
      const found = rows.filter((row) => row.perEvent === count && row.to === name);
      const of = (value: (row: Row) => number, digits = 0): string => cell(found.map(value), digits);
      const healthy = found.flatMap(({ bridge }) => bridge.healthy);
      const late = found.flatMap(({ bridge }) => bridge.late);
      return [
        '',
        `${name}, ${count} per event`,
        of(({ bridge }) => bridge.recordsPerSecond),
        of(({ bare }) => bare.recordsPerSecond),
        of(({ bridge, bare }) => bridge.recordsPerSecond / bare.recordsPerSecond, 2),
        of(({ bridge }) => bridge.cpu),
        of(({ bridge }) => bridge.pollerCpu),
        of(({ bare }) => bare.cpu),
        of(({ bridge, bare }) => bare.cpu / bridge.cpu, 2),
        of(({ bridge }) => bridge.simulatorCpu),
        of(({ bridge }) => bridge.peakMb),
        healthy.length === 0
          ? '-'
          : `${Math.round(percentile(healthy, 50))} / ${Math.round(percentile(healthy, 99))} of ${healthy.length}`,
        `${Math.round(percentile(late, 99))} / ${Math.round(Math.max(...late))}`,
        '',
      ]
        .join(' | ')
        .trim();
    }),
  );
  return [
    `${records} records; median of ${runs} runs (lowest to highest); ${machine()}`,
    '',
    '| to | bridge, records/s | bare SDK, records/s | ratio | bridge, CPU µs a record | of that the main process | bare SDK, CPU µs a record | ratio | simulator, CPU µs a record | peak MB, all processes | healthy sink, ms p50 / p99 | poll late, ms p99 / max |',
    '|---|---|---|---|---|---|---|---|---|---|---|---|',
    ...lines,
  ].join('\n');
}

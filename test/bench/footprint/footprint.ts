import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundle } from '../../infra/package/bundle.ts';
import { bridgeConfiguration } from '../../src/azure-simulator/cli/addresses.ts';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { until } from '../support/until.ts';
import { figuresOf, median, type ProcessFigures } from './process-figures.ts';

interface Variant {
  readonly name: string;
  start(round: string): Started;
}

interface Started {
  readonly child: ChildProcess;
  /** What it asked of the metadata service so far. */
  readonly polls: () => number;
  /** Resolves when it does what is measured. */
  readonly ready: Promise<unknown>;
}

interface Row extends ProcessFigures {
  readonly cpuPerPollMs: number | null;
}

/**
 * Memory and processor time of the bundled bridge while a freeze is 15 minutes ahead, for which it holds connections to both sinks:
 * medians of `starts` fresh starts, each measured over `seconds` after a minute, in which what runs often is compiled. Beside it: one
 * for which nothing is scheduled, the first one with what a service unit can add (code compiled before, in a directory of its own;
 * one arena for all threads), the same bundle with node:http in undici's place, undici alone, and bare Node. All run at the same time.
 */
export async function footprint({
  starts,
  seconds,
}: {
  readonly starts: number;
  readonly seconds: number;
}): Promise<void> {
  if (process.platform !== 'linux') throw new Error('footprint reads /proc, which only Linux has');
  const directory = mkdtempSync(join(tmpdir(), 'footprint-'));
  const azure = await startAzureSimulator();
  const [shipped, withNodeHttp] = [join(directory, 'bridge.cjs'), join(directory, 'bridge-node-http.cjs')];
  await bundle(shipped);
  await bundle(withNodeHttp, {
    alias: { 'undici/lib/dispatcher/client.js': join(import.meta.dirname, 'node-http-client.ts') },
  });
  const unit = { NODE_COMPILE_CACHE: join(directory, 'compiled'), MALLOC_ARENA_MAX: '1' };
  const inUnit = bridgeVariant(`with ${Object.keys(unit).join(' and ')}`, shipped, { azure, directory, env: unit });
  const variants: readonly Variant[] = [
    bridgeVariant('bridge, bundled', shipped, { azure, directory }),
    bridgeVariant('while nothing is scheduled', shipped, { azure, directory, isQuiet: true }),
    inUnit,
    bridgeVariant('with node:http', withNodeHttp, { azure, directory }),
    { name: 'undici alone, polling', start: (round) => startBarePolling(azure, round) },
    { name: 'bare Node', start: startBareNode },
  ];
  await fillCompileCache(inUnit);
  const rows = new Map<string, Row[]>(variants.map(({ name }) => [name, []]));
  for (let round = 1; round <= starts; round += 1) {
    const measured = variants.map(async (variant) => ({
      name: variant.name,
      row: await measure(variant, `${round}`, seconds),
    }));
    for (const { name, row } of await Promise.all(measured)) rows.get(name)?.push(row);
    process.stderr.write(`start ${round} of ${starts}\n`);
  }
  await azure.close();
  rmSync(directory, { recursive: true });
  report(rows);
}

/** What a poll costs on this machine before anything is done with the answer. */
function startBarePolling(azure: AzureSimulator, round: string): Started {
  const vm = `polled_${round}`;
  const client = createRequire(import.meta.url).resolve('undici/lib/dispatcher/client.js');
  const path = `${new URL(azure.imds.vmUrl(vm)).pathname}/metadata/scheduledevents?api-version=2020-07-01`;
  const poll = `client.dispatch({ path: ${JSON.stringify(path)}, method: 'GET', headers: { metadata: 'true' } }, {
    onRequestStart() {}, onResponseStart() {}, onResponseData() {}, onResponseEnd() {}, onResponseError() {} })`;
  const script = `const client = new (require(${JSON.stringify(client)}))(${JSON.stringify(new URL(azure.imds.url).origin)});
    setInterval(() => ${poll}, 1000);`;
  return {
    child: startNode(['-e', script]),
    ready: Promise.resolve(),
    polls: () => azure.imds.requests('scheduledevents', vm),
  };
}

interface Place {
  readonly azure: AzureSimulator;
  readonly directory: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Nothing is scheduled, which is nearly always: no connection to a sink is held. */
  readonly isQuiet?: boolean;
}

function bridgeVariant(name: string, file: string, { azure, directory, env = {}, isQuiet = false }: Place): Variant {
  return {
    name,
    start(round) {
      const vm = `${name.replace(/\W+/g, '-')}_${round}`;
      const home = join(directory, vm);
      mkdirSync(home);
      const configuration = { ...bridgeConfiguration(azure, vm, join(home, 'state')), log: { level: 'warn' } };
      const { stdout: _, ...sinks } = configuration.sinks;
      writeFileSync(join(home, 'config.json'), JSON.stringify({ ...configuration, sinks }));
      if (!isQuiet) azure.imds.schedule({ eventType: 'Freeze', resources: [vm] });
      const polls = (): number => azure.imds.requests('scheduledevents', vm);
      const child = startNode([file, 'run', '--config', join(home, 'config.json')], env);
      const delivered = () => {
        if (child.exitCode !== null) throw new Error(`${name} ended with code ${child.exitCode}`);
        if (isQuiet) return polls() > 2;
        const isOurs = ({ body }: { readonly body: Buffer }): boolean => body.includes(vm);
        const rows = azure.logAnalytics.rows();
        return azure.eventHubs.events().some(isOurs) && rows.some((row) => JSON.stringify(row).includes(vm));
      };
      const ready = until(delivered, { timeoutMs: 60_000, what: `${name} to have delivered to both sinks` });
      return { child, ready, polls };
    },
  };
}

function startBareNode(): Started {
  const child = startNode(['-e', 'setInterval(() => {}, 1000)']);
  return { child, ready: Promise.resolve(), polls: () => 0 };
}

/** Without what this machine's environment adds: authorities, proxies, options of Node. */
function startNode(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'], env });
}

/** Node writes what it compiled when it ends in good order. */
async function fillCompileCache(variant: Variant): Promise<void> {
  const { child, ready } = variant.start('0');
  await ready;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** It runs for months: what it costs in its first seconds is another question. */
const settleMs = 60_000;

async function measure(variant: Variant, round: string, seconds: number): Promise<Row> {
  const { child, polls, ready } = variant.start(round);
  const { pid = 0 } = child;
  try {
    await ready;
    await sleep(settleMs);
    const [before, pollsBefore] = [figuresOf(pid), polls()];
    await sleep(seconds * 1000);
    const [after, pollsAfter] = [figuresOf(pid), polls()];
    const counted = pollsAfter - pollsBefore;
    return { ...after, cpuPerPollMs: counted > 0 ? (after.cpuMs - before.cpuMs) / counted : null };
  } finally {
    child.kill('SIGKILL');
  }
}

function report(rows: ReadonlyMap<string, readonly Row[]>): void {
  const summary = [...rows].map(([name, measured]) => {
    const of = (field: 'residentMb' | 'anonymousMb' | 'cpuPerPollMs'): number[] =>
      measured.map((row) => row[field]).filter((value) => value !== null);
    return { name, resident: of('residentMb'), anonymous: of('anonymousMb'), cpuPerPoll: of('cpuPerPollMs') };
  });
  const cell = (values: readonly number[], digits: number): string =>
    values.length === 0
      ? '-'
      : `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`;
  const starts = Math.max(...[...rows.values()].map((measured) => measured.length));
  const lines = [
    `Median of ${starts} starts (lowest to highest); Node ${process.versions.node}`,
    '',
    '| | resident MB | anonymous MB | CPU ms per poll |',
    '|---|---|---|---|',
    ...summary.map(
      (row) => `| ${row.name} | ${cell(row.resident, 1)} | ${cell(row.anonymous, 1)} | ${cell(row.cpuPerPoll, 2)} |`,
    ),
    '| budget | 100 | 50 | 1.5 |',
  ];
  const file = join(mkdtempSync(join(tmpdir(), 'footprint-')), 'footprint.json');
  writeFileSync(file, `${JSON.stringify({ at: new Date(), node: process.versions.node, summary }, null, 2)}\n`);
  process.stdout.write(`${lines.join('\n')}\n\nEvery figure: ${file}\n`);
}

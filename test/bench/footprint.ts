import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundle } from '../../infra/package/bundle.ts';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { bridgeConfiguration } from '../../src/cli/simulate.ts';
import { until } from '../support/until.ts';
import { figuresOf, median, type ProcessFigures } from './process-figures.ts';

/** None: what keeps the bridge small it sets itself. */
const flags: readonly string[] = [];

interface Variant {
  readonly name: string;
  /** Starts it; `polls` counts what it asked of the metadata service so far. */
  start(round: string): Started;
}

interface Started {
  readonly child: ChildProcess;
  readonly polls: () => number;
  /** Resolves when it does what is measured. */
  readonly ready: Promise<unknown>;
}

interface Row extends ProcessFigures {
  readonly cpuPerPollMs: number | null;
}

/**
 * Memory and processor time of the bundled bridge while a freeze is 15 minutes ahead, for which it holds connections to both sinks: medians
 * of `starts` fresh starts, each measured over `seconds` after 10 s of settling. Beside it bare Node, and the
 * same bundle with node:http in undici's place; all three run at the same time.
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
  const variants: readonly Variant[] = [
    bridgeVariant('bridge, bundled', shipped, azure, directory),
    bridgeVariant('the same with node:http', withNodeHttp, azure, directory),
    { name: 'bare Node', start: startBareNode },
  ];
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

function bridgeVariant(name: string, file: string, azure: AzureSimulator, directory: string): Variant {
  return {
    name,
    start(round) {
      const vm = `${name.replace(/\W+/g, '-')}_${round}`;
      const home = join(directory, vm);
      mkdirSync(home);
      const configuration = { ...bridgeConfiguration(azure, vm, join(home, 'state')), log: { level: 'warn' } };
      const { stdout: _, ...sinks } = configuration.sinks;
      writeFileSync(join(home, 'config.json'), JSON.stringify({ ...configuration, sinks }));
      azure.imds.schedule({ eventType: 'Freeze', resources: [vm] });
      const child = startNode([...flags, file, 'run', '--config', join(home, 'config.json')]);
      const delivered = () => {
        if (child.exitCode !== null) throw new Error(`${name} ended with code ${child.exitCode}`);
        const isOurs = ({ body }: { readonly body: Buffer }): boolean => body.includes(vm);
        const rows = azure.logAnalytics.rows();
        return azure.eventHubs.events().some(isOurs) && rows.some((row) => JSON.stringify(row).includes(vm));
      };
      const ready = until(delivered, { timeoutMs: 60_000, what: `${name} to have delivered to both sinks` });
      return { child, ready, polls: () => azure.imds.requests('scheduledevents', vm) };
    },
  };
}

function startBareNode(): Started {
  const child = startNode([...flags, '-e', 'setInterval(() => {}, 1000)']);
  return { child, ready: Promise.resolve(), polls: () => 0 };
}

/** Without what this machine's environment adds: authorities, proxies, options of Node. */
function startNode(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'], env: {} });
}

async function measure(variant: Variant, round: string, seconds: number): Promise<Row> {
  const { child, polls, ready } = variant.start(round);
  const { pid = 0 } = child;
  try {
    await ready;
    await sleep(10_000);
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
    `Median of ${starts} starts (lowest to highest); Node ${process.versions.node}${flags.map((flag) => ` ${flag}`).join('')}`,
    '',
    '| | resident MB | anonymous MB | CPU ms per poll |',
    '|---|---|---|---|',
    ...summary.map(
      (row) => `| ${row.name} | ${cell(row.resident, 1)} | ${cell(row.anonymous, 1)} | ${cell(row.cpuPerPoll, 2)} |`,
    ),
    '| budget | 100 | 50 | 1.5 |',
  ];
  const file = join(mkdtempSync(join(tmpdir(), 'footprint-')), 'footprint.json');
  writeFileSync(file, `${JSON.stringify({ at: new Date(), node: process.versions.node, flags, summary }, null, 2)}\n`);
  process.stdout.write(`${lines.join('\n')}\n\nEvery figure: ${file}\n`);
}

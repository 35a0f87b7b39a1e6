import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../../../infra/package/bundle.ts';
import { bridgeConfiguration } from '../../../src/azure-simulator/cli/addresses.ts';
import { type AzureSimulator, startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import { systemClock } from '../../../src/clock.ts';
import { silentLog } from '../../../src/log.ts';
import { openOutbox } from '../../../src/outbox/durable-outbox.ts';
import { sampleRecord } from '../../support/sample-record.ts';
import { until } from '../../support/until.ts';
import { asInstalled } from '../as-installed.ts';
import { cell, machine } from '../figures.ts';
import { figuresOf, median } from '../process-figures.ts';
import { writeReport } from '../report.ts';

/** Until its first request arrives at the metadata service; of bare Node, which sends none, until it has ended. */
interface StartTime {
  readonly ms: number;
  readonly cpuMs: number;
}

interface Variant {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The requests of this VM are its own; null: it sends none. */
  readonly vm: string | null;
}

const stateGigabyte = 1024;

/**
 * From the start of the process to the first poll, as the unit starts it, with compiled code as after every start but the first: with an
 * empty state directory, with an outbox of a gigabyte that waits for both sinks, and with the same without compiled code. Beside it a
 * program of one line that polls, and bare Node. `starts` rounds, in each one after the other.
 */
export async function start({ starts }: { readonly starts: number }): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'start-'));
  const azure = await startAzureSimulator();
  const program = join(directory, 'bridge.cjs');
  await bundle(program);
  const { flags, env } = asInstalled(join(directory, 'compiled'));
  const ofBridge = (name: string, vm: string, more: NodeJS.ProcessEnv = env): Variant => {
    const config = join(directory, `${vm}.json`);
    const { stdout: _, ...sinks } = bridgeConfiguration(azure, vm, '').sinks;
    const settings = { outbox: { maxMegabytes: 4 * stateGigabyte }, log: { level: 'error' }, sinks };
    writeFileSync(config, JSON.stringify({ ...bridgeConfiguration(azure, vm, join(directory, vm)), ...settings }));
    return { name, vm, args: [...flags, program, 'run', '--config', config], env: more };
  };
  const url = `${azure.imds.vmUrl('alone')}/metadata/scheduledevents?api-version=2020-07-01`;
  const poll = `require('node:http').get(${JSON.stringify(url)}, { headers: { Metadata: 'true' } })`;
  const { NODE_COMPILE_CACHE: _cache, ...withoutCache } = env;
  const megabytes = await fill(join(directory, 'full'));
  const variants: readonly Variant[] = [
    ofBridge('bridge, empty state directory', 'empty'),
    ofBridge(`bridge, outbox of ${megabytes} MB`, 'full'),
    ofBridge('bridge, empty, without compiled code', 'uncompiled', withoutCache),
    { name: 'node:http alone', vm: 'alone', args: ['-e', poll], env: {} },
    { name: 'bare Node, until it has ended', vm: null, args: ['-e', '0'], env: {} },
  ];
  const rows = new Map<string, StartTime[]>(variants.map(({ name }) => [name, []]));
  for (let round = 0; round <= starts; round += 1) {
    for (const variant of variants) {
      const took = await measure(azure, variant);
      // The first round compiles for the others, as the first start after an installation does.
      if (round > 0) rows.get(variant.name)?.push(took);
    }
    process.stderr.write(`start ${round} of ${starts}: ${machine()}\n`);
  }
  await azure.close();
  rmSync(directory, { recursive: true });
  report(rows);
}

async function measure(azure: AzureSimulator, { args, env, vm }: Variant): Promise<StartTime> {
  const polls = (): number => (vm === null ? 0 : azure.imds.requests('scheduledevents', vm));
  const before = polls();
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'], env });
  const exited = once(child, 'exit');
  if (vm === null) {
    await exited;
    return { ms: performance.now() - began, cpuMs: Number.NaN };
  }
  await until(() => polls() > before, { everyMs: 1, timeoutMs: 60_000, what: 'the first poll' });
  const ms = performance.now() - began;
  const { cpuMs } = figuresOf(child.pid ?? 0);
  await stop(child);
  await exited;
  return { ms, cpuMs };
}

/** In good order, so that it writes what it compiled; a backlog is not waited for. */
async function stop(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  const exited = once(child, 'exit');
  await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, 2000))]);
  child.kill('SIGKILL');
}

/** Records of a long outage for both sinks. @returns the megabytes of the file. */
async function fill(directory: string): Promise<number> {
  mkdirSync(directory);
  const sinks = ['event-hubs', 'log-analytics'];
  const maxMegabytes = 4 * stateGigabyte;
  const outbox = openOutbox({ directory, sinks, maxMegabytes, clock: systemClock, log: silentLog, version: '0.0.0' });
  let [position, written] = [0, 0];
  outbox.onAppended((records) => {
    written += records.length;
  });
  const megabytes = (): number =>
    ['', '-wal'].reduce((sum, end) => sum + statSync(join(directory, `outbox.sqlite${end}`)).size, 0) / 2 ** 20;
  while (megabytes() < stateGigabyte) {
    const records = Array.from({ length: 5000 }, () => {
      position += 1;
      return sampleRecord({ eventId: `event-${position >> 2}`, recordId: `record-${position}`, position });
    });
    outbox.append({ ...outbox.state, position }, records);
    await until(() => written === position, { timeoutMs: 60_000, what: 'the records to be written' });
  }
  const filled = Math.round(megabytes());
  outbox.close();
  return filled;
}

function report(rows: ReadonlyMap<string, readonly StartTime[]>): void {
  const bare = median([...rows.values()].at(-1)?.map(({ ms }) => ms) ?? []);
  writeReport({
    bench: 'start',
    head: ['', 'ms to the first poll', 'CPU ms', 'ms beyond bare Node', '× bare Node'],
    lines: [...rows].map(([name, times]) => {
      const ms = times.map((time) => time.ms);
      const cpu = cell(times.map(({ cpuMs }) => cpuMs).filter(Number.isFinite));
      return [name, cell(ms), cpu, (median(ms) - bare).toFixed(0), (median(ms) / bare).toFixed(1)];
    }),
    figures: Object.fromEntries(rows),
  });
}

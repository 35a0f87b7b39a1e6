import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundle } from '../../infra/package/bundle.ts';
import { bridgeConfiguration } from '../../src/azure-simulator/cli/addresses.ts';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { until } from '../support/until.ts';
import { median } from './process-figures.ts';

/** Milliseconds from the poll that first shows a Preempt until the hub and the table hold its record. */
interface Latency {
  readonly hub: number;
  readonly table: number;
}

/**
 * How long a Spot eviction is under way: on a VM that has had nothing to send since its start (cold: no sender runs, no connection
 * is open), and of a second one a moment later (warm). `starts` bridges, one after the other.
 */
export async function latency({ starts }: { readonly starts: number }): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'latency-'));
  const file = join(directory, 'bridge.cjs');
  await bundle(file);
  const azure = await startAzureSimulator();
  const rows: Record<'cold' | 'warm', Latency[]> = { cold: [], warm: [] };
  for (let round = 0; round <= starts; round += 1) {
    const [cold, warm] = await measure(azure, { file, directory, vm: `vm_${round}` });
    process.stderr.write(`start ${round} of ${starts}\n`);
    // The first one compiles for the others, as the first start after an installation does.
    if (round === 0 || !cold || !warm) continue;
    rows.cold.push(cold);
    rows.warm.push(warm);
  }
  await azure.close();
  rmSync(directory, { recursive: true });
  for (const [when, found] of Object.entries(rows)) {
    for (const to of ['hub', 'table'] as const) {
      const ms = found.map((row) => row[to]);
      const range = `${Math.min(...ms)} to ${Math.max(...ms)}`;
      process.stdout.write(`${when}, poll to ${to}`.padEnd(22).concat(`${median(ms)} ms (${range})\n`));
    }
  }
}

async function measure(
  azure: AzureSimulator,
  { file, directory, vm }: { readonly file: string; readonly directory: string; readonly vm: string },
): Promise<readonly Latency[]> {
  const home = join(directory, vm);
  mkdirSync(home);
  const configuration = bridgeConfiguration(azure, vm, join(home, 'state'));
  const { stdout: _, ...sinks } = configuration.sinks;
  const config = { ...configuration, sinks, log: { level: 'warn' }, heartbeat: { everyMinutes: 0 } };
  writeFileSync(join(home, 'config.json'), JSON.stringify(config));
  const env = { NODE_COMPILE_CACHE: join(directory, 'compiled'), MALLOC_ARENA_MAX: '1' };
  const flags = ['--max-semi-space-size=1', file, 'run', '--config', join(home, 'config.json')];
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'ignore', 'inherit'], env });
  const polls = (): number => azure.imds.requests('scheduledevents', vm);
  await until(() => polls() > 2, { timeoutMs: 30_000 });
  // Long enough for startup work to finish.
  await sleep(4000);
  const latencies = [await preempt(azure, vm, polls), await preempt(azure, vm, polls)];
  child.kill();
  await once(child, 'exit');
  return latencies;
}

async function preempt(azure: AzureSimulator, vm: string, polls: () => number): Promise<Latency> {
  const before = polls();
  await until(() => polls() > before, { everyMs: 1 });
  const notBefore = new Date(Date.now() + 30_000);
  const eventId = azure.imds.schedule({ eventType: 'Preempt', resources: [vm], notBefore });
  const seen = polls();
  await until(() => polls() > seen, { everyMs: 1 });
  const polledAt = performance.now();
  const arrival = async (isThere: () => boolean): Promise<number> => {
    await until(isThere, { everyMs: 1, timeoutMs: 30_000 });
    return Math.round(performance.now() - polledAt);
  };
  const [hub, table] = await Promise.all([
    arrival(() => azure.eventHubs.events().some(({ body }) => body.includes(eventId))),
    arrival(() => azure.logAnalytics.rows().some((row) => JSON.stringify(row).includes(eventId))),
  ]);
  return { hub, table };
}

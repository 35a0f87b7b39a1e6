import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAzureSimulator } from '../../../src/azure-simulator/index.ts';
import { cell, machine } from '../figures.ts';
import { figuresOf, median, type ProcessFigures } from '../process-figures.ts';
import { writeReport } from '../report.ts';
import { type Variant, variants } from './variants.ts';

interface Row extends ProcessFigures {
  readonly cpuPerPollMs: number;
  /** Of the median of `undici alone`, which ran at the same time: CPU time depends on what else the processor does. */
  readonly timesUndici: number;
}

/**
 * Memory and CPU time of the bundled bridge at one poll a second, as the unit starts it, while a freeze is 15 minutes ahead, for which it
 * holds connections to both sinks, and while nothing is scheduled; beside it what a user would take in its place, and less and less down
 * to bare Node. Each row is of `starts` fresh starts, measured over `seconds` after a minute, in which what runs often is
 * compiled. All variants run at the same time; the simulator is in this process.
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
  const all = await variants({ azure, directory });
  await Promise.all(all.map(fillCompileCache));
  const rows = new Map<string, Row[]>(all.map(({ name }) => [name, []]));
  for (let round = 1; round <= starts; round += 1) {
    const measured = await Promise.all(all.map(async (variant) => await measure(variant, round, seconds)));
    const undici = measured.find(({ name }) => name === 'undici alone')?.figures.cpuPerPollMs ?? Number.NaN;
    for (const { name, figures } of measured)
      rows.get(name)?.push({ ...figures, timesUndici: figures.cpuPerPollMs / undici });
    process.stderr.write(`start ${round} of ${starts}: ${machine()}\n`);
  }
  await azure.close();
  rmSync(directory, { recursive: true });
  report(rows);
}

/** Node writes what it compiled when it ends in good order. */
async function fillCompileCache({ start }: Variant): Promise<void> {
  const { child, ready } = start(0);
  await ready;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** It runs for months: what it costs in its first seconds is another question. */
const settleMs = 60_000;

async function measure({ name, start }: Variant, round: number, seconds: number) {
  const { child, polls, ready } = start(round);
  const { pid = 0 } = child;
  try {
    await ready;
    await sleep(settleMs);
    const [before, pollsBefore] = [figuresOf(pid), polls()];
    await sleep(seconds * 1000);
    const [after, pollsAfter] = [figuresOf(pid), polls()];
    return { name, figures: { ...after, cpuPerPollMs: (after.cpuMs - before.cpuMs) / (pollsAfter - pollsBefore) } };
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

const columns = [
  ['resident MB', 'residentMb', 1],
  ['anonymous MB', 'anonymousMb', 1],
  ['sum of RSS', 'summedMb', 0],
  ['sum of PSS', 'proportionalMb', 0],
  ['CPU ms a poll', 'cpuPerPollMs', 2],
  ['× undici', 'timesUndici', 1],
] as const satisfies readonly (readonly [string, keyof Row, number])[];

function report(rows: ReadonlyMap<string, readonly Row[]>): void {
  const bare = median(rows.get('bare Node')?.map(({ residentMb }) => residentMb) ?? []);
  writeReport({
    bench: 'footprint',
    head: ['', ...columns.map(([title]) => title), '× bare Node'],
    lines: [...rows].map(([name, of]) => {
      const values = columns.map(([, field, digits]) =>
        cell(of.map((row) => row[field]).filter(Number.isFinite), digits),
      );
      return [name, ...values, (median(of.map(({ residentMb }) => residentMb)) / bare).toFixed(1)];
    }),
    figures: Object.fromEntries(rows),
  });
}

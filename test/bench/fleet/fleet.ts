import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { limits } from '../../../infra/costs-model.ts';
import { connectionsPlot } from './plot.ts';
import { fleetHead, fleetRow, type Line } from './report.ts';
import { neverClosed, product, rules, withJitter } from './rules.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { type Simulation, type SimulationOptions, simulate } from './simulate.ts';

export interface FleetOptions {
  /** Sizes of the fleet. */
  readonly vms: readonly number[];
  /** Over which each is spread. */
  readonly shards: number;
  /** Ids of scenarios; all if there are none. */
  readonly only: readonly string[];
  /** Compares rules for the connection, instead of the settings of an operator. */
  readonly compareRules: boolean;
  /** Where to write the plot of the connections in the last scenario; null: nowhere. */
  readonly svg: string | null;
  readonly seeds: readonly number[];
}

/** As `infra/main.bicep` deploys a shard. */
const services = { partitions: 8, throughputUnits: 1, hasLimits: true };
const operatorSettings = { default: product, 'jitter 60 s': withJitter, 'never closed': neverClosed } as const;
/** 100,000 VMs need more than the 4 GB that V8 allows by itself. It takes a limit only when the process starts. */
const heapOption = '--max-old-space-size=12000';

/**
 * Fleets against the limits of the services, in a time of their own: not what this machine can do, but what Azure is asked for, and when
 * the records are in. Where something is refused, once more without limits, which shows how many namespaces it takes.
 */
export async function fleet({ vms, shards, only, compareRules, svg, seeds }: FleetOptions): Promise<void> {
  if (!process.execArgv.includes(heapOption)) {
    const { status } = spawnSync(process.execPath, [heapOption, ...process.argv.slice(1)], { stdio: 'inherit' });
    process.exit(status ?? 1);
  }
  process.stdout.write(fleetHead());
  for (const scenario of scenarios.filter(({ id }) => only.length === 0 || only.includes(id)))
    for (const size of vms)
      for (const seed of seeds) {
        const lines: Line[] = [];
        for (const [name, settings] of Object.entries(compareRules ? rules : operatorSettings)) {
          const options = { scenario, vms: size, shards, settings, seed };
          const simulation = await run({ ...options, services }, name);
          const isFree = simulation.refused === 0;
          const { peak } = isFree
            ? simulation
            : await run({ ...options, services: { ...services, hasLimits: false } }, `${name}, without limits`);
          const line = { name, simulation, needed: neededFor(peak, shards) };
          lines.push(line);
          process.stdout.write(fleetRow(line));
        }
        if (svg !== null) writeFileSync(svg, plotOf(scenario, size, lines));
      }
  process.stdout.write(`\n${scenarios.map(({ id, title }) => `${id}: ${title}`).join('\n')}\n`);
}

async function run(options: SimulationOptions, name: string): Promise<Simulation> {
  const began = process.cpuUsage();
  const simulation = await simulate(options);
  const { user, system } = process.cpuUsage(began);
  const { scenario, vms, seed } = options;
  const seconds = ((user + system) / 1e6).toFixed(0);
  process.stderr.write(
    `${scenario.id}, ${vms} VMs, ${name}, seed ${seed}: ${simulation.refused} refused, ${seconds} s of CPU\n`,
  );
  return simulation;
}

const plotOf = ({ id }: Scenario, vms: number, lines: readonly Line[]): string =>
  connectionsPlot(`Open connections, ${vms.toLocaleString('en-US')} VMs, scenario ${id}`, lines, limits.connections);

/** Against the documented limits, with a fifth in reserve. `peak` is that of the fullest of the shards. */
function neededFor(peak: Simulation['peak'], shards: number): Line['needed'] {
  const share = Math.max(peak.connections / limits.connections, peak.requestsPerMinute / limits.requestsPerMinute);
  const units = Math.max(
    peak.eventsPerSecond / limits.messagesPerSecondPerUnit,
    peak.bytesPerSecond / limits.bytesPerSecondPerUnit,
  );
  return { shards: Math.ceil((share * shards) / 0.8), throughputUnits: Math.ceil((units * shards) / 0.8) };
}

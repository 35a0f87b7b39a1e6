import { writeFileSync } from 'node:fs';
import { limits } from '../../../infra/costs-model.ts';
import { connectionsPlot } from './plot.ts';
import { fleetTable } from './report.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { type Simulation, type SimulationOptions, simulate } from './simulate.ts';

export interface FleetOptions {
  /** Sizes of the fleet. */
  readonly vms: readonly number[];
  /** Ids of scenarios; all if there are none. */
  readonly only: readonly string[];
  /** Where to write the plot of the connections in the largest zone event; null: nowhere. */
  readonly svg: string | null;
  readonly seed: number;
}

/** As the bridge is configured by default, and `infra/main.bicep` deploys a shard. */
const settings = { connectJitterSeconds: 0, idleCloseSeconds: 60, nearMinutes: 20 };
const services = { partitions: 8, throughputUnits: 1, hasLimits: true };
const jitter = { ...settings, connectJitterSeconds: 300 };
const kept = { ...settings, idleCloseSeconds: 86_400 };

/**
 * Fleets against the limits of the services, in a time of their own: not what this machine can do, but what Azure is asked for, and when
 * the records are in. Where something is refused, the same once more without limits, and with as many shards as that shows to be needed.
 */
export async function fleet({ vms, only, svg, seed }: FleetOptions): Promise<void> {
  const all: Simulation[] = [];
  const run = async (scenario: Scenario, more: Omit<SimulationOptions, 'scenario' | 'seed'>): Promise<Simulation> => {
    const simulation = await simulate({ scenario, seed, ...more });
    process.stderr.write(`${scenario.id}, ${more.vms} VMs, ${more.shards} shards: ${simulation.refused} refused\n`);
    all.push(simulation);
    return simulation;
  };
  const largest = Math.max(...vms);
  for (const scenario of scenarios.filter(({ id }) => only.length === 0 || only.includes(id)))
    for (const size of vms) {
      const first = await run(scenario, { vms: size, shards: 1, settings, services });
      const lines: [string, Simulation][] = [['one namespace', first]];
      if (scenario.id === 'zone' && size === largest) {
        lines.push([
          'with a jitter of 300 s',
          await run(scenario, { vms: size, shards: 1, settings: jitter, services }),
        ]);
        lines.push(['connections kept', await run(scenario, { vms: size, shards: 1, settings: kept, services })]);
      }
      if (first.refused > 0) {
        const free = { ...services, hasLimits: false };
        const { peak } = await run(scenario, { vms: size, shards: 1, settings, services: free });
        const shards = shardsFor(peak);
        lines.push([`${shards} namespaces`, await run(scenario, { vms: size, shards, settings, services })]);
      }
      if (svg !== null && scenario.id === 'zone' && size === largest)
        writeFileSync(
          svg,
          connectionsPlot(`Connections of the fullest namespace, ${scenario.title}`, lines, limits.connections),
        );
    }
  process.stdout.write(`${fleetTable(all)}\n\n${scenarios.map(({ id, title }) => `${id}: ${title}`).join('\n')}\n`);
}

/** Of the documented limits of one shard, with a fifth in reserve. */
function shardsFor({ connections, eventsPerSecond, requestsPerMinute }: Simulation['peak']): number {
  const share = Math.max(
    connections / limits.connections,
    requestsPerMinute / limits.requestsPerMinute,
    eventsPerSecond / (services.throughputUnits * limits.messagesPerSecondPerUnit),
  );
  return Math.ceil(share / 0.8);
}

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, figuresOf } from '../../bench/process-figures.ts';
import { createRandom, type Random } from '../../fleet-model/random.ts';
import type { FaultContext, Outcome } from '../fault-test.ts';
import { FleetUnderTest, type Vm } from '../fleet/fleet-under-test.ts';
import { descriptorsOf, type Holdings, InspectedProcess } from '../fleet/inspected.ts';
import { soakFaults } from './faults.ts';
import { growthOf, residentSlope, type SoakHoldings, type SoakSample } from './trend.ts';

export interface SoakReport {
  readonly hours: number;
  readonly events: number;
  readonly steps: number;
  readonly polls: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly samples: readonly SoakSample[];
  readonly holdings: readonly SoakHoldings[];
  /** Of the second half of the run. */
  readonly residentMbPerHour: number;
  readonly outcome: Outcome;
}

const minuteMs = 60_000;
/** Connections that a fault has just broken are in about every second of these counts; all of a half would be a rare chance. */
const holdingsEveryMinutes = 2;
/** https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events: few events a month; one every ten seconds is far above ten times that. */
const pauseBetweenEventsMs = 5_000;
/** The unit of the service allows 320 MB; the open inspectors take some of what is measured here. */
const mostResidentMb = 250;
/** Two bridges under one fault a minute, while events come and go; one of them is measured. `context.cases` is the number of minutes. */
export async function soak(context: FaultContext): Promise<SoakReport> {
  const random = createRandom(context.seed);
  const minutes = context.cases;
  const fleet = await FleetUnderTest.start(context, { env: { NODE_OPTIONS: '--inspect-port=0' } });
  const run = new Soak(fleet, context.directory);
  const over = new AbortController();
  context.signal.addEventListener('abort', () => over.abort(), { once: true });
  try {
    for (const vm of fleet.vms) fleet.startBridge(vm);
    await fleet.firstDocuments();
    const announcing = announceUntil(fleet, random, over.signal);
    await Promise.race([announcing, run.play(random, minutes, context)]);
    over.abort();
    await announcing;
    const freshArrived = await fleet.freshArrives(random, 60);
    const { lost, copies, broken } = fleet.judge();
    return run.report(minutes, {
      lost,
      // Sinks are not asked one by one: each fault may repeat what was under way for each of both bridges.
      duplicated: { found: copies, allowed: 2 * minutes * mostUnderWay },
      happened: [
        { what: 'faults', count: run.faultCount, least: minutes },
        { what: 'steps announced', count: fleet.stepsAnnounced, least: minutes },
      ],
      worst: null,
      freshArrived,
      conservation: fleet.conservation,
      broken,
    });
  } finally {
    over.abort();
    run.close();
    await fleet.close();
  }
}

/** Records of one bridge that a fault of half a minute may repeat at a sink: an event has at most five steps, and ten seconds. */
const mostUnderWay = 20;

async function announceUntil(fleet: FleetUnderTest, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await fleet.announce(random);
    await sleep(pauseBetweenEventsMs, undefined, { signal }).catch(() => {});
  }
}

class Soak {
  readonly #fleet: FleetUnderTest;
  readonly #stateDirectory: string;
  readonly #startedAt = performance.now();
  readonly #samples: SoakSample[] = [];
  readonly #holdings: SoakHoldings[] = [];
  readonly #faults = new Map<string, number>();
  readonly #inspected = new Map<number, InspectedProcess>();

  constructor(fleet: FleetUnderTest, directory: string) {
    this.#fleet = fleet;
    this.#stateDirectory = join(directory, this.#measured.name);
  }

  get faultCount(): number {
    return [...this.#faults.values()].reduce((sum, count) => sum + count, 0);
  }

  async play(random: Random, minutes: number, { signal, say }: FaultContext): Promise<void> {
    // Every fault in a random order, then again.
    let rest: (typeof soakFaults)[number][] = [];
    for (let minute = 1; minute <= minutes; minute += 1) {
      const endsAt = performance.now() + minuteMs;
      if (rest.length === 0) rest = soakFaults.toSorted(() => random.next() - 0.5);
      const fault = rest.pop();
      if (fault === undefined) throw new Error('a soak has faults');
      this.#faults.set(fault.name, (this.#faults.get(fault.name) ?? 0) + 1);
      await fault.begin(this.#fleet, this.#other);
      await sleep(random.int(5, 25) * 1000, undefined, { signal });
      await fault.end?.(this.#fleet, this.#other);
      await sleep(Math.max(0, endsAt - performance.now()), undefined, { signal });
      // The first one opens the inspectors, whose descriptors every sample has.
      if (minute % holdingsEveryMinutes === 1 || minute === minutes) this.#holdings.push(await this.#hold());
      this.#samples.push(this.#sample());
      if (minute % 10 === 0) say(`${minute} min, ${this.#samples.at(-1)?.residentMb.toFixed(0)} MB resident`);
    }
  }

  report(minutes: number, outcome: Outcome): SoakReport {
    const residentMb = Math.max(...this.#samples.map((sample) => sample.residentMb));
    return {
      hours: minutes / 60,
      events: this.#fleet.announced.length,
      steps: this.#fleet.stepsAnnounced,
      polls: this.#fleet.azure.imds.polls[this.#measured.name] ?? 0,
      faults: Object.fromEntries(this.#faults),
      samples: this.#samples,
      holdings: this.#holdings,
      residentMbPerHour: residentSlope(this.#samples),
      outcome: {
        ...outcome,
        broken: [
          ...outcome.broken,
          ...growthOf(this.#samples, this.#holdings),
          ...(residentMb > mostResidentMb ? [`${residentMb.toFixed(0)} MB resident, at most ${mostResidentMb}`] : []),
        ],
      },
    };
  }

  close(): void {
    for (const one of this.#inspected.values()) one.close();
  }

  get #measured(): Vm {
    return this.#vm(0);
  }

  get #other(): Vm {
    return this.#vm(1);
  }

  #vm(index: number): Vm {
    const vm = this.#fleet.vms[index];
    if (vm === undefined) throw new Error('a soak has two VMs');
    return vm;
  }

  #pids(): readonly number[] {
    const pid = this.#measured.bridge?.child.pid;
    if (pid === undefined) throw new Error('the measured bridge does not run');
    return [pid, ...childrenOf(pid)];
  }

  #hours(): number {
    return (performance.now() - this.#startedAt) / 3_600_000;
  }

  #sample(): SoakSample {
    const pids = this.#pids();
    const files = readdirSync(this.#stateDirectory, { withFileTypes: true }).filter((entry) => entry.isFile());
    const bytes = files.reduce((sum, { name }) => sum + statSync(join(this.#stateDirectory, name)).size, 0);
    return {
      hours: this.#hours(),
      ...figuresOf(pids[0] ?? 0),
      descriptors: pids.reduce((sum, pid) => sum + descriptorsOf(pid).length, 0),
      processes: pids.length,
      stateMb: bytes / 2 ** 20,
    };
  }

  async #hold(): Promise<SoakHoldings> {
    const processes: Holdings[] = [];
    for (const pid of this.#pids()) {
      const inspected = this.#inspected.get(pid) ?? (await InspectedProcess.open(pid));
      this.#inspected.set(pid, inspected);
      processes.push(await inspected.holdings());
    }
    return { hours: this.#hours(), processes };
  }
}

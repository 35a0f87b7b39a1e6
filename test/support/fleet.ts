import { vi } from 'vitest';
import type { Impact, Stage } from '../../src/azure-simulator/player.ts';
import { playScenario } from '../../src/azure-simulator/player.ts';
import type { Scenario } from '../../src/azure-simulator/scenarios/index.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import { createImds } from '../../src/imds/client.ts';
import { observerFrom, parseInstance } from '../../src/imds/instance.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { emptyState } from '../../src/lifecycle/state.ts';
import { gapAfterMs, transition } from '../../src/lifecycle/transition.ts';

/** A VM that polls the simulated metadata service and decides as the bridge does; what it reports stays in memory. */
export interface FleetVm {
  readonly name: string;
  readonly records: readonly LifecycleRecord[];
  /** One poll over a real socket; none while it restarts. */
  observe(): Promise<void>;
  /** Frozen: the next poll reports the pause. Restarting: it has another boot id when it is back. */
  applyImpact(impact: Impact): void;
  close(): Promise<void>;
}

export interface FleetVmOptions {
  readonly witnessRate?: number;
  /** How far its clock is wrong: ahead when positive. */
  readonly clockErrorSeconds?: number;
  /** It does not poll before this many seconds have passed. */
  readonly joinsAfterSeconds?: number;
}

export async function openFleetVm({ imds }: Stage, name: string, options: FleetVmOptions = {}): Promise<FleetVm> {
  const { witnessRate = 0, clockErrorSeconds = 0, joinsAfterSeconds = 0 } = options;
  const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + 1000 * clockErrorSeconds) };
  const client = createImds({
    endpoint: imds.vmUrl(name),
    apiVersion: '2020-07-01',
    timeoutMs: 10_000,
    firstTimeoutMs: 130_000,
    warm: () => true,
    clock,
  });
  const { signal } = new AbortController();
  const answer = await client.instance(signal);
  const observer = answer.kind === 'metadata' ? observerFrom(parseInstance(answer.metadata), {}, {}) : null;
  if (observer === null) throw new Error(`the simulator does not report who ${name} is`);
  const records: LifecycleRecord[] = [];
  let state = emptyState(`stream of ${name}`);
  let boots = 1;
  let downUntil = Date.now() + 1000 * joinsAfterSeconds;
  let pausedMs = 0;
  return {
    name,
    records,
    async observe() {
      if (Date.now() < downUntil) return;
      const seen = await client.observe(signal);
      const tick = { longestMs: pausedMs, totalMs: pausedMs };
      const turn = transition(state, seen, {
        host: { bootId: `${name} boot ${boots}`, physicalHost: null, tick, wallStepMs: 0 },
        observer,
        scope: { witnessRate },
        gapAfterMs: gapAfterMs(1),
        enablingMs: 0,
        bridgeVersion: '0.0.0',
        at: clock.now(),
        monotonicMs: Date.now(),
      });
      pausedMs = 0;
      state = turn.state;
      records.push(...turn.records);
    },
    applyImpact({ kind, vms, seconds }) {
      if (!vms.includes(name)) return;
      if (kind === 'freeze') pausedMs = 1000 * seconds;
      else {
        boots += 1;
        downUntil = Date.now() + 1000 * seconds;
      }
    },
    close: () => client.close(),
  };
}

/**
 * Plays a scenario at its real timing in simulated time, in which every VM polls one second before each step and right after it.
 * Code that waits for that time needs `vi.useFakeTimers` with `Date` and the timeouts.
 */
export async function watchScenario(stage: Stage, scenario: Scenario, fleet: readonly FleetVm[]): Promise<void> {
  const observeAll = async (): Promise<void> => {
    await Promise.all(fleet.map((vm) => vm.observe()));
  };
  await observeAll();
  await vi.advanceTimersByTimeAsync(1000);
  const applyImpact = (impact: Impact): void => {
    for (const vm of fleet) vm.applyImpact(impact);
  };
  const play = playScenario(stage, scenario, { onImpact: applyImpact, vms: fleet.map(({ name }) => name) });
  await observeAll();
  for (const { afterSeconds } of scenario.steps) {
    if (afterSeconds === 0) continue;
    if (afterSeconds > 1) {
      await vi.advanceTimersByTimeAsync(1000 * (afterSeconds - 1));
      await observeAll();
    }
    await vi.advanceTimersByTimeAsync(1000 * Math.min(1, afterSeconds));
    await observeAll();
  }
  // An end needs more than one observation.
  await vi.advanceTimersByTimeAsync(2000);
  await observeAll();
  await play;
}

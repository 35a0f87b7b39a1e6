import { systemClock } from '../../clock.ts';
import { describePoll } from '../../recording/describe.ts';
import type { AzureSimulator } from '../index.ts';
import { type Impact, playScenario } from '../player.ts';
import type { Recording } from '../recording/read-recording.ts';
import { replay } from '../recording/replay.ts';
import type { Scenario } from '../scenarios/index.ts';
import type { Freezer } from './freezer.ts';
import { minimumImpactSeconds, minimumStepSeconds } from './minimum-durations.ts';
import type { Output } from './output.ts';

/** Plays scenarios and recordings. Nothing here rejects. */
export interface ScenarioRunner {
  /** Plays a scenario. Default speed: that of the command, else the scenario's own. */
  play(scenario: Scenario, options?: { readonly speed?: number; readonly vms?: readonly string[] }): Promise<void>;
  /** Replays a recording. */
  replay(recording: Recording): Promise<void>;
  /** Resolves after the first request for scheduled events, or at the end. */
  firstPoll(): Promise<void>;
}

export interface RunnerOptions {
  /** Names of the VMs on which scenarios are played by default. Only the first can be frozen. */
  readonly vms: readonly string[];
  readonly speed: number | undefined;
  readonly freezer: Freezer | null;
  readonly output: Output;
  readonly signal: AbortSignal;
}

export function createRunner(
  azure: AzureSimulator,
  { vms: all, speed: wanted, freezer, output, signal }: RunnerOptions,
): ScenarioRunner {
  const onImpact = ({ kind, vms, seconds }: Impact): void => {
    const what = `Azure would ${kind} ${vms.join(', ')} for ${Math.round(10 * seconds) / 10} s now`;
    if (kind === 'freeze' && freezer === null) output.print(`${what} (--freeze PID stops a process with it)`);
    else if (kind === 'restart' || freezer === null || !vms.includes(all[0] ?? '')) output.print(what);
    else if (freezer.freeze(seconds)) output.print(`${what}: process ${freezer.pid} is stopped`);
    else output.warn(`${what}, but process ${freezer.pid} has exited: nothing is stopped`);
  };

  return {
    async play(scenario, { speed = wanted ?? scenario.demoSpeed, vms = all } = {}) {
      const { name, description } = scenario;
      output.print(`${name}, ${speed === 1 ? 'as fast as Azure' : `${speed} times as fast as Azure`}: ${description}`);
      try {
        const { over } = await playScenario(azure, scenario, {
          speed,
          minimumStepSeconds,
          minimumImpactSeconds,
          vms,
          onImpact,
          signal,
        });
        if (over) output.print(`${name} has finished`);
      } catch (error) {
        output.warn(`${name} was aborted: ${error instanceof Error ? error.message : String(error)}`);
      }
    },

    async replay(recording) {
      const over = await replay(azure.imds, recording, {
        speed: wanted ?? 1,
        minimumStepSeconds,
        signal,
        shown({ seen }) {
          if (!('document' in seen)) output.print(describePoll(seen));
        },
      });
      if (over) output.print('The recording has finished; its last answer stays.');
    },

    async firstPoll() {
      while (azure.imds.requests('scheduledevents') === 0 && !signal.aborted) await systemClock.sleep(20, signal);
    },
  };
}

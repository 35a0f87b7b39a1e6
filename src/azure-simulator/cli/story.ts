import { systemClock } from '../../clock.ts';
import { describePoll } from '../../recording/describe.ts';
import type { AzureSimulator } from '../index.ts';
import { type Impact, playScenario } from '../player.ts';
import type { Recording } from '../recording/read-recording.ts';
import { replay } from '../recording/replay.ts';
import type { Scenario } from '../scenarios/index.ts';
import type { Freezer } from './freezer.ts';
import { minimumImpactSeconds, minimumStepSeconds } from './pace.ts';
import type { Voice } from './voice.ts';

/** Makes things happen to the VMs. Nothing here rejects. */
export interface Storyteller {
  /** Plays a scenario from now on. Speed: by default that of the command, else the scenario's own. */
  play(scenario: Scenario, options?: { readonly speed?: number; readonly vms?: readonly string[] }): Promise<void>;
  /** Replays a recording from now on. */
  replay(recording: Recording): Promise<void>;
  /** Resolves when somebody has looked at the scheduled events, or at the end. */
  firstLook(): Promise<void>;
}

export interface StorytellerOptions {
  /** Names of the VMs that scenarios are about, unless they are played on others. The first is the one that can be frozen. */
  readonly vms: readonly string[];
  readonly speed: number | undefined;
  readonly freezer: Freezer | null;
  readonly voice: Voice;
  readonly signal: AbortSignal;
}

export function createStoryteller(
  azure: AzureSimulator,
  { vms: all, speed: wanted, freezer, voice, signal }: StorytellerOptions,
): Storyteller {
  const feel = ({ kind, vms, seconds }: Impact): void => {
    const what = `Azure would ${kind} ${vms.join(', ')} for ${Math.round(10 * seconds) / 10} s now`;
    if (kind === 'freeze' && freezer === null) voice.tell(`${what} (--freeze PID stops a process with it)`);
    else if (kind === 'restart' || freezer === null || !vms.includes(all[0] ?? '')) voice.tell(what);
    else if (freezer.freeze(seconds)) voice.tell(`${what}: process ${freezer.pid} is stopped`);
    else voice.warn(`${what}, but process ${freezer.pid} is gone: nothing is stopped`);
  };

  return {
    async play(scenario, { speed = wanted ?? scenario.demoSpeed, vms = all } = {}) {
      const { name, description } = scenario;
      voice.tell(`${name}, ${speed === 1 ? 'as fast as Azure' : `${speed} times as fast as Azure`}: ${description}`);
      try {
        const { over } = await playScenario(azure, scenario, {
          speed,
          minimumStepSeconds,
          minimumImpactSeconds,
          vms,
          feel,
          signal,
        });
        if (over) voice.tell(`${name} is over`);
      } catch (error) {
        voice.warn(`${name} cannot go on: ${error instanceof Error ? error.message : String(error)}`);
      }
    },

    async replay(recording) {
      const over = await replay(azure.imds, recording, {
        speed: wanted ?? 1,
        minimumStepSeconds,
        signal,
        shown({ seen }) {
          if (!('document' in seen)) voice.tell(describePoll(seen));
        },
      });
      if (over) voice.tell('The recording is over; its last answer stays.');
    },

    async firstLook() {
      while (azure.imds.requests('scheduledevents') === 0 && !signal.aborted) await systemClock.sleep(20, signal);
    },
  };
}

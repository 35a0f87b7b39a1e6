import type { Message } from './bridge.ts';

export interface Step {
  readonly messages: readonly Message[];
  readonly acts: readonly string[];
}

export interface Run {
  /** Already in the hub when the subscriber starts: sent since the previous run, while it was down. */
  readonly before: readonly Message[];
  /** What it does by the time it has read them. */
  readonly acts: readonly string[];
  readonly steps: readonly Step[];
  /** The VMs that it was just draining when it was killed at the end of the run. */
  readonly killedDuring?: readonly string[];
}

export interface History {
  readonly title: string;
  /** What in `infra/record.md` demands it. */
  readonly rule: string;
  readonly runs: readonly Run[];
}

export const step = (messages: readonly Message[], acts: readonly string[] = []): Step => ({ messages, acts });

/** A run that starts with nothing new in the hub. */
export const run = (...steps: readonly Step[]): Run => ({ before: [], acts: [], steps });

/** A start after which there is nothing to do: all that the hub holds has been acted on. */
export const nothingNew: Run = run();

/** A start with messages that were sent while the subscriber was down. */
export const start = (before: readonly Message[], acts: readonly string[], ...steps: readonly Step[]): Run => ({
  before,
  acts,
  steps,
});

export const afterStart = { evidence: ['left-after-started'] };
export const lostSight = { evidence: ['observation-gap'] };
export const reappeared = { evidence: ['reappeared'] };

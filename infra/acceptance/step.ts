import type { Az } from './az.ts';
import type { PlayDifference } from './recordings/difference.ts';
import type { Target } from './target.ts';

/** One part of an acceptance run. All but `run` is data, so that `--plan` prints it without carrying anything out. */
export interface Step {
  /** Words and hyphens; `--only` names it. */
  readonly id: string;
  /** What it does, as a phrase: `deploy the platform`. */
  readonly title: string;
  readonly phase: Phase;
  /**
   * Steps of one phase with different lanes are carried out at the same time, those of one lane in the order of their list. A step without a
   * lane waits for all before it, and those after it wait for it. Lanes are for waits: a notice of Azure lasts 15 minutes, on each VM.
   */
  readonly lane?: string;
  /** Ids of the steps that must have succeeded. Otherwise this one is skipped, and the report names the reason. */
  readonly needs: readonly string[];
  /** What exists in the subscription afterwards, each a phrase; empty for a step that only reads. */
  readonly creates: readonly string[];
  /** What the account that is logged in must be allowed to do: names of built-in roles, with their scope. */
  readonly rights: readonly string[];
  /** The most that it can cost, in US dollars, and how that was calculated. */
  readonly cost: { readonly usd: number; readonly basis: string };
  /** Its expected duration. */
  readonly minutes: number;
  /** Ids of the assumptions that it can prove or refute. */
  readonly proves: readonly string[];
  /** The `az` commands that are known beforehand, as lists of arguments, for `--plan`. */
  readonly commands?: (run: Run) => readonly (readonly string[])[];
  /** Fails by throwing; the message is one sentence for the report. The run then continues with the steps that do not need it. */
  run(context: StepContext): Promise<void>;
}

/** The order in which the steps are carried out; within a phase they keep the order of their list in each lane. */
export const phases = ['prepare', 'deploy', 'install', 'events', 'read', 'refusals'] as const;
export type Phase = (typeof phases)[number];

/** What a step works with. */
export interface StepContext {
  readonly run: Run;
  readonly az: Az;
  readonly target: Target;
  /** Aborted by Ctrl-C, and when the run exceeds its time limit. */
  readonly signal: AbortSignal;
  /** What steps before this one found, by step id. It is kept on disk, and `--clean-up` reads it after a crash. */
  readonly found: Map<string, unknown>;
  /** Reports on an assumption; several findings on one are possible, and one that refutes it decides. */
  report(finding: Finding): void;
  /** Writes into the journal what is about to be created outside of the two groups. Call it before, so that a crash leaves nothing unknown. */
  willCreate(item: OutsideGroups): void;
  /** Reports what Azure did otherwise than the simulator in the same situation. */
  differ(difference: Difference): void;
  /** A duration for the report, in seconds: `from the approval until the start`. */
  measure(what: string, seconds: number, detail: string): void;
  /** One line for the person who watches, and for the log of the run. */
  say(line: string): void;
  /** Writes a file of evidence into the folder of the run, and returns its path relative to it. */
  save(name: string, text: string): string;
}

/** One acceptance run. */
export interface Run {
  /** Short, of small letters and digits: part of every name that the run creates. */
  readonly id: string;
  readonly subscription: string;
  readonly location: string;
  /** Absolute path; the journal, the evidence and the report are written there. */
  readonly folder: string;
  /** On everything that is created; `--clean-up` finds by it what is left. */
  readonly tags: Readonly<Record<string, string>>;
  /** For the platform and for the VMs. Everything that the run creates in the subscription is in one of them, or its journal names it. */
  readonly groups: { readonly platform: string; readonly machines: string };
}

/** What a step found out about an assumption. */
export interface Finding {
  readonly assumption: string;
  readonly verdict: 'proven' | 'refuted';
  /** What was seen, in one sentence. */
  readonly evidence: string;
  /** A file that `save` has written. */
  readonly file?: string;
}

/**
 * Something that is in neither group of the run, or stays when its group is deleted. Of these, the clean-up removes by the journal only role
 * assignments, which have no tags. It finds resources by the tag of the run, deployments by their name (`azure/names.ts`), and workspaces by
 * their group, so that it does not depend on the journal.
 */
export type OutsideGroups =
  | { readonly kind: 'resource'; readonly id: string }
  /** The record of a deployment to the subscription. */
  | { readonly kind: 'deployment'; readonly name: string }
  /** By its resource id, which ends with a random GUID of this run. */
  | { readonly kind: 'role-assignment'; readonly id: string }
  /** In a group of the run; Azure keeps a deleted workspace for 14 days unless it is purged. */
  | { readonly kind: 'workspace'; readonly group: string; readonly name: string };

/** What Azure did otherwise than the simulator. */
export interface Difference {
  /** Id of the step, or name of the scenario, in which it was seen. */
  readonly situation: string;
  /** In one sentence. */
  readonly what: string;
  /** A file that `save` has written: for a scenario its recording, without names (`recordings/anonymise.ts`). */
  readonly file?: string;
  /** Where two plays of a scenario were compared (`recordings/compare.ts`). */
  readonly detail?: PlayDifference;
}

/** The options of the command line on which the list of steps depends. Each list is a function of them, or a constant. */
export interface StepOptions {
  readonly against: 'azure' | 'simulator';
  /** Also with a Windows VM (`--windows`). */
  readonly windows: boolean;
}

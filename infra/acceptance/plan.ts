import { closest } from '../../src/config/did-you-mean.ts';
import { Failure } from './exit-codes.ts';
import { phases, type Step } from './step.ts';

/** What a run will do. */
export interface Plan {
  /** In the order in which they are carried out. */
  readonly steps: readonly Step[];
  /** Steps that `--only` or `--without` leaves out. */
  readonly leftOut: readonly Step[];
}

export interface Selection {
  /** Ids of steps; the steps that these need are added. Undefined: all. */
  readonly only?: readonly string[] | undefined;
  /** Ids of steps; the steps that need these are left out too. */
  readonly without?: readonly string[] | undefined;
}

/**
 * Orders the steps by phase and needs, and selects among them.
 * @throws Failure (usage) for an id that no step has; Error where two steps have one id, or needs cannot be met
 */
export function planOf(steps: readonly Step[], { only, without = [] }: Selection = {}): Plan {
  const ordered = orderOf(steps);
  const byId = new Map(ordered.map((step) => [step.id, step]));
  for (const id of [...(only ?? []), ...without]) if (!byId.has(id)) throw unknownStep(id, [...byId.keys()]);

  const wanted = new Set<string>();
  const add = (id: string): void => {
    wanted.add(id);
    for (const need of byId.get(id)?.needs ?? []) add(need);
  };
  for (const id of only ?? byId.keys()) add(id);

  const dropped = new Set(without);
  for (const { id, needs } of ordered) if (needs.some((need) => dropped.has(need))) dropped.add(id);
  const contradiction = only?.find((id) => dropped.has(id));
  if (contradiction !== undefined) {
    throw new Failure('usage', `--without leaves out ${contradiction}, or a step that it needs, and --only names it.`);
  }
  const isSelected = ({ id }: Step): boolean => wanted.has(id) && !dropped.has(id);
  return { steps: ordered.filter(isSelected), leftOut: ordered.filter((step) => !isSelected(step)) };
}

function unknownStep(id: string, known: readonly string[]): Failure {
  const near = closest(id, known);
  const hint = near === undefined ? `--plan lists the steps: ${known.join(', ')}.` : `Did you mean ${near}?`;
  return new Failure('usage', `There is no step ${id}. ${hint}`);
}

/** By phase; within a phase in the order of the list, but after the steps that a step needs. */
function orderOf(steps: readonly Step[]): readonly Step[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  if (byId.size !== steps.length) throw new Error('Two steps have the same id.');
  const ordered = new Map<string, Step>();
  const place = (step: Step, path: readonly string[]): void => {
    if (ordered.has(step.id)) return;
    if (path.includes(step.id))
      throw new Error(`Steps need one another in a circle: ${[...path, step.id].join(', ')}.`);
    for (const id of step.needs) {
      const need = byId.get(id);
      if (need === undefined) throw new Error(`The step ${step.id} needs ${id}, which does not exist.`);
      if (phases.indexOf(need.phase) > phases.indexOf(step.phase)) {
        throw new Error(`The step ${step.id} needs ${id}, which is of a later phase.`);
      }
      place(need, [...path, step.id]);
    }
    ordered.set(step.id, step);
  };
  for (const phase of phases) for (const step of steps) if (step.phase === phase) place(step, []);
  return [...ordered.values()];
}

/** The most that these steps can cost, in US dollars. */
export const maxCostOf = (steps: readonly Pick<Step, 'cost'>[]): number =>
  steps.reduce((sum, { cost }) => sum + cost.usd, 0);

/**
 * The expected duration of a run, in minutes. Steps of different lanes take place at the same time.
 */
export function durationOf(steps: readonly Step[]): number {
  const ends = new Map<string, number>();
  for (const [at, step] of steps.entries()) {
    const before = steps.slice(0, at).filter((one) => hasToWait(step, one));
    ends.set(step.id, Math.max(0, ...before.map(({ id }) => ends.get(id) ?? 0)) + step.minutes);
  }
  return Math.max(0, ...ends.values());
}

/** Whether `step` begins only when `earlier`, which is before it in the plan, has ended. */
export function hasToWait(step: Step, earlier: Step): boolean {
  const isBeside = step.phase === earlier.phase && step.lane !== undefined && earlier.lane !== undefined;
  return !isBeside || step.lane === earlier.lane || step.needs.includes(earlier.id);
}

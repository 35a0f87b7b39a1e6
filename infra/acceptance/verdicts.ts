import type { Assumption } from './assumptions.ts';
import type { Finding } from './step.ts';

/** How a step of a run ended. */
export type StepOutcome =
  | { readonly result: 'succeeded' }
  /** `message` is one sentence. */
  | { readonly result: 'failed'; readonly message: string }
  /** `because` is the id of a step that it needs, and that did not succeed. */
  | { readonly result: 'skipped'; readonly because: string }
  /** Left out by `--only`. */
  | { readonly result: 'not-selected' }
  /** The run was ended before it, or while it ran. */
  | { readonly result: 'interrupted' };

export interface Verdict {
  /** Id of the assumption. */
  readonly assumption: string;
  readonly verdict: 'proven' | 'refuted' | 'not reached';
  /** Why it was not reached, as a phrase; null otherwise. */
  readonly reason: string | null;
  /** No step can prove it; `reason` says why. */
  readonly isManual: boolean;
  /** What decided: the refutations if there is one, else the proofs. */
  readonly findings: readonly Finding[];
}

/**
 * One verdict for each assumption, in their order. A single refutation outweighs every proof. A run against the simulator proves nothing about
 * Azure, so all its verdicts are `not reached`.
 *
 * @param outcomes by id of the step; one that is missing counts as not selected
 */
export function verdictsOf(
  assumptions: readonly Pick<Assumption, 'id' | 'provedBy' | 'manual'>[],
  findings: readonly Finding[],
  outcomes: ReadonlyMap<string, StepOutcome>,
  target: 'azure' | 'simulator',
): readonly Verdict[] {
  return assumptions.map((assumption) => {
    const reached = target === 'azure' ? findings.filter((one) => one.assumption === assumption.id) : [];
    const refutations = reached.filter(({ verdict }) => verdict === 'refuted');
    const decisive = refutations.length > 0 ? refutations : reached;
    return {
      assumption: assumption.id,
      verdict: decisive[0]?.verdict ?? 'not reached',
      reason: decisive.length > 0 ? null : reasonOf(assumption, outcomes, target),
      isManual: assumption.manual !== undefined,
      findings: decisive,
    };
  });
}

function reasonOf(
  { provedBy = [], manual }: Pick<Assumption, 'provedBy' | 'manual'>,
  outcomes: ReadonlyMap<string, StepOutcome>,
  target: 'azure' | 'simulator',
): string {
  if (manual !== undefined) return manual.trim();
  if (target === 'simulator') return 'the simulator proves nothing about Azure';
  // Steps that ended in the same way are named together.
  const endings = Map.groupBy(provedBy, (step) => endingOf(outcomes.get(step) ?? { result: 'not-selected' }));
  return [...endings]
    .map(([ending, steps]) => `${steps.map((step) => `\`${step}\``).join(', ')}: ${ending}`)
    .join('; ');
}

function endingOf(outcome: StepOutcome): string {
  switch (outcome.result) {
    case 'succeeded':
      return 'ended without seeing whether it holds';
    case 'failed':
      return `failed: ${outcome.message}`;
    case 'skipped':
      return `skipped, because \`${outcome.because}\` did not succeed`;
    case 'not-selected':
      return 'not selected';
    case 'interrupted':
      return 'not finished when the run was ended';
  }
}

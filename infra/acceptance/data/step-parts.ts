import type { Finding, Step, StepContext } from '../step.ts';

const free = { usd: 0, basis: 'requests of this kind are free of charge' } as const;

/** What steps have in common that read the hub and the tables, and create nothing. The simulator is there from the start. */
export const readsOnly = (against: 'azure' | 'simulator') =>
  ({
    phase: 'read',
    needs: against === 'azure' ? ['platform'] : [],
    creates: [],
    rights: [],
    cost: free,
  }) satisfies Partial<Step>;

/** The same of steps that send requests which are to be refused. */
export const refusals = (against: 'azure' | 'simulator') =>
  ({
    ...readsOnly(against),
    phase: 'refusals',
    needs: against === 'azure' ? ['platform', 'data-rights'] : [],
  }) satisfies Partial<Step>;

/** Fails with the first problem; all of them are in a file. */
export function nothingLeft({ save }: StepContext, what: string, problems: readonly string[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const file = save(`${what.toLowerCase().replaceAll(/[^a-z]+/g, '-')}-problems.txt`, `${problems.join('\n')}\n`);
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more, see ${file})`;
  throw new Error(`${what}: ${first}${more}`);
}

/** A finding, or what shows neither that the assumption holds nor that it does not. */
export type Shown = Omit<Finding, 'verdict'> & { readonly verdict: Finding['verdict'] | null };

/** Reports what was seen in Azure; the simulator proves nothing about it. Without a verdict it is only said. */
export function reportOfAzure({ target, report, say }: StepContext, { verdict, ...shown }: Shown): void {
  if (target.kind !== 'azure') return;
  if (verdict === null) say(`${shown.assumption} is neither proven nor refuted: ${shown.evidence}`);
  else report({ verdict, ...shown });
}

import { expect, test } from 'vitest';
import { readAssumptions } from '../../../infra/acceptance/assumptions.ts';
import type { Step } from '../../../infra/acceptance/step.ts';
import { stepsOf } from '../../../infra/acceptance/steps.ts';
import { readTree } from '../../support/source-tree.ts';

type Proving = Pick<Step, 'id' | 'proves'>;
type Proved = { readonly id: string; readonly provedBy?: readonly string[] };

/** Where the lists of steps and the register disagree, each a sentence. */
function disagreements(steps: readonly Proving[], rows: readonly Proved[]): readonly string[] {
  const stepOf = new Map(steps.map((step) => [step.id, step]));
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  const claimed = rows.flatMap(({ id, provedBy = [] }) =>
    provedBy.flatMap((step) => {
      const found = stepOf.get(step);
      if (found === undefined) return [`${id} is proved by ${step}, which is no step`];
      return found.proves.includes(id) ? [] : [`${id} is proved by ${step}, which does not say so`];
    }),
  );
  const unclaimed = steps.flatMap(({ id, proves }) =>
    proves.flatMap((assumption) => {
      const row = rowOf.get(assumption);
      if (row === undefined) return [`${id} proves ${assumption}, which has no row`];
      return row.provedBy?.includes(id) ? [] : [`${id} proves ${assumption}, whose row does not say so`];
    }),
  );
  return [...claimed, ...unclaimed];
}

const steps = stepsOf({ against: 'azure', windows: true });

test('what a step can prove, and by which steps an assumption is proved, is the same in steps and register', () => {
  expect(steps.length).toBeGreaterThan(50);
  expect(disagreements(steps, readAssumptions())).toEqual([]);
});

/** Findings are made in these folders only. Without the lists of what a step proves. */
const sources = [...readTree('infra/acceptance/{azure,data,events}/**/*.ts').values()].map((text) =>
  text.replaceAll(/\bproves: \[[^\]]*\]/g, ''),
);

test('each assumption that a step can prove is reported on somewhere, and each that is reported on belongs to a step', () => {
  const promised = new Set(steps.flatMap(({ proves }) => proves));
  const silent = [...promised].filter((id) => !sources.some((text) => text.includes(`'${id}'`)));
  const reported = sources.flatMap((text) =>
    [...text.matchAll(/\bassumption: '([a-z0-9-]+)'/g)].map(([, id = '']) => id),
  );
  expect({ silent, stray: reported.filter((id) => !promised.has(id)) }).toEqual({ silent: [], stray: [] });
});

test.for<readonly [step: Proving, row: Proved, expected: readonly string[]]>([
  [{ id: 'read-hub', proves: ['hub-order'] }, { id: 'hub-order', provedBy: ['read-hub'] }, []],
  [
    { id: 'read-hub', proves: [] },
    { id: 'hub-order', provedBy: ['read-hub'] },
    ['hub-order is proved by read-hub, which does not say so'],
  ],
  [
    { id: 'read-hub', proves: ['hub-order'] },
    { id: 'hub-order' },
    ['read-hub proves hub-order, whose row does not say so'],
  ],
  [
    { id: 'read-hub', proves: ['hub-size'] },
    { id: 'hub-order', provedBy: ['read'] },
    ['hub-order is proved by read, which is no step', 'read-hub proves hub-size, which has no row'],
  ],
])('of the step %j and the row %j it says %j', ([step, row, expected]) => {
  expect(disagreements([step], [row])).toEqual(expected);
});

import type { Phase, Step } from '../../../infra/acceptance/step.ts';

/** A step that reads something free of charge; `fields` says what differs. */
export function fakeStep(id: string, fields: Partial<Step> = {}): Step {
  return {
    id,
    title: `carry out ${id}`,
    phase: 'deploy' as Phase,
    needs: [],
    creates: [],
    rights: ['Reader on the subscription'],
    cost: { usd: 0, basis: 'only reads' },
    minutes: 1,
    proves: [],
    run: () => Promise.resolve(),
    ...fields,
  };
}

import { paceOfAzure, paceOfSimulator, type Target } from '../../../infra/acceptance/target.ts';

/** A target for steps that use none of it. */
export const fakeTarget = (kind: Target['kind'], close = (): Promise<void> => Promise.resolve()): Target =>
  ({ kind, pace: kind === 'azure' ? paceOfAzure : paceOfSimulator, close }) as Target;

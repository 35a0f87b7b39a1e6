import { listOf, type Observed, type Running, type Step } from './plan.ts';

/** The rollback, and the steps of it that are impossible. */
export interface FallBack {
  readonly steps: readonly Step[];
  /** The configuration that ran with it is on no disk any more: the new one stays. */
  readonly keepsNewConfiguration: boolean;
}

/**
 * Returns from a version that does not become ready to the previous one. `found` is inspected again: whatever of the way there was
 * gone before, also by an installation that was killed, is gone back.
 */
export function planFallBack(observed: Observed, to: Running): FallBack {
  const isOther = to.configuration !== null && observed.configuration !== to.configuration;
  // The one below an administrator's changes with the version.
  const isOtherUnit = observed.isUnitEdited ? observed.current !== to.folder : observed.unit !== to.unit;
  const canRestore = isOther && observed.keptConfiguration === to.configuration;
  return {
    keepsNewConfiguration: isOther && !canRestore,
    steps: listOf(
      canRestore && { do: 'restore-configuration' },
      isOtherUnit && { do: 'write-unit', folder: to.folder },
      observed.current !== to.folder && { do: 'switch', folder: to.folder },
      (isOtherUnit || observed.service.isStale) && { do: 'reload' },
      { do: 'restart' },
    ),
  };
}

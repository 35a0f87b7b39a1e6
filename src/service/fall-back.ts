import { type Found, listOf, type Running, type Step } from './plan.ts';

/** The way back, and what of it cannot be gone. */
export interface FallBack {
  readonly steps: readonly Step[];
  /** The configuration that ran with it is on no disk any more: the new one stays. */
  readonly keepsNewConfiguration: boolean;
}

/**
 * From a version that does not become ready back to the one that was. `found` is looked at anew: whatever of the way there was
 * gone before, also by an installation that was killed, is gone back.
 */
export function planFallBack(found: Found, to: Running): FallBack {
  const isOther = to.configuration !== null && found.configuration !== to.configuration;
  // The one below an administrator's changes with the version.
  const isOtherUnit = found.isUnitEdited ? found.current !== to.folder : found.unit !== to.unit;
  const canRestore = isOther && found.keptConfiguration === to.configuration;
  return {
    keepsNewConfiguration: isOther && !canRestore,
    steps: listOf(
      canRestore && { do: 'restore-configuration' },
      isOtherUnit && { do: 'write-unit', folder: to.folder },
      found.current !== to.folder && { do: 'switch', folder: to.folder },
      (isOtherUnit || found.service.isStale) && { do: 'reload' },
      { do: 'restart' },
    ),
  };
}

import { alone, lockTimeoutMs } from './installer-lock.ts';
import type { Machine } from './machine.ts';
import type { Kept } from './system.ts';

/** What was found and what was left. */
export interface Uninstalled {
  /** There was something to remove. */
  readonly wasThere: boolean;
  /** Of the state directory; `absent`: there was none. */
  readonly state: 'kept' | 'removed' | 'absent';
  readonly configuration: 'kept' | 'removed' | 'absent';
  /** The account is there still. */
  readonly hasAccount: boolean;
  /** Places that hold what the installer has not put there. */
  readonly left: readonly string[];
  /** What could not be removed, each a sentence. */
  readonly problems: readonly string[];
}

/**
 * Stops the service and removes everything that was installed, except what is to be kept and the account that owns it. What
 * others have put into the folders stays. If interrupted, it can be repeated.
 */
export async function uninstall({ system, clock }: Machine, kept: Kept): Promise<Uninstalled> {
  const { forbidden } = await system.conditions();
  if (forbidden !== null) throw forbidden;
  return alone(system.places.lock, { clock, timeoutMs: lockTimeoutMs }, () => system.remove(kept));
}

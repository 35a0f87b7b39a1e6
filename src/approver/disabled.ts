import { lstatSync } from 'node:fs';
import { join } from 'node:path';

/** While a file of this name is in the state directory, only manual requests are approved. */
export const disablingFile = 'approve.disabled';

/** What cannot be looked at counts as there: it is meant to stop something. A link to nowhere is there too. */
export function isApprovingDisabled(stateDirectory: string): boolean {
  try {
    return lstatSync(join(stateDirectory, disablingFile), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

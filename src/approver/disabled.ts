import { lstatSync } from 'node:fs';
import { join } from 'node:path';

/** While a file of this name is in the state directory, only manual requests are approved. */
export const disablingFile = 'approve.disabled';

/** A file that cannot be read counts as present, because its purpose is to stop approvals. So does a dangling link. */
export function isApprovingDisabled(stateDirectory: string): boolean {
  try {
    return lstatSync(join(stateDirectory, disablingFile), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

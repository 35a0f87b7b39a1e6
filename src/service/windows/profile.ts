import { basename, isAbsolute } from 'node:path';
import { serviceName } from '../names.ts';
import { removeTree } from './files.ts';
import { sid } from './inspect.ts';
import type { ChangingMachine } from './steps.ts';

// assumption: windows-installer-profile
/** Windows makes a profile for the virtual account at its first start, and leaves it when the service is deleted. */
const key = `HKLM\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\ProfileList\\${sid}`;

/**
 * Removes the profile of the account.
 * https://learn.microsoft.com/windows/win32/shell/about-user-profiles
 * @returns what could not be done, each a sentence.
 */
export async function removeProfile({ places, tools, env, clock }: ChangingMachine): Promise<string[]> {
  const { code, out } = await tools.ask('reg', ['query', key, '/v', 'ProfileImagePath', '/reg:64']);
  if (code !== 0) return [];
  const folder = profileIn(out, env);
  if (folder !== null) {
    const left = await removeTree(clock, folder, places.removed);
    if (left.length > 0)
      return [
        `${folder}, the profile of the account, is in use and stays: delete it after the next restart of this machine.`,
      ];
  }
  await tools.ask('reg', ['delete', key, '/f', '/reg:64']);
  return [];
}

/** The folder that `reg query` prints; null where it is not that of our account, which Windows names after the service. */
export function profileIn(text: string, env: NodeJS.ProcessEnv): string | null {
  const [, printed = ''] = /ProfileImagePath\s+REG_(?:EXPAND_)?SZ\s+(.+?)\s*$/m.exec(text) ?? [];
  const folder = expanded(printed, env);
  const name = basename(folder).toLowerCase();
  const isOwn = name === serviceName || name.startsWith(`${serviceName}.`);
  return isOwn && isAbsolute(folder) ? folder : null;
}

/** `reg query` prints `%SystemDrive%` as it is stored. Windows ignores the case of names; a variable that is not set stays. */
function expanded(path: string, env: NodeJS.ProcessEnv): string {
  const variable = (name: string): string | undefined =>
    Object.entries(env).find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1];
  return path.replace(/%([^%]+)%/g, (all, name: string) => variable(name) ?? all);
}

import { basename, dirname } from 'node:path';
import type { Clock } from '../../clock.ts';
import { serviceName } from '../names.ts';
import { removeTree } from './files.ts';
import { sid, type WindowsMachine } from './inspect.ts';

/** Windows makes a profile for the virtual account at its first start, and leaves it when the service is deleted. */
const key = `HKLM\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\ProfileList\\${sid}`;

/**
 * Removes the profile of the account.
 * https://learn.microsoft.com/windows/win32/shell/about-user-profiles
 * @returns what could not be done, each a sentence.
 */
export async function removeProfile(
  { places, tools }: Pick<WindowsMachine, 'places' | 'tools'>,
  clock: Pick<Clock, 'sleep'>,
): Promise<string[]> {
  const { code, out } = await tools.ask('reg', ['query', key, '/v', 'ProfileImagePath', '/reg:64']);
  if (code !== 0) return [];
  const folder = profileIn(out);
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
export function profileIn(text: string): string | null {
  const [, folder = ''] = /ProfileImagePath\s+REG_(?:EXPAND_)?SZ\s+(.+?)\s*$/m.exec(text) ?? [];
  const name = basename(folder).toLowerCase();
  const isOwn = name === serviceName || name.startsWith(`${serviceName}.`);
  return isOwn && dirname(folder) !== folder ? folder : null;
}

import { existsSync } from 'node:fs';
import { readInstallationRecord } from '../installation-record.ts';
import { serviceName } from '../names.ts';
import type { Observed } from '../plan.ts';
import { contentOf, foldersIn, sumOf } from '../read-file.ts';
import type { UnitState } from '../system.ts';
import { admitsOnly, serviceSid } from './acl.ts';
import type { ControlManager } from './manager.ts';
import type { WindowsPlaces } from './places.ts';
import { commandScript, removerScript } from './scripts.ts';
import { folderIn } from './service-state.ts';
import type { Tools } from './tools.ts';

export const sid = serviceSid(serviceName);

/** A machine with Windows, as inspection and steps need it. */
export interface WindowsMachine {
  readonly places: WindowsPlaces;
  readonly tools: Tools;
  readonly manager: ControlManager;
}

/** What stands on this machine. `unit`: as `unit()` of the service manager returned it; null: it was not asked. */
export async function inspect({ places, tools, manager }: WindowsMachine, unit: UnitState | null): Promise<Observed> {
  const query = await manager.query();
  const folders = foldersIn(places.versions);
  const running = folderIn(query.imagePath, places.versions);
  const current = folders.find((folder) => folder.toLowerCase() === running?.toLowerCase()) ?? null;
  const definition = query.state === 'missing' ? null : sumOf(places.definition);
  return {
    current,
    folders,
    unit: definition,
    ownUnit: definition,
    isUnitEdited: false,
    configuration: sumOf(places.configuration),
    isGuarded: await isProtected(places.configuration, tools),
    keptConfiguration: sumOf(places.keptConfiguration),
    record: readInstallationRecord(places),
    account: await hasData(places, tools),
    remover: contentOf(places.remover)?.toString() === removerScript(),
    command: commandIn(places, current),
    service: {
      enabled: query.startType === 'automatic',
      active: unit?.active === 'active',
      isStale: false,
      isMasked: query.startType === 'disabled',
    },
  };
}

// assumption: windows-installer-permissions
/** What the account of the service needs: folders that it can write, and that no other user can. */
async function hasData({ data, state, cache, logs }: WindowsPlaces, tools: Tools): Promise<boolean> {
  // The permissions of the first are given last.
  return [state, cache, logs].every((folder) => existsSync(folder)) && (await isProtected(data, tools));
}

async function isProtected(path: string, tools: Tools): Promise<boolean> {
  if (!existsSync(path)) return false;
  const { code, out } = await tools.ask('host', ['--permissions', path]);
  return code === 0 && admitsOnly(out, sid);
}

/** `absent` also where it is the command of another version: then it is written again. */
function commandIn({ command }: WindowsPlaces, current: string | null): Observed['command'] {
  return current !== null && contentOf(command)?.toString() === commandScript(current) ? 'ours' : 'absent';
}

import { lstatSync, readlinkSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { readInstallationRecord } from '../installation-record.ts';
import { isReadOnly, nearestFolder } from '../nearest-folder.ts';
import type { Observed } from '../plan.ts';
import { contentOf, foldersIn, sumOf } from '../read-file.ts';
import type { UnitState } from '../system.ts';
import { commandTarget, type Places } from './places.ts';
import { removerScript } from './remover.ts';
import { unitFiles } from './unit-file.ts';
import { accountIn, ownUid } from './user.ts';

/** What stands on this machine. `unit`: as systemd sees it; null where it does not run, as in an image. */
export function inspect(places: Places, unit: UnitState | null): Observed {
  const folders = foldersIn(places.versions);
  const { read, own, isEdited, isMasked } = unitFiles(places, folders);
  return {
    current: currentFolder(places),
    folders,
    unit: read,
    ownUnit: own,
    isUnitEdited: isEdited,
    configuration: sumOf(places.configuration),
    isGuarded: isGuarded(places),
    keptConfiguration: sumOf(places.keptConfiguration),
    record: readInstallationRecord(places),
    account: accountIn(places) !== null,
    remover: contentOf(places.remover)?.toString() === removerScript(places),
    command: commandIn(places),
    service: {
      enabled:
        unit === null ? lstatSync(places.desired, { throwIfNoEntry: false }) !== undefined : unit.file === 'enabled',
      active: unit?.active === 'active',
      isStale: unit?.isStale ?? false,
      isMasked: unit?.file.startsWith('masked') ?? isMasked,
    },
  };
}

/** Root's to write, its group's to read. */
export const configurationRights = { folder: 0o750, file: 0o640 } as const;

/** A configuration may exist already, placed there by the configuration management of the machine. */
function isGuarded(places: Places): boolean {
  const gid = accountIn(places)?.gid;
  const has = (path: string, mode: number): boolean => {
    const { uid, gid: group, mode: rights = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    return uid === ownUid() && group === gid && (rights & 0o7777) === mode;
  };
  // In this order: without permission for the folder its uid is reported wrongly.
  return has(places.settings, configurationRights.folder) && has(places.configuration, configurationRights.file);
}

function commandIn(places: Places): Observed['command'] {
  const target = linkTarget(places.command);
  if (target === commandTarget(places)) return 'ours';
  if (lstatSync(places.command, { throwIfNoEntry: false }) !== undefined) return 'foreign';
  return isReadOnly(nearestFolder(dirname(places.command))) ? 'no-place' : 'absent';
}

function currentFolder({ current, versions }: Places): string | null {
  const target = linkTarget(current);
  if (target === null || dirname(target) !== basename(versions)) return null;
  const folder = basename(target);
  return foldersIn(versions).includes(folder) ? folder : null;
}

function linkTarget(path: string): string | null {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(path) : null;
}

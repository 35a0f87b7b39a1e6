import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isReadOnly, nearestFolder } from '../nearest-folder.ts';
import { sha256 } from '../package.ts';
import { removeEmpty } from '../remove-empty.ts';
import { fromRoot, type Places, unitName } from './places.ts';
import { makeFolder, removeFile, replaceFile, replaceLink } from './replace-file.ts';

/** The files that may be the unit. systemd reads the administrator's, else the installer's, else that of a .deb or .rpm. */
export interface UnitFiles {
  /** SHA-256 of the one that systemd reads; null: none. */
  readonly read: string | null;
  /** SHA-256 of the one that it reads without the administrator's; null: none. */
  readonly own: string | null;
  /** An administrator has written one, as `systemctl edit --full` does. It is never changed. */
  readonly isEdited: boolean;
  readonly isMasked: boolean;
}

/** `folders`: the versions that are installed. */
export function unitFiles(places: Places, folders: readonly string[]): UnitFiles {
  const { administratorUnit, unit, packagedUnit } = places;
  const inEtc = sumOf(administratorUnit);
  const isEdited = inEtc !== null && !isOurs(inEtc, places, folders);
  const below = sumOf(unit) ?? sumOf(packagedUnit);
  // Where an earlier installer wrote it, it has to move: there it would keep `systemctl mask` from working.
  const own = inEtc === null || isEdited ? below : hasOwnPlace(places) ? null : inEtc;
  return { read: inEtc ?? below, own, isEdited, isMasked: isMasked(administratorUnit) };
}

/** The path of the unit file that systemd reads, as others on the machine name it; null without one. */
export function unitPath(places: Places): string | null {
  const observed = [places.administratorUnit, places.unit, places.packagedUnit].find((path) => sumOf(path) !== null);
  return observed === undefined ? null : fromRoot(places, observed);
}

/**
 * Makes the unit of a version the one below the administrator's. Where the package manager has placed the same, its file does.
 * `folders`: the versions that are installed.
 */
export function placeUnit(places: Places, folder: string, folders: readonly string[]): void {
  const content = readFileSync(join(places.versions, folder, unitName));
  const { isEdited } = unitFiles(places, folders);
  const { unit, administratorUnit } = places;
  const isPackaged = sumOf(places.packagedUnit) === sha256(content);
  const place = isPackaged ? null : hasOwnPlace(places) ? unit : administratorUnit;
  if (place !== null && !(place === administratorUnit && isEdited)) {
    makeFolder(dirname(place));
    replaceFile(place, content, { mode: 0o644 });
  }
  if (place !== unit) removeOwn(places);
  if (place !== administratorUnit) removeMisplaced(places, isEdited);
  relink(places);
}

/** On some systems, as Flatcar, /usr/local is read-only. */
const hasOwnPlace = ({ unit }: Places): boolean => !isReadOnly(nearestFolder(dirname(unit)));

/** Removes what the installer has written; what the administrator or the package manager has, stays. */
export function removeUnit(places: Places, folders: readonly string[]): void {
  const { isEdited } = unitFiles(places, folders);
  removeFile(places.desired);
  removeOwn(places);
  removeMisplaced(places, isEdited);
}

/** The unit of a version that stands where administrators edit it; a mask there stays. */
function removeMisplaced({ administratorUnit }: Places, isEdited: boolean): void {
  if (!isEdited && sumOf(administratorUnit) !== null) removeFile(administratorUnit);
}

function removeOwn({ unit }: Places): void {
  removeFile(unit);
  for (const folder of [dirname(unit), dirname(dirname(unit))]) removeEmpty(folder);
}

/** The link that starts the service with the machine names the file, which may have moved. */
function relink(places: Places): void {
  const { desired } = places;
  if (!lstatSync(desired, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const path = unitPath(places);
  if (path !== null && readlinkSync(desired) !== path) replaceLink(desired, path);
}

/** A version's own, as an earlier installer wrote it there, or this one where /usr/local is read-only. */
const isOurs = (sum: string, { versions }: Places, folders: readonly string[]): boolean =>
  folders.some((folder) => sumOf(join(versions, folder, unitName)) === sum);

function isMasked(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true && readlinkSync(path) === '/dev/null';
}

function sumOf(path: string): string | null {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ? sha256(readFileSync(path)) : null;
}

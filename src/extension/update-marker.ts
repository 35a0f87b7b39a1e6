import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { serviceName } from '../service/names.ts';
import type { CommonPlaces } from '../service/system.ts';
import { isObject } from './handler-environment.ts';
import { replaceFile } from './replace-file.ts';

type Places = Pick<CommonPlaces, 'lock'>;

/**
 * Says that `update` has brought the service to the version of another handler, so that `uninstall` of the old handler, which the guest
 * agent runs next, keeps it. Beside the lock of the installer: on Linux it ends with the boot, after which the guest agent begins
 * the update again.
 */
const markerIn = ({ lock }: Places): string => join(dirname(lock), `${serviceName}-extension-update.json`);

/**
 * The guest agent needs seconds. An older marker was left by an update that was cut off: the next `uninstall` is a removal, and only the
 * time distinguishes the two.
 */
const validMs = 600_000;

/** The handler that the service belongs to from now on. */
export interface Owner {
  readonly version: string;
  readonly folder: string;
}

export function markUpdated(places: Places, { version, folder }: Owner, now: Date): void {
  const marker = markerIn(places);
  mkdirSync(dirname(marker), { recursive: true });
  replaceFile(marker, `${JSON.stringify({ version, folder, at: now.toISOString() })}\n`, 0o600);
}

export const forgetUpdate = (places: Places): void => rmSync(markerIn(places), { force: true });

/**
 * The version of the handler that an update has just handed the service to; null without an update. Null also where that handler is
 * gone: the guest agent removes its folder when the update is cut off, and may remove the extension next.
 */
export function updatedTo(places: Places, now: Date): string | null {
  const owner = ownerIn(places);
  return owner !== null && Math.abs(now.getTime() - owner.atMs) < validMs ? owner.version : null;
}

/** The same, however long ago that update was: the service is still as it was left by it. */
export const belongsTo = (places: Places): string | null => ownerIn(places)?.version ?? null;

function ownerIn(places: Places): { readonly version: string; readonly atMs: number } | null {
  try {
    const marker: unknown = JSON.parse(readFileSync(markerIn(places), 'utf8'));
    if (!isObject(marker)) return null;
    const { version, folder, at } = marker;
    if (typeof version !== 'string' || typeof folder !== 'string' || typeof at !== 'string') return null;
    return existsSync(join(folder, 'HandlerManifest.json')) ? { version, atMs: Date.parse(at) } : null;
  } catch {
    return null;
  }
}

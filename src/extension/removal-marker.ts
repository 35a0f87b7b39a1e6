import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * In the folder of a handler: its `uninstall` has begun. A command that began before, and whose guest agent was ended meanwhile, may still
 * wait for the lock of the installer, and must not install again what is being removed.
 */
const markerIn = (folder: string): string => join(folder, 'uninstalled');

/** Best effort: without it, the folder that the guest agent removes next says the same, a second later. */
export function markRemoved(folder: string): void {
  try {
    writeFileSync(markerIn(folder), '');
  } catch {
    // The folder is gone, or its disk is full.
  }
}

/** For a command that begins after the removal: the guest agent wants the handler again. */
export const forgetRemoval = (folder: string): void => rmSync(markerIn(folder), { force: true });

export const isRemoved = (folder: string): boolean =>
  existsSync(markerIn(folder)) || !existsSync(join(folder, 'HandlerManifest.json'));

import { readInstallationRecord } from './installation-record.ts';
import { placesIn } from './linux/places.ts';
import type { InstallationRecord } from './plan.ts';
import { foldersOf, windowsPlaces } from './windows/places.ts';

/** What was installed on this machine; null where no service is, or where this account may not see it. */
export function installationHere(): InstallationRecord | null {
  return readInstallationRecord(process.platform === 'win32' ? windowsPlaces(foldersOf(process.env)) : placesIn());
}

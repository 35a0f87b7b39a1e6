import { readInstallationRecord } from './installation-record.ts';
import { placesIn } from './linux/places.ts';
import type { InstallationRecord } from './plan.ts';

/** What was installed on this machine; null where no service is, or where this account may not see it. */
export const installationHere = (): InstallationRecord | null => readInstallationRecord(placesIn());

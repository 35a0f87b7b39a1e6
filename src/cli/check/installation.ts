import { readLedger } from '../../service/look.ts';
import { placesIn, serviceName } from '../../service/places.ts';
import type { Ledger } from '../../service/plan.ts';
import { type Finding, ok, warning } from './finding.ts';

/** Nothing where no service is installed on this machine, or where this account may not see it. */
export const checkInstallation = (): readonly Finding[] => installationFindings(readLedger(placesIn()));

export function installationFindings(ledger: Pick<Ledger, 'ready' | 'refused'> | null): readonly Finding[] {
  if (ledger === null) return [];
  const { ready, refused } = ledger;
  const what = 'installation.version';
  if (refused === null) return [ok(what, `Version ${ready.folder} was ready last, and no other one was wanted since.`)];
  return [
    warning(
      what,
      `Version ${refused.version} was to be installed, and ${ready.folder} was ready last: ${refused.because}`,
      `sudo ${serviceName} service status`,
    ),
  ];
}

import { ok, warning } from '../../check/finding.ts';
import { installationHere } from '../../service/here.ts';
import { serviceName } from '../../service/names.ts';
import type { InstallationRecord } from '../../service/plan.ts';
import type { Finding } from './finding.ts';

/** Nothing where no service is installed on this machine, or where this account may not see it. */
export const checkInstallation = (): readonly Finding[] => installationFindings(installationHere());

export function installationFindings(record: Pick<InstallationRecord, 'ready' | 'refused'> | null): readonly Finding[] {
  if (record === null) return [];
  const { ready, refused } = record;
  const what = 'installation.version';
  if (refused === null)
    return [ok(what, `Version ${ready.folder} was ready last, and no other was installed since then.`)];
  return [
    warning(
      what,
      `Version ${refused.version} was installed, but ${ready.folder} was ready last: ${refused.because}`,
      `sudo ${serviceName} service status`,
    ),
  ];
}

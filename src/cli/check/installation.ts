import { ok, warning } from '../../check/finding.ts';
import type { OperatingSystem } from '../../operating-system.ts';
import { installationHere } from '../../service/here.ts';
import type { InstallationRecord } from '../../service/plan.ts';
import type { CheckContext } from './context.ts';
import type { Finding } from './finding.ts';

/** Nothing where no service is installed on this machine, or where this account may not see it. */
export const checkInstallation = ({ system }: CheckContext): readonly Finding[] =>
  installationFindings(installationHere(), system);

export function installationFindings(
  record: Pick<InstallationRecord, 'ready' | 'refused'> | null,
  { bridge }: Pick<OperatingSystem, 'bridge'>,
): readonly Finding[] {
  if (record === null) return [];
  const { ready, refused } = record;
  const what = 'installation.version';
  if (refused === null)
    return [ok(what, `Version ${ready.folder} was ready last, and no other was installed since then.`)];
  return [
    warning(
      what,
      `Version ${refused.version} was installed, but ${ready.folder} was ready last: ${refused.because}`,
      bridge('service status'),
    ),
  ];
}

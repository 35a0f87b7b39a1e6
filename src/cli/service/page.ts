import { serviceName } from '../../service/names.ts';
import type { RefusedVersion } from '../../service/plan.ts';
import type { ServiceStatus } from '../../service/status.ts';
import type { Words } from '../../service/words.ts';

/** The text of `service status`. */
export function servicePage(status: ServiceStatus, words: Words): string {
  if (!status.installed) return 'The service is not installed here.\n';
  const { version, previous, service, enabled, configuration, isAsItWasReady, refused, editedUnit } = status;
  const lines = [
    `${serviceName} ${version}${previous === null ? '' : `, can roll back to ${previous}`}`,
    serviceLine(service, enabled, words),
    ...(refused === null ? [] : [refusedSentence(refused, version ?? '')]),
    ...(service?.message ? [`Status: ${service.message}`] : []),
    configurationLine(configuration, words),
    ...(editedUnit === null ? [] : [words.editedUnit(editedUnit)]),
    ...(isAsItWasReady !== false
      ? []
      : [
          'This is not the version that last became ready: an installation was interrupted, files were changed manually, or the service was not started since then. Install, configure or enable it again.',
        ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** Of the version that runs instead. */
export const refusedSentence = ({ version, because }: RefusedVersion, running: string): string =>
  `Version ${version} was installed but does not run: ${because} Install it again when that is fixed, or install ${running} to keep it.`;

function serviceLine(service: ServiceStatus['service'], enabled: boolean, { manager }: Words): string {
  const start = enabled ? 'starts at boot' : 'does not start at boot';
  if (service === null) return `${manager} does not run here; the service ${start}.`;
  const { active, sub, since, restarts } = service;
  const again = restarts === 0 ? '' : `, started again ${restarts} times`;
  return `The service is ${active} (${sub})${since === null ? '' : ` since ${since}`}${again}, and ${start}.`;
}

function configurationLine(
  { file, isThere, problems }: ServiceStatus['configuration'],
  { administrator, command, restartService }: Words,
): string {
  if (isThere === null)
    return `Configuration: ${file} (this user may not read it: run this command as ${administrator}).`;
  if (!isThere) return `Configuration: none. Write one to a file and run "${command} service configure --config FILE".`;
  const [first] = problems ?? [];
  return first === undefined
    ? `Configuration: ${file}.`
    : `Configuration: ${file} is wrong: ${first} Correct it, then "${restartService}".`;
}

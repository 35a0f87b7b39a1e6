import { serviceName } from '../names.ts';
import { Refusal } from '../refusals.ts';
import type { Words } from '../system.ts';
import type { WindowsPlaces } from './places.ts';

/** Commands are for PowerShell, where `sc` is another command than sc.exe. */
export const wordsOf = ({ command, log }: WindowsPlaces): Words => ({
  manager: 'Windows',
  administrator: 'an administrator',
  command: `& '${command}'`,
  program: command,
  showLog: `Get-Content -Tail 50 -Encoding UTF8 '${log}'; Get-WinEvent -ProviderName ${serviceName} -MaxEvents 20`,
  restart: `Restart-Service ${serviceName}`,
  masked: 'The start type of the service is Disabled',
  unmask: `run Set-Service ${serviceName} -StartupType Manual`,
  cannotStart: () =>
    new Refusal(
      'notDone',
      `The start type of the service is Disabled, so it cannot be started: run Set-Service ${serviceName} -StartupType Manual, then try again.`,
    ),
  // Windows has no second definition of a service.
  editedUnit: (path) => `${path} was kept.`,
  firewall: `Probably a firewall of this machine blocks it, perhaps by service: an administrator may get through while the account NT SERVICE\\${serviceName} does not (see: Get-NetFirewallRule -Direction Outbound -Action Block -Enabled True). The service keeps trying, so nothing needs to be installed again; "& '${command}' check" verifies the connection.`,
  endings,
});

/** The meaning of the exit codes of the bridge. */
const endings: Words['endings'] = {
  69: 'its Node.js is too old',
  75: 'another bridge holds its state directory',
  76: 'the outbox was written by a newer major version, which is the one to install',
  78: 'it finds its configuration wrong',
};

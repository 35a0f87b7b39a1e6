import { linux, type OperatingSystem, windows } from '../operating-system.ts';
import { commandTarget, type Places } from './linux/places.ts';
import { serviceName } from './names.ts';
import { Refusal } from './refusals.ts';
import type { WindowsPlaces } from './windows/places.ts';

/** What sentences of the installer call things on an operating system; `operating-system.ts` has what other messages name as well. */
export interface Words extends Pick<OperatingSystem, 'administrator' | 'restartService' | 'showServiceLog'> {
  /** The service manager. */
  readonly manager: string;
  /** What the operator types to run the bridge's command. */
  readonly command: string;
  /** The program itself, where there is no command. */
  readonly program: string;
  /** Why an administrator has to act before the service can be started, and how; before the end of a sentence. */
  readonly masked: string;
  readonly unmask: string;
  /** The refusal to start it for that reason. */
  readonly cannotStart: () => Refusal;
  /** Says that a unit an administrator has written is kept. */
  readonly editedUnit: (path: string) => string;
  /** How a firewall that blocks the metadata service is found, and how the connection is verified. */
  readonly firewall: string;
  /** The meaning of exit codes of the service, the bridge's and the service manager's; each completes "because …". */
  readonly endings: Readonly<Record<number, string>>;
}

/** The meaning of the exit codes of the bridge. */
const endings: Words['endings'] = {
  69: 'its Node.js is too old',
  75: 'another bridge holds its state directory',
  76: 'the outbox was written by a newer major version, which is the one to install',
  78: 'it finds its configuration wrong',
};

/** Those of systemd.exec(5). */
const endingsOfSystemd: Words['endings'] = {
  203: 'it cannot be executed: a file system mounted with noexec, or a security module',
  216: 'its group is missing',
  217: 'its account is missing',
  226: 'its sandbox cannot be created',
  238: 'its state directory cannot be created',
  239: 'its cache directory cannot be created',
};

const keepsTrying = 'The service keeps trying, so nothing needs to be installed again';

export const linuxWords = (places: Places): Words => ({
  ...linux,
  manager: 'systemd',
  command: serviceName,
  program: commandTarget(places),
  masked: 'The unit is masked',
  unmask: `run systemctl unmask ${serviceName}`,
  cannotStart: () =>
    new Refusal(
      'notDone',
      `The unit is masked, so it cannot be started: run systemctl unmask ${serviceName}, then try again.`,
    ),
  editedUnit: (path) =>
    `${path} is edited and was kept: systemd uses it instead of the unit of the package. "systemctl cat ${serviceName}" shows it, "systemctl revert ${serviceName}" restores that of the package.`,
  firewall: `Probably a firewall of this machine blocks it, perhaps by user: root may get through while the account ${serviceName} does not (see: iptables -S OUTPUT; nft list ruleset). ${keepsTrying}; "sudo -u ${serviceName} ${commandTarget(places)} check" verifies the connection.`,
  endings: { ...endings, ...endingsOfSystemd },
});

/** Commands are for PowerShell, where `sc` is another command than sc.exe. */
export const windowsWords = ({ command }: WindowsPlaces): Words => ({
  ...windows,
  manager: 'Windows',
  command: `& '${command}'`,
  program: command,
  masked: 'The start type of the service is Disabled',
  unmask: `run Set-Service ${serviceName} -StartupType Manual`,
  cannotStart: () =>
    new Refusal(
      'notDone',
      `The start type of the service is Disabled, so it cannot be started: run Set-Service ${serviceName} -StartupType Manual, then try again.`,
    ),
  // Windows has no second definition of a service.
  editedUnit: (path) => `${path} was kept.`,
  firewall: `Probably a firewall of this machine blocks it, perhaps by service: an administrator may get through while the account NT SERVICE\\${serviceName} does not (see: Get-NetFirewallRule -Direction Outbound -Action Block -Enabled True). ${keepsTrying}; "& '${command}' check" verifies the connection.`,
  endings,
});

import { join } from 'node:path';
import { serviceName } from '../names.ts';
import { Refusal } from '../refusals.ts';
import type { Words } from '../system.ts';
import { fromRoot, type Places } from './places.ts';

/** The command of the installed version, behind every link to it. */
export const commandTarget = (places: Places): string => fromRoot(places, join(places.current, serviceName));

export const wordsOf = (places: Places): Words => ({
  manager: 'systemd',
  administrator: 'root',
  command: serviceName,
  program: commandTarget(places),
  showLog: `journalctl -u ${serviceName}`,
  restart: `systemctl restart ${serviceName}`,
  masked: 'The unit is masked',
  unmask: `run systemctl unmask ${serviceName}`,
  cannotStart: () =>
    new Refusal(
      'notDone',
      `The unit is masked, so it cannot be started: run systemctl unmask ${serviceName}, then try again.`,
    ),
  editedUnit: (path) =>
    `${path} is edited and was kept: systemd uses it instead of the unit of the package. "systemctl cat ${serviceName}" shows it, "systemctl revert ${serviceName}" restores that of the package.`,
  firewall: `Probably a firewall of this machine blocks it, perhaps by user: root may get through while the account ${serviceName} does not (see: iptables -S OUTPUT; nft list ruleset). The service keeps trying, so nothing needs to be installed again; "sudo -u ${serviceName} ${commandTarget(places)} check" verifies the connection.`,
  endings,
});

/** The meaning of the exit codes of the bridge and of systemd.exec(5). */
const endings: Words['endings'] = {
  75: 'another bridge holds its state directory',
  76: 'the outbox was written by a newer major version, which is the one to install',
  78: 'it finds its configuration wrong',
  203: 'it cannot be executed: a file system mounted with noexec, or a security module',
  216: 'its group is missing',
  217: 'its account is missing',
  226: 'its sandbox cannot be created',
  238: 'its state directory cannot be created',
  239: 'its cache directory cannot be created',
};

import { serviceName } from '../names.ts';
import { Refusal } from '../refusals.ts';
import { lacksSpace } from '../space.ts';
import type { Need } from '../system.ts';
import { type Facts, neededPrograms } from './facts.ts';

/** Node 24 is built for it: Ubuntu 20.04, Debian 10, RHEL 8 have it. https://github.com/nodejs/node/blob/v24.x/BUILDING.md */
const oldestGlibc = '2.28';
/** Why it cannot be installed on this machine; null if it can. What cannot be fixed comes first. */
export function preflight(facts: Facts, { platform, bytes, starts }: Need): Refusal | null {
  const { operatingSystem, processor, glibc, programs } = facts;
  const here = `${operatingSystem}-${processor}`;
  const forbidden = forbids(facts);
  if (forbidden !== null) return forbidden;
  if (platform !== here) {
    return new Refusal(
      'unsupported',
      `The package is for ${platform}, and this machine is ${here}: use the package for ${here}.`,
    );
  }
  if (glibc === null) {
    return new Refusal(
      'unsupported',
      `This machine has no GNU C library (Alpine has musl), and the package needs glibc ${oldestGlibc} or newer: run the container image instead.`,
    );
  }
  if (isOlder(glibc, oldestGlibc)) {
    return new Refusal(
      'unsupported',
      `This machine has glibc ${glibc}, and the package needs ${oldestGlibc} or newer: Ubuntu 20.04, Debian 10, RHEL 8 or newer.`,
    );
  }
  if (facts.isArc) {
    return new Refusal(
      'unsupported',
      'This machine is connected by Azure Arc: Scheduled Events exist for Azure VMs only, so there is nothing to watch here.',
    );
  }
  if (!programs.includes('systemctl')) {
    return new Refusal(
      'unsupported',
      'This machine has no systemd (there is no program systemctl), which runs the service.',
    );
  }
  if (starts && !facts.isLive) {
    return new Refusal(
      'unsupported',
      'systemd does not run on this machine (there is no /run/systemd/system), so no service can be started. To prepare an image, install the package in it with --no-start.',
    );
  }
  const missing = neededPrograms.filter((program) => !programs.includes(program));
  if (missing.length > 0) {
    return new Refusal(
      'missing',
      `Programs are missing: ${missing.join(', ')}. Install the packages systemd and passwd (shadow-utils on Red Hat, SUSE and Azure Linux).`,
    );
  }
  if (facts.isStateLinked) {
    return new Refusal(
      'notDone',
      `/var/lib/${serviceName} is a symbolic link, and systemd refuses to start the service with it. Remove the link, create the folder and mount the other one there: mount --bind FOLDER /var/lib/${serviceName}, and add a line to /etc/fstab.`,
    );
  }
  return lacksSpace(facts, bytes, { versions: '/opt', state: `/var/lib/${serviceName}` });
}

/** Why this user may not manage the service here; null if it may. */
export function forbids({ operatingSystem, isRoot }: Pick<Facts, 'operatingSystem' | 'isRoot'>): Refusal | null {
  if (operatingSystem !== 'linux') {
    return new Refusal('unsupported', `The service can be installed on Linux only, and this is ${operatingSystem}.`);
  }
  return isRoot ? null : new Refusal('notDone', 'Only root may do this: run it with sudo.');
}

function isOlder(version: string, than: string): boolean {
  const [[major = 0, minor = 0], [wantedMajor = 0, wantedMinor = 0]] = [version, than].map((one) =>
    one.split('.').map(Number),
  ) as [number[], number[]];
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}

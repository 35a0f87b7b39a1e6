import { join } from 'node:path';
import { serviceName } from '../names.ts';

export const unitName = `${serviceName}.service`;

/** Where everything of an installation is. */
export type Places = ReturnType<typeof placesIn>;

/** `root` replaces `/`: tests and images use another. */
export function placesIn(root = '/') {
  const at = (...parts: readonly string[]): string => join(root, ...parts);
  const home = at('opt', serviceName);
  const settings = at('etc', serviceName);
  const units = at('etc/systemd/system');
  return {
    root,
    home,
    /** One folder per version: the present one and the one before. */
    versions: join(home, 'versions'),
    /** A link to the present version's folder. */
    current: join(home, 'current'),
    remover: join(home, 'remove.sh'),
    /** What ran last and was ready: see `InstallationRecord`. Readable by the service, and not by others: it has a hash of the configuration. */
    record: join(home, 'installed.json'),
    command: at('usr/local/bin', serviceName),
    /**
     * The unit, where it is not the one of a .deb or .rpm. Below /etc, so that `systemctl mask` and `systemctl edit --full` have
     * their place: https://www.freedesktop.org/software/systemd/man/latest/systemd.unit.html#Unit%20File%20Load%20Path
     */
    unit: at('usr/local/lib/systemd/system', unitName),
    /** The unit of a .deb or .rpm: the package manager's, never written here. */
    packagedUnit: at('usr/lib/systemd/system', unitName),
    /** Where an administrator edits or masks the unit; earlier installers wrote it there. */
    administratorUnit: join(units, unitName),
    /** Where `systemctl edit` puts what an administrator changes of the unit. */
    dropIns: join(units, `${unitName}.d`),
    /** The link that starts it with the machine. */
    desired: join(units, 'multi-user.target.wants', unitName),
    settings,
    configuration: join(settings, 'config.json'),
    /** A configuration to begin with, of a .deb or .rpm: the package manager's. */
    sample: join(settings, 'config.sample.json'),
    /** The configuration before, until the new one has proven itself. */
    keptConfiguration: join(settings, 'config.json.previous'),
    state: at('var/lib', serviceName),
    cache: at('var/cache', serviceName),
    lock: at('run', `${serviceName}-install.lock`),
    /** Where .deb and .rpm put the package: a package manager replaces files there, it never writes into them. */
    packaged: at('usr/lib', serviceName),
    passwd: at('etc/passwd'),
    group: at('etc/group'),
    /** There while systemd is process 1. */
    systemdRuns: at('run/systemd/system'),
    // assumption: install-arc
    /** The agent of Azure Arc, on machines outside of Azure. */
    arcAgent: at('opt/azcmagent/bin/himds'),
  } as const;
}

/** The path as seen on the machine, without the `root` that replaces `/` here. */
export const fromRoot = ({ root }: Places, place: string): string => join('/', place.slice(join(root, '/').length - 1));

/** The command of the installed version, behind every link to it. */
export const commandTarget = (places: Places): string => fromRoot(places, join(places.current, serviceName));

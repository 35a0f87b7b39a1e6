import { accessSync, constants, existsSync, lstatSync, statfsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { Places } from './linux/places.ts';
import { nearestFolder } from './nearest-folder.ts';

/** A configuration that was read and checked. `stateDirectory` is what it makes of that option. */
export type CheckedConfiguration =
  | { readonly problems: readonly string[]; readonly stateDirectory?: never }
  | { readonly stateDirectory: string; readonly problems?: never };

/** Whether the running service answered, which proves that it can write its state. `message` completes "because …". */
export type PingResult =
  | { readonly ok: true; readonly reach: Reach }
  | { readonly ok: false; readonly message: string };

/**
 * Whether the running service reaches the metadata service, as it reports itself: a firewall may admit root and not its account.
 * `waiting`: the first call, of up to two minutes, has not ended. `unreported`: its version has no such report.
 */
export type Reach =
  | { readonly kind: 'connected' | 'waiting' | 'unreported' }
  /** One sentence, with the address. */
  | { readonly kind: 'no-connection'; readonly reason: string };

/** The machine to install on, and what the installer takes from around it; a test gives its own. */
export interface Machine {
  readonly places: Places;
  /** `systemctl`, `useradd` and the others are searched in its PATH. */
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** Prints one sentence for the operator. */
  readonly say: (sentence: string) => void;
  /** Reads a configuration file as the service would. */
  readonly checkConfiguration: (file: string) => CheckedConfiguration;
  /** Has the service that runs write something into its state, and answer. */
  readonly ping: (stateDirectory: string) => Promise<PingResult>;
  readonly facts: () => Facts;
}

/** What decides whether it can run here. */
export interface Facts {
  readonly operatingSystem: NodeJS.Platform;
  readonly processor: string;
  readonly isRoot: boolean;
  /** Null: another C library than glibc. */
  readonly glibc: string | null;
  /** systemd is process 1. */
  readonly isLive: boolean;
  /** The programs that are in the path. */
  readonly programs: readonly string[];
  readonly isArc: boolean;
  /** Bytes, where the versions and where the state will be. */
  readonly freeForVersions: number;
  readonly freeForState: number;
  /** The state directory is a symbolic link, which systemd refuses when it starts the service (exit code 238). */
  readonly isStateLinked: boolean;
}

/** Programs that the installer, or the service itself, starts. */
export const neededPrograms = ['systemctl', 'systemd-notify', 'useradd'] as const;

/** Inspects the machine that this process runs on. */
export function factsOf(places: Places, env: NodeJS.ProcessEnv): Facts {
  return {
    operatingSystem: process.platform,
    processor: process.arch,
    isRoot: process.geteuid?.() === 0,
    glibc: glibcVersion(),
    isLive: existsSync(places.systemdRuns),
    programs: neededPrograms.filter((program) => isInPath(program, env)),
    isArc: existsSync(places.arcAgent),
    freeForVersions: freeBytesAt(places.home),
    freeForState: freeBytesAt(places.state),
    isStateLinked: lstatSync(places.state, { throwIfNoEntry: false })?.isSymbolicLink() ?? false,
  };
}

function glibcVersion(): string | null {
  // Else it asks for the names of all addresses, which may take as long as a name server likes.
  Object.assign(process.report, { excludeNetwork: true });
  const report = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime ?? null;
}

function isInPath(program: string, { PATH = '' }: NodeJS.ProcessEnv): boolean {
  return PATH.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}

/** Of the disk that it will be on. */
function freeBytesAt(path: string): number {
  const { bavail, bsize } = statfsSync(nearestFolder(path));
  return bavail * bsize;
}

import { accessSync, constants, existsSync, lstatSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type FreeSpace, freeBytesAt } from '../space.ts';
import type { Places } from './places.ts';

/** What decides whether it can run here. */
export interface Facts extends FreeSpace {
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

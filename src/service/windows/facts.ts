import { existsSync, lstatSync } from 'node:fs';
import { release } from 'node:os';
import { serviceName } from '../names.ts';
import { Refusal } from '../refusals.ts';
import { type FreeSpace, freeBytesAt, lacksSpace } from '../space.ts';
import type { Need } from '../system.ts';
import { sid } from './inspect.ts';
import { hostName, type WindowsPlaces } from './places.ts';
import type { Tools } from './tools.ts';

/** What decides whether it can run here. */
export interface WindowsFacts extends FreeSpace {
  readonly processor: string;
  /** As `10.0.20348`. */
  readonly release: string;
  /** Null: the service host, which is asked, does not run. */
  readonly isElevated: boolean | null;
  readonly isArc: boolean;
  /** A folder of the data that leads elsewhere; null without one. */
  readonly linked: string | null;
  /** A folder of the data that belongs to an ordinary user; null without one. */
  readonly foreign: string | null;
}

/** Inspects the machine that this process runs on. */
export async function windowsFacts(places: WindowsPlaces, tools: Tools): Promise<WindowsFacts> {
  const { code } = await tools.ask('host', ['--is-elevated']);
  return {
    processor: process.arch,
    release: release(),
    isElevated: code === 0 ? true : code === 1 ? false : null,
    isArc: existsSync(places.arcAgent),
    ...(await intrusionIn(places, tools)),
    freeForVersions: freeBytesAt(places.home),
    freeForState: freeBytesAt(places.state),
  };
}

// assumption: windows-installer-foreign-folder
/** Where an ordinary user could see or change data, having made a folder of it before: its owner can always change its permissions. */
async function intrusionIn(
  { data, state, cache, logs }: WindowsPlaces,
  tools: Tools,
): Promise<Pick<WindowsFacts, 'linked' | 'foreign'>> {
  const folders = [data, state, cache, logs];
  const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  const answers = await Promise.all(folders.map((path) => tools.ask('host', ['--is-trusted', path, sid])));
  return { linked: folders.find(isLink) ?? null, foreign: folders.find((_, at) => answers[at]?.code === 1) ?? null };
}

function intrusion({ linked, foreign }: Pick<WindowsFacts, 'linked' | 'foreign'>): Refusal | null {
  if (linked !== null) {
    return new Refusal(
      'notDone',
      `${linked} is a link to another folder: ${serviceName} does not follow it, since any user may create folders in ProgramData. Find out who created it, remove it, and try again.`,
    );
  }
  return foreign === null
    ? null
    : new Refusal(
        'notDone',
        `${foreign} belongs to another user: ${serviceName} does not use it, since its owner could change what the service reads. Find out who created it, remove it, and try again.`,
      );
}

/** @throws Refusal where an ordinary user has made one of the folders. */
export async function refuseIntrusion(places: WindowsPlaces, tools: Tools): Promise<void> {
  const found = intrusion(await intrusionIn(places, tools));
  if (found !== null) throw found;
}

/** Why this user may not manage the service here; null if it may. */
export function forbids({ isElevated }: Pick<WindowsFacts, 'isElevated'>): Refusal | null {
  if (isElevated === null) {
    return new Refusal(
      'missing',
      `${hostName} does not run from the folder of this program, and nothing can be installed without it. Run the program of a package or of the installed service; allow it where AppLocker, App Control or a virus scanner blocks it.`,
    );
  }
  return isElevated
    ? null
    : new Refusal('notDone', 'Only an administrator may do this: start PowerShell with "Run as administrator".');
}

/** Why it cannot be installed on this machine; null if it can. What cannot be fixed comes first. */
export function preflight(
  facts: WindowsFacts,
  { platform, bytes }: Need,
  { home, state }: Pick<WindowsPlaces, 'home' | 'state'>,
): Refusal | null {
  const here = `win-${facts.processor}`;
  const forbidden = forbids(facts);
  if (forbidden !== null) return forbidden;
  if (platform !== here) {
    return new Refusal(
      'unsupported',
      `The package is for ${platform}, and this machine is ${here}: use the package for ${here}.`,
    );
  }
  // Node 24 needs it: https://github.com/nodejs/node/blob/v24.x/BUILDING.md#platform-list
  if (!(Number.parseInt(facts.release, 10) >= 10)) {
    return new Refusal(
      'unsupported',
      `This machine has Windows ${facts.release}, and the package needs Windows Server 2016, Windows 10 or newer.`,
    );
  }
  if (facts.isArc) {
    return new Refusal(
      'unsupported',
      'This machine is connected by Azure Arc: Scheduled Events exist for Azure VMs only, so there is nothing to watch here.',
    );
  }
  return intrusion(facts) ?? lacksSpace(facts, bytes, { versions: home, state });
}

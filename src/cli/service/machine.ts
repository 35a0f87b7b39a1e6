import { delimiter } from 'node:path';
import { systemClock } from '../../clock.ts';
import { platformPaths, readConfigFile } from '../../config/config-file.ts';
import { readConfig } from '../../config/read-config.ts';
import { messageOf } from '../../log.ts';
import { askService } from '../../outbox/control/client.ts';
import { pingRequest, reachIn } from '../../requests/ping.ts';
import { placesIn } from '../../service/linux/places.ts';
import { linuxSystem } from '../../service/linux/system.ts';
import type { CheckedConfiguration, Machine, PingResult } from '../../service/machine.ts';
import type { System } from '../../service/system.ts';
import { foldersOf, windowsPlaces } from '../../service/windows/places.ts';
import { windowsSystem } from '../../service/windows/system.ts';
import { programsOf } from '../../service/windows/tools.ts';
import { asOwner } from '../as-owner.ts';
import type { CommandContext } from '../command-context.ts';

/** Where `useradd` and the others are. The path of a user, which `su` keeps, and those of some agents name only a part of it. */
const systemFolders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** The machine that this process runs on. */
export function thisMachine({ env: given, print }: CommandContext): Machine {
  return {
    system: process.platform === 'win32' ? thisWindows(given) : thisLinux(given),
    clock: systemClock,
    say: (sentence) => print(`${sentence}\n`),
    checkConfiguration: (file) => checkConfiguration(file, process.platform, given),
    ping,
  };
}

function thisLinux(given: NodeJS.ProcessEnv): System {
  return linuxSystem({ places: placesIn(), env: { ...given, PATH: pathOf(given) } });
}

function thisWindows(env: NodeJS.ProcessEnv): System {
  return windowsSystem({
    places: windowsPlaces(foldersOf(env)),
    programs: programsOf(env),
    env,
    clock: systemClock,
  });
}

/** The path of the operator, and what it lacks of the system's. */
export function pathOf({ PATH }: NodeJS.ProcessEnv): string {
  // An empty entry means the working directory.
  const path = PATH?.split(delimiter).filter((folder) => folder !== '') ?? [];
  return [...path, ...systemFolders.filter((folder) => !path.includes(folder))].join(delimiter);
}

/**
 * Reads a configuration as the service will: without the environment of this command, and from a file that others cannot read,
 * regardless of the permissions of its source.
 */
export function checkConfiguration(
  file: string,
  platform: NodeJS.Platform = 'linux',
  env: NodeJS.ProcessEnv = {},
): CheckedConfiguration {
  const read = readConfigFile(file, platform);
  if (read.kind === 'absent') return { problems: ['there is no such file.'] };
  if (read.kind === 'problem') return { problems: [read.problem] };
  const { stateDirectory: defaultStateDirectory } = platformPaths(platform, env);
  const { config, problems } = readConfig({
    documents: [{ ...read.document, keepsSecrets: true }],
    env: {},
    defaultStateDirectory,
  });
  return config ? { stateDirectory: config.stateDirectory } : { problems };
}

/** The service checks its requests at least every five seconds, also while a first answer of Azure takes two minutes. */
const answerMs = 20_000;

/** Asks as the owner of the state: root must not follow a link that the service account may have created there. */
async function ping(directory: string): Promise<PingResult> {
  // An impatient operator must not make a service appear stuck.
  const { signal } = new AbortController();
  try {
    const asked = await asOwner(directory, () =>
      askService(directory, pingRequest, null, { timeoutMs: answerMs, signal, clock: systemClock }),
    );
    // An older version answers that it does not know the request, which proves the same.
    if (asked.answered) return { ok: true, reach: reachIn(asked.answer) };
    return { ok: false, message: why[asked.why](directory) };
  } catch (error) {
    return {
      ok: false,
      message: `its state in ${directory} cannot be written: ${messageOf(error)}`,
    };
  }
}

const why = {
  'no-outbox': (directory: string) => `it has created no outbox in ${directory}, so it cannot write there`,
  'no-service': (directory: string) => `it does not hold ${directory}, so it cannot write there`,
  'no-answer': () => `it has not answered for ${answerMs / 1000} s: its loop or its disk is stuck`,
} as const;

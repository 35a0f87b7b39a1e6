import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { isSameBuild } from '../package.ts';
import type { runProgram } from '../program.ts';
import { foldersIn } from '../read-file.ts';
import type { System } from '../system.ts';
import { windowsWords } from '../words.ts';
import { forbids, preflight, type WindowsFacts, windowsFacts } from './facts.ts';
import { inspect } from './inspect.ts';
import { createManager } from './manager.ts';
import { hostName, type WindowsPlaces } from './places.ts';
import { remove } from './remove.ts';
import { perform } from './steps.ts';
import { createTools, type Programs } from './tools.ts';

interface WindowsOptions {
  readonly places: WindowsPlaces;
  readonly programs: Programs;
  readonly env: NodeJS.ProcessEnv;
  /** Runs the programs; a test has its own. */
  readonly run?: typeof runProgram;
  readonly clock: Clock;
  /** What a test says of the machine. */
  readonly facts?: Partial<WindowsFacts>;
}

/** A machine with Windows. */
export function windowsSystem({ places, programs, env, run, clock, facts = {} }: WindowsOptions): System {
  const otherHosts = (): string[] => foldersIn(places.versions).map((one) => join(places.versions, one, hostName));
  const tools = createTools(programs, { env, ...(run && { run }), otherHosts });
  const manager = createManager(places, tools, clock);
  const machine = { places, tools, manager, env, clock };
  return {
    places,
    words: windowsWords(places),
    manager,
    administratorUnit: null,
    async conditions() {
      const found = { ...(await windowsFacts(places, tools)), ...facts };
      return {
        platform: `win-${found.processor}`,
        // Windows always runs.
        isLive: found.isElevated !== null,
        isAdministrator: found.isElevated === true,
        forbidden: forbids(found),
        unfitFor: (need) => preflight(found, need, places),
      };
    },
    inspect: (unit) => inspect(machine, unit),
    isPlaced: isSameBuild,
    perform: (step, material) => perform(step, machine, material),
    remove: (kept) => remove(machine, kept),
    named: (place) => place,
  };
}

import type { System } from '../system.ts';
import { linuxWords } from '../words.ts';
import { isPlaced, perform } from './apply.ts';
import { type Facts, factsOf } from './facts.ts';
import { inspect } from './inspect.ts';
import { fromRoot, type Places } from './places.ts';
import { forbids, preflight } from './preflight.ts';
import { remove } from './remove.ts';
import { createSystemd } from './systemd.ts';

interface LinuxOptions {
  readonly places: Places;
  /** `systemctl`, `useradd` and the others are searched in its PATH. */
  readonly env: NodeJS.ProcessEnv;
  readonly facts?: () => Facts;
}

/** A machine with Linux and systemd. */
export function linuxSystem({ places, env, facts = () => factsOf(places, env) }: LinuxOptions): System {
  const systemd = createSystemd(env);
  return {
    places,
    words: linuxWords(places),
    manager: systemd,
    administratorUnit: fromRoot(places, places.administratorUnit),
    async conditions() {
      const found = facts();
      return {
        platform: `${found.operatingSystem}-${found.processor}`,
        isLive: found.isLive && found.programs.includes('systemctl'),
        isAdministrator: found.isRoot,
        forbidden: forbids(found),
        unfitFor: (need) => preflight(found, need),
      };
    },
    inspect: async (unit) => inspect(places, unit),
    isPlaced,
    perform: (step, material) => perform(step, { places, env, systemd }, material),
    remove: (kept) => remove({ places, env, systemd, facts: facts() }, kept),
    named: (place) => fromRoot(places, place),
  };
}

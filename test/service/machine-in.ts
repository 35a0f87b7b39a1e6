import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkConfiguration } from '../../src/cli/service/machine.ts';
import type { Clock } from '../../src/clock.ts';
import type { Facts } from '../../src/service/linux/facts.ts';
import { placesIn } from '../../src/service/linux/places.ts';
import { linuxSystem } from '../../src/service/linux/system.ts';
import type { Machine, Reach } from '../../src/service/machine.ts';

interface MachineOptions {
  readonly root: string;
  /** The stand-in programs are in its PATH. */
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly facts?: Partial<Facts>;
  readonly say?: (sentence: string) => void;
  readonly reach?: () => Reach;
}

/** A machine in a folder. Its service answers while the stand-in of systemd says that it holds its state. */
export const machineIn = ({ root, env, clock, facts, say = () => {}, reach }: MachineOptions): Machine => ({
  system: linuxSystem({ places: placesIn(root), env, facts: () => ({ ...fitFacts, ...facts }) }),
  clock,
  say,
  checkConfiguration,
  ping: async (stateDirectory) =>
    existsSync(join(stateDirectory, 'held'))
      ? { ok: true, reach: reach?.() ?? { kind: 'connected' } }
      : { ok: false, message: 'it takes no question' },
});

export const fitFacts: Facts = {
  operatingSystem: 'linux',
  processor: 'x64',
  isRoot: true,
  glibc: '2.36',
  isLive: true,
  programs: ['systemctl', 'systemd-notify', 'useradd'],
  isArc: false,
  freeForVersions: 2 ** 40,
  freeForState: 2 ** 40,
  isStateLinked: false,
};

/** As on a busy machine, where a wait takes longer: each poll of the service starts a program, so there should be few. */
const shortestSleepMs = 2_500;

/** Waiting takes no time, and yet time passes. */
export function quickClock(): Clock {
  let passed = 0;
  return {
    now: () => new Date(Date.UTC(2026, 0, 1, 12) + passed),
    monotonicMs: () => passed,
    async sleep(ms) {
      passed += Math.max(ms, shortestSleepMs);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

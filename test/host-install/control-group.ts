import { mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where control groups are mounted: one place, or one for each controller of version 1 as well. */
export const hierarchies = (): readonly string[] => mountsOf('cgroup', 'cgroup2');

function mountsOf(...types: readonly string[]): string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n');
  return lines
    .filter((line) => types.some((type) => line.includes(` - ${type} `)))
    .map((line) => line.split(' ')[4] ?? '');
}

/** In the hierarchy of version 2, wherever it is mounted. @throws Error when none exists or none is writable. */
export function makeControlGroup(name: string): string {
  const [root] = mountsOf('cgroup2');
  if (root === undefined) throw new Error('no control groups of version 2 are mounted');
  const group = join(root, name);
  mkdirSync(group, { recursive: true });
  return group;
}

/** No process is in it, nor in a group of it. */
export const isEmpty = (group: string): boolean =>
  readFileSync(join(group, 'cgroup.events'), 'utf8').includes('populated 0');

/** Removes a group with those in it. False: a process of them has not ended yet. */
export function isGone(group: string): boolean {
  try {
    for (const path of readdirSync(group, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name))
      .toSorted((a, b) => b.length - a.length)) {
      rmdirSync(path);
    }
    rmdirSync(group);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EBUSY') return false;
    throw error;
  }
}

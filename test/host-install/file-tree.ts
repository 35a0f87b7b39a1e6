import type { BootedMachine } from './booted-machine.ts';

/** What changes on every machine by itself, and what a package manager remembers of what was there. */
const restless = [
  '/media',
  '/srv',
  '/root',
  '/var/log',
  '/var/lib/dpkg',
  '/var/lib/rpm',
  '/var/lib/systemd',
  '/var/cache/ldconfig',
];

/**
 * Every file, folder and link on the disk of a machine: rights, owner, target, and the content of what is in /etc, except for the
 * copies of the accounts before that `useradd` leaves, as `passwd-`. Sorted.
 */
export async function treeOf({ ok }: BootedMachine): Promise<string[]> {
  const pruned = restless.map((path) => `-path ${path}`).join(' -o ');
  const listed = await ok(`find / -xdev \\( ${pruned} \\) -prune -o -printf '%p %y %m %U:%G %l\\n'`);
  const contents = await ok("find /etc -xdev -type f ! -name '*-' -exec sha256sum {} +");
  return [...listed.split('\n'), ...contents.split('\n')].map((line) => line.trim()).toSorted();
}

/** Lines that are only in one of the two: `+` in the later. */
export function changes(before: readonly string[], after: readonly string[]): string[] {
  const [old, now] = [new Set(before), new Set(after)];
  return [
    ...before.filter((line) => !now.has(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !old.has(line)).map((line) => `+ ${line}`),
  ];
}

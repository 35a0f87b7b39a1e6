/** For what a run makes outside of its own folder: with the number of the process that answers for it. */
export const ownName = (what: string): string => `host-tests-${process.pid}-${what}`;

/** That number; null when the name belongs to something else. */
export function ownerOf(name: string): number | null {
  const [, pid] = /^host-tests-(\d+)-/.exec(name) ?? [];
  return pid === undefined ? null : Number(pid);
}

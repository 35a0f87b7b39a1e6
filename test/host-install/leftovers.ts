import { existsSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hierarchies, isGone } from './control-group.ts';
import { cache } from './image.ts';
import { ownerOf } from './own-name.ts';

/**
 * Removes what a run has left that was killed: its files, and the control groups of its machines. The kernel has ended what ran in
 * them together with the run.
 */
export function removeLeftovers(): void {
  for (const path of left(tmpdir(), cache)) rmSync(path, { recursive: true, force: true });
  for (const group of left(...hierarchies())) isGone(group);
}

/** What finished runs left in these folders. */
const left = (...folders: readonly string[]): string[] =>
  folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => {
          const owner = ownerOf(name);
          return owner !== null && !isAlive(owner);
        })
        .map((name) => join(folder, name)),
    );

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // A process of another user is alive as well.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

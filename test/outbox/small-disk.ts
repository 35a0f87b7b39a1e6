import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real file system of a few megabytes, which can be filled and made read-only. */
export interface SmallDisk extends Disposable {
  readonly path: string;
  /** Leaves this many bytes free. */
  fill(free?: number): void;
  empty(): void;
  mount(how: 'ro' | 'rw'): void;
  /** Changes its size, so that this many bytes are free. */
  resize(free: number): void;
}

/** `inodes`: how many files and folders it takes; default: as many as there is space for. */
export function mountSmallDisk(megabytes: number, inodes?: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'small-disk-'));
  execFileSync(
    'mount',
    ['-t', 'tmpfs', '-o', `size=${megabytes}m${inodes === undefined ? '' : `,nr_inodes=${inodes}`}`, 'tmpfs', path],
    { stdio: 'pipe' },
  );
  const filler = join(path, 'filler');
  return {
    path,
    fill(free = 0) {
      rmSync(filler, { force: true });
      const { bavail, bsize } = statfsSync(path);
      writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - free)));
    },
    empty: () => rmSync(filler, { force: true }),
    mount: (how) => execFileSync('mount', ['-o', `remount,${how}`, path], { stdio: 'pipe' }),
    resize(free) {
      for (let tries = 5; tries > 0; tries -= 1) {
        const { blocks, bfree, bsize } = statfsSync(path);
        const size = (blocks - bfree) * bsize + Math.floor(free);
        // Refused where more was written meanwhile than it would hold.
        const { status } = spawnSync('mount', ['-o', `remount,size=${size}`, path]);
        if (status === 0) return;
      }
      throw new Error(`${path} cannot be resized`);
    },
    [Symbol.dispose]() {
      execFileSync('umount', ['-l', path], { stdio: 'pipe' });
      rmdirSync(path);
    },
  };
}

/** Why no disk can be mounted here, or null. */
export function whyNoMount(): string | null {
  try {
    mountSmallDisk(1)[Symbol.dispose]();
    return null;
  } catch (error) {
    return (error as Error).message.trim();
  }
}

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface PrivateDiskOptions {
  readonly megabytes: number;
  /** Of a disk in memory; default: as many as it has space for. */
  readonly inodes?: number;
  /** `ext4` is in a file, and can be frozen; default: in memory. */
  readonly type?: 'tmpfs' | 'ext4';
}

/**
 * A file system in a mount namespace of its own, which a process holds. It is gone when that process ends, and that ends with this one,
 * so that a test that is killed leaves no mount.
 */
export class PrivateDisk {
  /** As the processes inside name it. */
  readonly path: string;
  /** The same folder for this process, which is outside. */
  readonly outside: string;
  /** A command with this in front of it runs inside. */
  readonly enter: readonly string[];
  readonly #holder: ChildProcess;

  private constructor(path: string, holder: ChildProcess) {
    this.path = path;
    this.outside = `/proc/${holder.pid}/root${path}`;
    this.enter = ['nsenter', '--target', String(holder.pid), '--mount', '--'];
    this.#holder = holder;
  }

  static async open(path: string, options: PrivateDiskOptions): Promise<PrivateDisk> {
    mkdirSync(path, { recursive: true });
    const script = `${mountCommand(path, options)} && echo mounted && exec cat`;
    const holder = spawn('unshare', ['--mount', 'sh', '-c', script], { stdio: ['pipe', 'pipe', 'pipe'] });
    const said = await Promise.race([once(holder.stdout, 'data'), once(holder.stderr, 'data'), once(holder, 'exit')]);
    if (String(said[0]).trim() !== 'mounted') throw new Error(`no disk could be mounted: ${said[0]}`);
    return new PrivateDisk(path, holder);
  }

  /** Takes all the space that is free, beside what it took before. */
  fill(): void {
    const piece = Buffer.alloc(2 ** 20);
    const free = (): number => {
      const { bavail, bsize } = statfsSync(this.outside);
      return bavail * bsize;
    };
    try {
      for (let left = free(); left > 0; left = free())
        appendFileSync(join(this.outside, 'filler'), piece.subarray(0, Math.min(left, piece.length)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }

  empty(): void {
    rmSync(join(this.outside, 'filler'), { force: true });
  }

  /** Takes all inodes that are free. */
  fillInodes(): void {
    const folder = join(this.outside, 'files');
    try {
      mkdirSync(folder, { recursive: true });
      for (let n = readdirSync(folder).length; ; n += 1) writeFileSync(join(folder, String(n)), '');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }

  emptyInodes(): void {
    rmSync(join(this.outside, 'files'), { recursive: true, force: true });
  }

  remount(how: 'ro' | 'rw'): void {
    execFileSync(this.enter[0] ?? '', [...this.enter.slice(1), 'mount', '-o', `remount,${how}`, this.path]);
  }

  /**
   * Every write and every flush waits until so much time has passed. It thaws by itself, even if this process has ended. Until then this
   * process must not touch the disk.
   */
  async freeze(seconds: number): Promise<void> {
    const script = `trap '' INT TERM; mountpoint -q "$0" && fsfreeze -f "$0" && sleep ${seconds} && fsfreeze -u "$0"`;
    const [program = '', ...rest] = this.enter;
    const child = spawn(program, [...rest, 'sh', '-c', script, this.path], { stdio: 'ignore' });
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`the disk could not be frozen (exit code ${code})`);
  }

  async close(): Promise<void> {
    const ended = once(this.#holder, 'exit');
    this.#holder.kill('SIGKILL');
    await ended;
  }
}

function mountCommand(path: string, { megabytes, inodes, type = 'tmpfs' }: PrivateDiskOptions): string {
  const limit = inodes === undefined ? '' : `,nr_inodes=${inodes}`;
  if (type === 'tmpfs') return `mount -t tmpfs -o size=${megabytes}m${limit} tmpfs ${path}`;
  const image = join(dirname(path), 'disk.img');
  return `truncate -s ${megabytes}M ${image} && mkfs.ext4 -q ${image} && mount -o loop ${image} ${path}`;
}

/** Why no file system can be mounted here, or null. */
export function whyNoPrivateDisk(): string | null {
  if (process.getuid?.() !== 0) return 'only root can mount a disk';
  const { status, error, stderr } = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], {
    encoding: 'utf8',
  });
  return status === 0 ? null : `no disk can be mounted in a namespace (${error?.message ?? stderr.trim()})`;
}

/** Why no disk can be frozen here, or null: it needs a loop device. */
export function whyNoFreeze(): string | null {
  const missing = ['mkfs.ext4', 'fsfreeze'].find((name) => spawnSync(name, ['-V']).error);
  if (missing !== undefined) return `there is no ${missing}`;
  return spawnSync('losetup', ['--find']).status === 0 ? null : 'there is no loop device';
}

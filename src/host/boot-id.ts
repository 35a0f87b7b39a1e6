import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { valueIn } from './registry.ts';

/** Two readings of "now minus uptime" of one boot differ by less: both clocks are adjusted while they run. */
const sameBootMs = 120_000;

const prefetchParameters =
  'HKLM\\SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Memory Management\\PrefetchParameters';

export interface BootIdOptions {
  readonly platform: NodeJS.Platform;
  /** Replaces `/`. */
  readonly root: string;
  readonly clock: Clock;
  /** As a process before this one read it. */
  readonly stored: string | null;
  /** Output of `reg query KEY /v VALUE`. Throws when it cannot be had. */
  readonly queryRegistry?: (key: string, value: string) => string;
  readonly uptimeSeconds?: () => number;
}

/** Something that is equal within one boot of this machine and differs between two; null when it cannot be had. */
export function readBootId(options: BootIdOptions): string | null {
  if (options.platform === 'linux') return readLinuxBootId(options.root);
  if (options.platform === 'win32') return readWindowsBootId(options);
  return null;
}

/** https://man7.org/linux/man-pages/man5/proc_sys_kernel.5.html */
function readLinuxBootId(root: string): string | null {
  try {
    const text = readFileSync(join(root, 'proc/sys/kernel/random/boot_id'), 'utf8').trim().toLowerCase();
    return /^[0-9a-f-]{32,36}$/.test(text) ? text : null;
  } catch {
    return null;
  }
}

/** Windows counts its boots for the prefetcher. Where it does not, the time of the boot has to do. */
function readWindowsBootId(options: BootIdOptions): string | null {
  const { queryRegistry = queryNow } = options;
  try {
    const count = valueIn(queryRegistry(prefetchParameters, 'BootId'), 'BootId');
    if (count !== null && /^0x[0-9a-f]+$/i.test(count)) return `windows-boot-${Number.parseInt(count, 16)}`;
  } catch {
    // No such value, or no permission: fall through.
  }
  return bootTimeId(options);
}

/** The stored id is kept while it denotes the same boot, so that equal boots have equal ids. */
function bootTimeId({ clock, stored, uptimeSeconds = uptime }: BootIdOptions): string | null {
  const bootedAt = clock.now().getTime() - uptimeSeconds() * 1000;
  if (!Number.isFinite(bootedAt)) return null;
  const storedAt = Date.parse(/^booted-at-(.+)$/.exec(stored ?? '')?.[1] ?? '');
  if (stored !== null && Math.abs(bootedAt - storedAt) <= sameBootMs) return stored;
  return `booted-at-${new Date(bootedAt).toISOString()}`;
}

const queryNow = (key: string, value: string): string =>
  execFileSync('reg', ['query', key, '/v', value], { encoding: 'utf8', timeout: 5000, windowsHide: true });

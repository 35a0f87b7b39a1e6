import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';

/** Two readings of "now minus uptime" of one boot differ by less: both clocks are adjusted while they run. */
const sameBootMs = 120_000;

export interface BootIdOptions {
  readonly platform: NodeJS.Platform;
  /** Replaces `/`. */
  readonly root: string;
  readonly clock: Clock;
  /** As a process before this one read it. */
  readonly stored: string | null;
  readonly uptimeSeconds?: () => number;
}

/** Something that is equal within one boot of this machine and differs between two; null when it cannot be had. */
export function readBootId(options: BootIdOptions): string | null {
  if (options.platform === 'linux') return readLinuxBootId(options.root);
  if (options.platform === 'win32') return bootTimeId(options);
  return null;
}

// assumption: host-boot-id
/** https://man7.org/linux/man-pages/man5/proc_sys_kernel.5.html */
function readLinuxBootId(root: string): string | null {
  try {
    const text = readFileSync(join(root, 'proc/sys/kernel/random/boot_id'), 'utf8').trim().toLowerCase();
    return /^[0-9a-f-]{32,36}$/.test(text) ? text : null;
  } catch {
    return null;
  }
}

// assumption: windows-boot-time
/**
 * Windows has no id of a boot. Its time is calculated from the milliseconds since then (GetTickCount64), which include sleep and hibernation: memory
 * survives both, so neither counts as a boot. Not the registry's PrefetchParameters\\BootId: it is documented nowhere, and
 * belongs to the prefetcher, which may be off. The stored id is kept while it denotes the same boot, so that equal boots have equal ids.
 * https://learn.microsoft.com/windows/win32/api/sysinfoapi/nf-sysinfoapi-gettickcount64
 */
function bootTimeId({ clock, stored, uptimeSeconds = uptime }: BootIdOptions): string | null {
  const bootedAt = clock.now().getTime() - uptimeSeconds() * 1000;
  if (!Number.isFinite(bootedAt)) return null;
  const storedAt = Date.parse(/^booted-at-(.+)$/.exec(stored ?? '')?.[1] ?? '');
  if (stored !== null && Math.abs(bootedAt - storedAt) <= sameBootMs) return stored;
  return `booted-at-${new Date(bootedAt).toISOString()}`;
}

import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join, win32 } from 'node:path';
import type { Clock } from '../clock.ts';
import { valueInPool } from './key-value-pool.ts';
import { valueIn } from './registry.ts';

/** The one spelling that is compared: another key of the same host, in another form, would be mistaken for a move. */
const hostKey = 'PhysicalHostNameFullyQualified';
const guestParameters = 'HKLM\\SOFTWARE\\Microsoft\\Virtual Machine\\Guest\\Parameters';

/**
 * How old a reading of the registry may become. Each starts a process, which programs that watch over a machine log one by one:
 * 17,000 a day would be too many, and only while an impact may come does the time of a move matter.
 */
const calmMs = 60_000;
const impactMs = 5_000;

export interface PhysicalHostOptions {
  readonly platform: NodeJS.Platform;
  /** Replaces `/`. */
  readonly root: string;
  readonly clock: Clock;
  /** Output of `reg query KEY /v VALUE`, null when it cannot be had. */
  readonly queryRegistry?: (key: string, value: string) => Promise<string | null>;
}

export interface PhysicalHost {
  /** The name as last read. Cheap enough for each poll; never blocks on Windows, where it may be a minute old. */
  read(): string | null;
  /** While an impact may come, a reading on Windows gets 5 s old at most. */
  watch(on: boolean): void;
}

// assumption: host-physical-name, windows-physical-host
/**
 * The physical machine under this VM, as the hypervisor reports it; null if it does not, which is common. Two
 * different names in a row prove that the VM was moved.
 */
export function createPhysicalHost(options: PhysicalHostOptions): PhysicalHost {
  if (options.platform === 'win32') return fromRegistry(options);
  const isLinux = options.platform === 'linux';
  return {
    read: isLinux ? fromPool(join(options.root, 'var/lib/hyperv/.kvp_pool_3')) : () => null,
    watch: () => {},
  };
}

/** Read again when the file changed. It is stamped before it is read, so what is written meanwhile is read the next time. */
function fromPool(file: string): () => string | null {
  let read: { readonly stamp: string; readonly host: string | null } = { stamp: '', host: null };
  return () => {
    try {
      // An error for each poll of a machine without the file would cost a tenth of a poll.
      const stat = statSync(file, { throwIfNoEntry: false });
      const stamp = stat === undefined ? '' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
      if (stat === undefined) read = { stamp, host: null };
      if (stamp !== read.stamp) read = { stamp, host: valueInPool(readFileSync(file), hostKey) };
    } catch {
      read = { stamp: '', host: null };
    }
    return read.host;
  };
}

function fromRegistry({ clock, queryRegistry = queryInBackground }: PhysicalHostOptions): PhysicalHost {
  let host: string | null = null;
  let everyMs = calmMs;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let isAsking = false;

  const ask = async (): Promise<void> => {
    isAsking = true;
    askedAtMs = clock.monotonicMs();
    const output = await queryRegistry(guestParameters, hostKey);
    host = output === null ? null : valueIn(output, hostKey);
    isAsking = false;
  };

  const read = (): string | null => {
    if (!isAsking && clock.monotonicMs() - askedAtMs >= everyMs) void ask();
    return host;
  };
  read();
  return {
    read,
    watch(on) {
      everyMs = on ? impactMs : calmMs;
    },
  };
}

/** By its path: Windows looks for a program in the current folder first, where another one may be. */
const regProgram = win32.join(process.env.SystemRoot ?? 'C:\\Windows', 'System32\\reg.exe');

const queryInBackground = (key: string, value: string): Promise<string | null> =>
  new Promise((resolve) => {
    execFile(regProgram, ['query', key, '/v', value], { timeout: 5000, windowsHide: true }, (error, stdout) =>
      resolve(error ? null : stdout),
    );
  });

import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { valueInPool } from './key-value-pool.ts';
import { valueIn } from './registry.ts';

/** The one spelling that is compared: another key of the same host, in another form, would be mistaken for a move. */
const hostKey = 'PhysicalHostNameFullyQualified';
const guestParameters = 'HKLM\\SOFTWARE\\Microsoft\\Virtual Machine\\Guest\\Parameters';

/** How old a reading of the registry may become: each takes a separate process. */
const registryEveryMs = 5000;

export interface PhysicalHostOptions {
  readonly platform: NodeJS.Platform;
  /** Replaces `/`. */
  readonly root: string;
  readonly clock: Clock;
  /** Output of `reg query KEY /v VALUE`, null when it cannot be had. */
  readonly queryRegistry?: (key: string, value: string) => Promise<string | null>;
}

/**
 * The physical machine under this VM, as the hypervisor reports it; null if it does not, which is common. Two
 * different names in a row prove that the VM was moved. Cheap enough to be asked at each poll; never blocks on Windows,
 * where an answer may be some seconds old.
 */
export function createPhysicalHost(options: PhysicalHostOptions): () => string | null {
  if (options.platform === 'linux') return fromPool(join(options.root, 'var/lib/hyperv/.kvp_pool_3'));
  if (options.platform === 'win32') return fromRegistry(options);
  return () => null;
}

/** Read again when the file changed. It is stamped before it is read, so what is written meanwhile is read the next time. */
function fromPool(file: string): () => string | null {
  let read: { readonly stamp: string; readonly host: string | null } = { stamp: '', host: null };
  return () => {
    try {
      const { mtimeMs, size, ino } = statSync(file);
      const stamp = `${mtimeMs} ${size} ${ino}`;
      if (stamp !== read.stamp) read = { stamp, host: valueInPool(readFileSync(file), hostKey) };
    } catch {
      read = { stamp: '', host: null };
    }
    return read.host;
  };
}

function fromRegistry({ clock, queryRegistry = queryInBackground }: PhysicalHostOptions): () => string | null {
  let host: string | null = null;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let isAsking = false;

  const ask = async (): Promise<void> => {
    isAsking = true;
    askedAtMs = clock.monotonicMs();
    const output = await queryRegistry(guestParameters, hostKey);
    host = output === null ? null : valueIn(output, hostKey);
    isAsking = false;
  };

  const get = (): string | null => {
    if (!isAsking && clock.monotonicMs() - askedAtMs >= registryEveryMs) void ask();
    return host;
  };
  get();
  return get;
}

const queryInBackground = (key: string, value: string): Promise<string | null> =>
  new Promise((resolve) => {
    execFile('reg', ['query', key, '/v', value], { timeout: 5000, windowsHide: true }, (error, stdout) =>
      resolve(error ? null : stdout),
    );
  });

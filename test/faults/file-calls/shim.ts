import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';

/** The kinds of calls that the shim counts. */
export const fileCalls = ['open', 'write', 'fsync', 'rename', 'unlink', 'truncate', 'mmap', 'link', 'mkdir'] as const;
export type FileCall = (typeof fileCalls)[number];

/**
 * `kill` before the call, `torn-kill` in the middle of a write; `short`: half of a write; `torn`: half, then EIO; `wait`: for the end of
 * {@link ShimOptions.during}; else the name of an errno.
 */
export type FileAction = 'kill' | 'torn-kill' | 'short' | 'torn' | 'wait' | keyof typeof constants.errno;

/** What happens to the n-th call of a kind, from 1 on. */
export interface FileFault {
  readonly call: FileCall;
  readonly n: number;
  readonly action: FileAction;
  /** All later calls of this kind fail as well. */
  readonly isLasting: boolean;
}

/** Every fault that a call of this kind may meet. */
export const faultsOfCall: Readonly<Record<FileCall, readonly Pick<FileFault, 'action' | 'isLasting'>[]>> = {
  open: [once('kill'), once('EMFILE'), once('EIO'), lasting('EMFILE'), lasting('EIO')],
  write: [
    ...[once('kill'), once('torn-kill'), once('EIO'), once('ENOSPC'), once('short'), once('torn')],
    ...[lasting('EIO'), lasting('ENOSPC')],
  ],
  fsync: [once('kill'), once('EIO'), lasting('EIO')],
  rename: [once('kill'), once('EIO'), once('ENOSPC'), lasting('EIO')],
  unlink: [once('kill'), once('EIO'), lasting('EIO')],
  truncate: [once('kill'), once('EIO'), lasting('EIO')],
  mmap: [once('kill'), once('ENOMEM'), lasting('ENOMEM')],
  link: [once('kill'), once('EIO'), lasting('EIO')],
  mkdir: [once('kill'), once('EIO'), once('ENOSPC'), lasting('EIO')],
};

function once(action: FileAction): Pick<FileFault, 'action' | 'isLasting'> {
  return { action, isLasting: false };
}
function lasting(action: FileAction): Pick<FileFault, 'action' | 'isLasting'> {
  return { action, isLasting: true };
}

/** Why the shim cannot be built here; null if it can. */
export function whyNoShim(): string | null {
  if (process.platform !== 'linux') return 'file calls are intercepted on Linux only';
  return spawnSync('cc', ['--version']).status === 0 ? null : 'there is no C compiler (cc)';
}

/** Builds the shim in this folder. @returns the file for `LD_PRELOAD`. */
export function buildShim(folder: string): string {
  const file = join(folder, 'shim.so');
  const source = join(import.meta.dirname, 'shim.c');
  execFileSync('cc', ['-O2', '-Wall', '-Wextra', '-shared', '-fPIC', '-o', file, source, '-ldl', '-lpthread']);
  return file;
}

export interface ShimOptions {
  readonly shim: string;
  /** The folder whose files are meant. */
  readonly folder: string;
  /** What the shim writes; outside of that folder. */
  readonly log: string;
  readonly fault?: FileFault | null;
  /** A file outside of the folder. Given, the fault counts and changes only calls that are made while it exists. */
  readonly during?: string;
  /** The log has the bytes that are written, and those that are sent to standard output. */
  readonly hasData?: boolean;
}

/** The environment that a process needs to run with the shim. */
export function shimEnvironment({
  shim,
  folder,
  log,
  fault = null,
  during,
  hasData = false,
}: ShimOptions): NodeJS.ProcessEnv {
  return {
    LD_PRELOAD: shim,
    // It would bypass libc.
    UV_USE_IO_URING: '0',
    SHIM_FOLDER: folder,
    SHIM_LOG: log,
    ...(hasData ? { SHIM_DATA: '1' } : {}),
    ...(during === undefined ? {} : { SHIM_WHILE: during }),
    ...(fault ? { SHIM_FAULT: `${fault.call} ${fault.n} ${actionText(fault.action)} ${fault.isLasting ? 1 : 0}` } : {}),
  };
}

const actionText = (action: FileAction): string =>
  action in constants.errno ? String(constants.errno[action as keyof typeof constants.errno]) : action;

/** One call as the shim wrote it down. */
export interface LoggedCall {
  /** `fired`: the fault happened; `send`: bytes to standard output, about to be sent. */
  readonly call: FileCall | 'fired' | 'send';
  readonly path: string;
  /** Of a write; the flags of an open; the new length of a truncation. */
  readonly offset: number;
  readonly length: number;
  /** The new name of a rename or a link. */
  readonly other: string;
  /** Of `write` and `send`, if the log has data. */
  readonly data: Buffer | null;
}

/** Of a process that ran with the shim; a call that was cut off by its end is left out. */
export function readShimLog(path: string, { hasData = false } = {}): readonly LoggedCall[] {
  if (!existsSync(path)) return [];
  const bytes = readFileSync(path);
  const calls: LoggedCall[] = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf(10, at);
    if (end === -1) return calls;
    const [call, file = '', offset, size, other = ''] = bytes.toString('utf8', at, end).split(' ');
    const length = Number(size);
    at = end + 1;
    let data: Buffer | null = null;
    if (hasData && (call === 'write' || call === 'send')) {
      if (at + length + 1 > bytes.length) return calls;
      data = bytes.subarray(at, at + length);
      at += length + 1;
    }
    // A folder that is flushed may be named by a dot in it.
    const path = file.replace(/\/\.$/, '');
    calls.push({ call: call as LoggedCall['call'], path, offset: Number(offset), length, other, data });
  }
}

export type CallCounts = Readonly<Record<FileCall, number>>;

/** How many calls of each kind there are. */
export function countCalls(calls: readonly LoggedCall[]): CallCounts {
  const counts = Object.fromEntries(fileCalls.map((call) => [call, 0])) as Record<FileCall, number>;
  for (const { call } of calls) if (call in counts) counts[call as FileCall] += 1;
  return counts;
}

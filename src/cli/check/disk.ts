import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join, parse, resolve } from 'node:path';
import { sentence } from '../../azure/failure.ts';
import { notProven, ok, problem, warning } from '../../check/finding.ts';
import { type AccessRights, listed } from '../../check/sddl.ts';
import { keepFolderFromOthers } from '../../check/windows-access.ts';
import type { OperatingSystem } from '../../operating-system.ts';
import { explained } from '../../outbox/store/directory.ts';
import { limitBytes } from '../../outbox/store/retention.ts';
import type { CheckContext } from './context.ts';
import type { Finding } from './finding.ts';

/** The facts of the file system about the state directory. */
export interface DiskSeen {
  readonly directory: string;
  /** Whether it is there; where not, the rest is that of the nearest directory above it. */
  readonly exists: boolean;
  readonly owner: number;
  /** Permission bits. */
  readonly mode: number;
  /** Owner of each file of the outbox that is another one's. */
  readonly foreign: readonly { readonly file: string; readonly owner: number }[];
  readonly freeBytes: number;
  readonly ownBytes: number;
  /** Kind of network file system, null where it is a disk. */
  readonly network: string | null;
  /** What keeps this account from writing there; null: nothing. */
  readonly fault: { readonly code: string; readonly reason: string } | null;
  /** The user of this process; null on Windows, where rights are not by owner and mode. */
  readonly account: number | null;
  /** Whether the directory is on the temporary disk of the VM. */
  readonly isTemporary: boolean;
  /** On Windows, who may read and change it; null where that is not known. */
  readonly access: AccessRights | null;
}

/** As much as the smallest commit takes. */
const trialBytes = 16 * 1024;

export async function checkDisk({ config, system, accessTo }: CheckContext): Promise<readonly Finding[]> {
  const { stateDirectory, outbox } = config;
  const missing = missingDisk(stateDirectory);
  if (missing !== null) return [noDisk(stateDirectory, missing, system)];
  const on = { maxMegabytes: outbox.maxMegabytes, nameOf: accountNames(), system };
  return diskFindings(seeDisk(stateDirectory, await accessTo(stateDirectory)), on);
}

/** The drive or share of Windows that a path begins with, where it is not there. */
function missingDisk(path: string): string | null {
  const { root } = parse(resolve(path));
  return existsSync(root) ? null : root;
}

export const noDisk = (path: string, disk: string, system: Pick<OperatingSystem, 'showFreeSpace'>): Finding =>
  problem(
    'disk.directory',
    `The state directory ${path} cannot be created, because there is no ${disk} on this machine: set stateDirectory to a directory on a local disk.`,
    system.showFreeSpace(path),
  );

export function seeDisk(stateDirectory: string, access: AccessRights | null = null): DiskSeen {
  const directory = resolve(stateDirectory);
  const standing = nearest(directory);
  const exists = standing === directory;
  const { bavail, bsize, type } = statfsSync(standing);
  const files = exists ? readable(standing) : [];
  const stats = files.flatMap((file) => {
    const found = statSync(join(standing, file), { throwIfNoEntry: false });
    return found ? [{ file, owner: found.uid, bytes: found.size }] : [];
  });
  const { uid: owner, mode } = statSync(standing);
  return {
    directory,
    exists,
    owner,
    mode: mode & 0o777,
    foreign: stats.filter((one) => one.owner !== owner).map(({ file, owner: of }) => ({ file, owner: of })),
    freeBytes: bavail * bsize,
    ownBytes: stats.reduce((sum, { bytes }) => sum + bytes, 0),
    network: networkNames[type] ?? (/^\\\\[^?.]/.test(directory) ? 'SMB' : null),
    fault: tryToWrite(directory, exists),
    account: process.getuid?.() ?? null,
    isTemporary: isTemporary(standing),
    access,
  };
}

// assumption: host-os-disk
/**
 * Azure's agents put this file on the temporary disk, which loses its content when the VM is redeployed, resized or deallocated.
 * https://learn.microsoft.com/azure/virtual-machines/managed-disks-overview#temporary-disk
 */
const temporaryMark = 'DATALOSS_WARNING_README.txt';

function isTemporary(directory: string): boolean {
  for (let path = directory; ; path = dirname(path)) {
    if (existsSync(join(path, temporaryMark))) return true;
    if (dirname(path) === path) return false;
  }
}

/** The directory itself, or what there is above it. */
function nearest(directory: string): string {
  for (let path = directory; ; path = dirname(path)) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() || dirname(path) === path) return path;
  }
}

function readable(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => /^(outbox|lock|reserve)\b/.test(name));
  } catch {
    return [];
  }
}

/** https://man7.org/linux/man-pages/man2/statfs.2.html */
const networkNames: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'SMB',
  4266872130: 'SMB',
};

/** Writes a temporary file when the directory exists, and removes it; creates nothing that is missing. */
function tryToWrite(directory: string, exists: boolean): DiskSeen['fault'] {
  const trial = join(directory, `check-${process.pid}`);
  try {
    if (!exists) return whyNotMade(directory);
    const fd = openSync(trial, 'wx', 0o600);
    try {
      const written = writeSync(fd, Buffer.alloc(trialBytes));
      fsyncSync(fd);
      return written < trialBytes ? { code: 'ENOSPC', reason: 'no space left on the disk' } : null;
    } finally {
      closeSync(fd);
      rmSync(trial, { force: true });
    }
  } catch (error) {
    return failureFrom(explained(error, directory));
  }
}

/** What would keep the service from making it. */
function whyNotMade(directory: string): DiskSeen['fault'] {
  const nothing = new Error('nothing');
  const cause = explained(nothing, directory);
  return cause === nothing ? null : failureFrom(cause);
}

function failureFrom(error: unknown): DiskSeen['fault'] {
  const { code, message } = error as NodeJS.ErrnoException;
  return { code: code ?? 'unexpected', reason: message };
}

const leastFreeBytes = 8 * 2 ** 20;
const ampleBytes = 16 * 2 ** 20;

export const diskFindings = (seen: DiskSeen, on: On): readonly Finding[] => [
  directory(seen, on),
  owner(seen, on),
  space(seen, on),
];

interface On {
  readonly maxMegabytes: number;
  readonly nameOf: (uid: number) => string;
  readonly system: OperatingSystem;
}

function directory(seen: DiskSeen, { nameOf, system }: On): Finding {
  const what = 'disk.directory';
  const { directory: path, exists, owner: uid, mode, fault, network, account, isTemporary } = seen;
  const isDenied = fault !== null && ['EACCES', 'EPERM'].includes(fault.code);
  if (fault && ['ENOSPC', 'EDQUOT'].includes(fault.code)) {
    const message = `Nothing can be written in ${path}: the disk is full. Records are kept in memory until there is space.`;
    return problem(what, message, system.showFreeSpace(path));
  }
  if (isDenied && exists && account === null) {
    const message = `This user may not write in ${path}: run check as ${system.administrator}.`;
    return notProven(what, message, system.showAccess(path));
  }
  if (isDenied && exists && account !== null && account !== uid) {
    return notProven(
      what,
      `${path} belongs to ${nameOf(uid)}; check runs as ${nameOf(account)}, which may not write it. Run check as ${nameOf(uid)} or as root.`,
    );
  }
  if (fault) {
    const remedy = isDenied && exists ? `chmod u+rwx ${path}` : system.showAccess(path, dirname(path));
    return problem(what, `Nothing can be written in the state directory: ${fault.reason}.`, remedy);
  }
  if (!exists && seen.freeBytes < leastFreeBytes)
    return notProven(what, `${path} does not exist, and its file system has no space for it: see disk.space.`);
  if (!exists) return ok(what, `${path} does not exist yet; the service creates it at its first start.`);
  if (account !== null && uid !== 0 && (mode & 0o300) !== 0o300) {
    const message = `${path} may not be written by ${nameOf(uid)}, to whom it belongs (mode ${mode.toString(8)}).`;
    return problem(what, message, `sudo chmod u+rwx ${path}`);
  }
  if (network !== null) {
    const message = `${path} is on a network file system (${network}): the outbox needs a local disk of this VM, where file locks are reliable.`;
    return warning(what, message);
  }
  if (isTemporary) {
    const message = `${path} is on the temporary disk of this VM: records that are not delivered yet are lost when the VM is redeployed, resized or deallocated. Use another disk.`;
    return warning(what, message);
  }
  if (account === null) return ok(what, `${path} is writable.`);
  const users = uid === 0 ? 'root' : `${nameOf(uid)} or as root`;
  return ok(what, `${path} is writable and owned by ${nameOf(uid)}; run the service as ${users}.`);
}

function owner(
  { directory: path, exists, owner: uid, foreign, account, access }: DiskSeen,
  { nameOf, system }: On,
): Finding {
  const what = 'disk.owner';
  if (!exists) return ok(what, `There are no files yet.`);
  if (account === null) return rights(path, access, system);
  const [first] = foreign;
  if (!first) return ok(what, `Everything in it belongs to ${nameOf(uid)} too.`);
  const files = foreign.map(({ file }) => file).join(', ');
  const message = `${files} ${foreign.length === 1 ? 'belongs' : 'belong'} to ${nameOf(first.owner)}, the directory to ${nameOf(uid)}, as after a manual start under another account: the service may not write them.`;
  // Root may write them all, and is what a directory of root says that the service runs as.
  const remedy = `sudo chown -R ${nameOf(uid)} ${path}`;
  return uid === 0 ? warning(what, message, remedy) : problem(what, message, remedy);
}

function rights(path: string, access: AccessRights | null, system: OperatingSystem): Finding {
  const what = 'disk.owner';
  if (access === null)
    return notProven(what, `The access rights of ${path} could not be read.`, system.showAccess(path));
  const readers = `${path} can be read by ${listed(access.readers)}`;
  if (access.writers.length === 0) return ok(what, `${readers}; only administrators and the service can change it.`);
  const message = `${readers}. ${sentence(listed(access.writers))} can change it, and with it what is sent.`;
  return warning(what, message, keepFolderFromOthers(path));
}

function space({ directory: path, freeBytes, ownBytes }: DiskSeen, { maxMegabytes, system }: On): Finding {
  const what = 'disk.space';
  const limit = limitBytes({ maxMegabytes, freeBytes, ownBytes, usedBytes: ownBytes });
  const message = `${megabytes(freeBytes)} are free on the disk of ${path}, so the outbox may use ${megabytes(limit)}`;
  if (freeBytes < leastFreeBytes) {
    return problem(
      what,
      `${message}: too little. Free some space, or mount a larger disk there.`,
      system.showFreeSpace(path),
    );
  }
  if (limit < Math.min(ampleBytes, maxMegabytes * 2 ** 20)) {
    return warning(
      what,
      `${message}: it uses at most 5 % of the free space. In a long outage the oldest records would be discarded.`,
      system.showFreeSpace(path),
    );
  }
  return ok(what, `${message}.`);
}

const megabytes = (bytes: number): string =>
  bytes >= 2 ** 30
    ? `${(bytes / 2 ** 30).toFixed(1)} GB`
    : `${(bytes / 2 ** 20).toFixed(bytes < 10 * 2 ** 20 ? 1 : 0)} MB`;

/** Names of accounts, as /etc/passwd has them; the number where it has none. */
export function accountNames(file = '/etc/passwd'): (uid: number) => string {
  const names = new Map<number, string>();
  try {
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const [name, , uid] = line.split(':');
      if (name && uid && !names.has(Number(uid))) names.set(Number(uid), name);
    }
  } catch {
    // A container without one.
  }
  return (uid) => names.get(uid) ?? `the account ${uid}`;
}

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Random } from '../../fleet-model/random.ts';
import type { LoggedCall } from './shim.ts';

/**
 * How much there is of what no flush has confirmed: `none`, `all`, or of each sector of 512 bytes and each change of a length one or the
 * other, so that writes are reordered, dropped and torn.
 */
export type Unconfirmed = 'none' | 'all' | 'any';

const sectorBytes = 512;
const createFlag = 0o100;
const truncateFlag = 0o1000;

/** The files below a folder, by their paths; null for a folder. */
export type Files = ReadonlyMap<string, Buffer | null>;

export function readFiles(folder: string): Files {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path, entry.isDirectory() ? null : readFileSync(path)];
    }),
  );
}

/** Writes the files of one folder to another. */
export function writeFiles(files: Files, from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 });
  for (const [path, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const target = join(to, path.slice(from.length));
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    if (bytes) writeFileSync(target, bytes, { mode: 0o600 });
    else mkdirSync(target, { recursive: true, mode: 0o700 });
  }
}

/**
 * What a power cut leaves of these calls. The content of a file is certain once it was flushed; a name that was made, changed or removed,
 * once its folder was. Names that are not certain changed up to some point, since the journal of a file system keeps their order.
 * @param before the files at the first call, which are certain.
 */
export function afterPowerCut(
  before: Files,
  calls: readonly LoggedCall[],
  unconfirmed: Unconfirmed,
  random: Random,
): Files {
  const names = nameChanges(before, calls);
  const uncertain = names.changes.length - names.certain;
  const more = { none: 0, all: uncertain, any: random.int(0, uncertain) }[unconfirmed];
  const paths = new Map(names.before);
  for (const change of names.changes.slice(0, names.certain + more)) change.apply(paths);
  const isKept = { none: () => false, all: () => true, any: () => random.chance(0.5) }[unconfirmed];
  const contents = new Map<Inode, Buffer | null>();
  const contentOf = (inode: Inode): Buffer | null => {
    const known = contents.get(inode) ?? content(inode, isKept);
    contents.set(inode, known);
    return known;
  };
  return new Map([...paths].map(([path, inode]) => [path, contentOf(inode)]));
}

/** A file or a folder, whatever its name. */
interface Inode {
  readonly before: Buffer | null;
  /** Writes and truncations, in order. */
  readonly changes: { readonly at: number; readonly data: Buffer | null }[];
  /** How many of them were flushed. */
  certain: number;
}

type Paths = Map<string, Inode>;

interface NameChange {
  readonly folders: readonly string[];
  apply(paths: Paths): void;
}

/** The changes of names, how many of them were flushed, and with them the files; each call is added to its file. */
function nameChanges(before: Files, calls: readonly LoggedCall[]) {
  const paths: Paths = new Map([...before].map(([path, bytes]) => [path, inodeWith(bytes)]));
  const names = { before: new Map(paths), changes: [] as NameChange[], certain: 0 };
  const change = (folders: readonly string[], apply: (paths: Paths) => void): void => {
    names.changes.push({ folders, apply });
    apply(paths);
  };
  const create = (path: string, bytes: Buffer | null): void => {
    const inode = inodeWith(bytes);
    change([dirname(path)], (all) => all.set(path, inode));
  };
  for (const { call, path, other, offset, data } of calls) {
    const inode = paths.get(path);
    if (call === 'open') {
      if (!inode && (offset & createFlag) !== 0) create(path, Buffer.alloc(0));
      else if (inode && (offset & truncateFlag) !== 0) inode.changes.push({ at: 0, data: null });
    } else if (call === 'mkdir') create(path, null);
    else if (call === 'unlink') change([dirname(path)], (all) => all.delete(path));
    else if (call === 'link' && inode) change([dirname(other)], (all) => all.set(other, inode));
    else if (call === 'rename' && inode)
      change([dirname(path), dirname(other)], (all) => {
        all.delete(path);
        all.set(other, inode);
      });
    else if (call === 'write' || call === 'truncate') inode?.changes.push({ at: offset, data });
    else if (call === 'fsync') {
      if (inode) inode.certain = inode.changes.length;
      const last = names.changes.findLastIndex(({ folders }) => folders.includes(path));
      names.certain = Math.max(names.certain, last + 1);
    }
  }
  return names;
}

const inodeWith = (before: Buffer | null): Inode => ({ before, changes: [], certain: 0 });

function content({ before, changes, certain }: Inode, isKept: () => boolean): Buffer | null {
  if (!before) return null;
  let bytes = Buffer.from(before);
  const put = (at: number, data: Buffer): void => {
    if (at + data.length > bytes.length) bytes = Buffer.concat([bytes], at + data.length);
    data.copy(bytes, at);
  };
  for (const [index, { at, data }] of changes.entries()) {
    const isCertain = index < certain;
    if (!data) {
      if (isCertain || isKept()) bytes = Buffer.concat([bytes.subarray(0, at)], at);
    } else if (isCertain) put(at, data);
    else {
      for (let from = 0; from < data.length; ) {
        const to = Math.min(data.length, from + sectorBytes - ((at + from) % sectorBytes));
        if (isKept()) put(at + from, data.subarray(from, to));
        from = to;
      }
    }
  }
  return bytes;
}

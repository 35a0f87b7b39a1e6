import { existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Random } from '../../fleet-model/random.ts';

/** What a failing disk, a crash or another program does to the files of a state directory. */
export interface Damage {
  readonly what: string;
  apply(directory: string): void;
  /** The least number of records that must survive; default: none is certain. */
  readonly leastKept?: number;
}

const outboxName = 'outbox.sqlite';
const markName = 'outbox.position';

/** One of each kind that is not random. */
export function knownDamages(): readonly Damage[] {
  const of = (what: string, name: string, work: (path: string) => void): Damage => ({
    what: `${name} ${what}`,
    apply: (directory) => work(join(directory, name)),
  });
  const directoryInPlace = (path: string): void => {
    rmSync(path, { force: true });
    mkdirSync(path);
  };
  const remove = (path: string): void => rmSync(path, { force: true });
  const empty = (path: string): void => writeFileSync(path, '');
  const zeros = (path: string): void => writeFileSync(path, Buffer.alloc(sizeOf(path)));
  const text = (path: string): void => writeFileSync(path, 'some notes of somebody\n'.repeat(400));
  const overwrite =
    (at: number, bytes: Buffer) =>
    (path: string): void => {
      const all = readFileSync(path);
      bytes.copy(all, at);
      writeFileSync(path, all);
    };
  const cut =
    (bytes: number) =>
    (path: string): void =>
      truncateSync(path, Math.min(bytes, sizeOf(path)));
  return [
    ...[outboxName, `${outboxName}-wal`, markName, 'lock.sqlite'].flatMap((name) => [
      of('is removed', name, remove),
      of('has a length of zero', name, empty),
      of('is all zeros', name, zeros),
      of('is a text', name, text),
      of('is a directory', name, directoryInPlace),
    ]),
    of('is the database of another program', outboxName, foreign),
    of('has another magic', outboxName, overwrite(0, Buffer.from('PK\u0003\u0004'))),
    of('lost its header', outboxName, overwrite(0, Buffer.alloc(100))),
    of('has another page size', outboxName, overwrite(16, Buffer.from([0x02, 0x00]))),
    of('has another mark of a program', outboxName, overwrite(68, Buffer.alloc(4))),
    ...[1, 300, 4096, 8192, 20_000].map((bytes) => of(`is cut to ${bytes} bytes`, outboxName, cut(bytes))),
    of('lost its header', `${outboxName}-wal`, overwrite(0, Buffer.alloc(32))),
    of('has other salts', `${outboxName}-wal`, overwrite(16, Buffer.alloc(8, 0x5a))),
    of('is cut in the middle', markName, cut(60)),
    of('has another checksum', markName, overwrite(0, Buffer.from('00000000'))),
    of('is garbage beside it', `${outboxName}-shm`, (path) => writeFileSync(path, Buffer.alloc(32_768, 0xa5))),
    of('is garbage beside it', `${outboxName}-journal`, (path) => writeFileSync(path, Buffer.alloc(2000, 0xa5))),
    of('is garbage beside it', `${outboxName}.replacement`, (path) => writeFileSync(path, Buffer.alloc(9000, 0xa5))),
  ];
}

/** A byte of one file gets another value. */
export function randomFlip(random: Random, directory: string): Damage {
  const name = random.pick([outboxName, outboxName, `${outboxName}-wal`, `${outboxName}-wal`, markName]);
  // The headers say what all the rest is.
  const end = random.chance(0.2) ? 100 : sizeOf(join(directory, name));
  const at = random.int(0, end - 1);
  const bits = random.int(1, 255);
  return {
    what: `byte ${at} of ${name} is changed by ${bits}`,
    apply(target) {
      const path = join(target, name);
      const all = readFileSync(path);
      all[at] = (all[at] ?? 0) ^ bits;
      writeFileSync(path, all);
    },
  };
}

const logHeaderBytes = 32;
const frameBytes = 24 + 4096;

/**
 * The log cut after each of its frames: https://www.sqlite.org/fileformat2.html#the_write_ahead_log
 * @param recordsBefore records that are in the file itself. Each commit of the log added one more.
 */
export function cutLogs(directory: string, recordsBefore: number): readonly Damage[] {
  const log = readFileSync(join(directory, `${outboxName}-wal`));
  const damages: Damage[] = [];
  let commits = 0;
  for (let at = logHeaderBytes; at + frameBytes <= log.length; at += frameBytes) {
    if (log.compare(log, 16, 24, at + 8, at + 16) !== 0) break;
    if (log.readUInt32BE(at + 4) > 0) commits += 1;
    for (const more of [0, 12, 24, 2000]) {
      const bytes = at + frameBytes + more;
      damages.push({
        what: `the log is cut to ${bytes} of ${log.length} bytes`,
        leastKept: recordsBefore + commits,
        apply: (target) => truncateSync(join(target, `${outboxName}-wal`), Math.min(bytes, log.length)),
      });
    }
  }
  return damages;
}

function foreign(path: string): void {
  rmSync(path, { force: true });
  const db = new DatabaseSync(path);
  db.exec('CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES (1)');
  db.close();
}

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0);

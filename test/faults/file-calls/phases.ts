import { closeSync, cpSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import type { Announced } from '../fleet/announced.ts';
import { type Backlog, fillOutbox, makeStateFolder, type OutboxModule, openIn } from './stored-backlog.ts';

/** A part of the life of an outbox in which files are created, replaced or moved. */
export interface Phase {
  readonly name: string;
  /** Fills an empty state directory with what the bridge finds at its start. */
  place(directory: string): void;
  /** What is due at the sink besides what happens during the test. */
  readonly due: readonly Announced[];
  /** The ids of their records. */
  readonly recordIds: readonly string[];
  /** The outbox is removed while the bridge runs, once it has sent everything. */
  readonly isRemoved: boolean;
}

const backlogEvents = 12;

/** The VM of every life, and the one whose outbox is found on a copied disk. */
export const ownVm = 'web_0';
const otherVm = 'web_9';

/** Prepares the phases in this folder. */
export function preparePhases(module: OutboxModule, folder: string): readonly Phase[] {
  const made = (name: string, make: (directory: string) => Backlog): Phase => {
    const directory = makeStateFolder(join(folder, name));
    const { announced, recordIds } = make(directory);
    return {
      name,
      place: (target) => cpSync(directory, target, { recursive: true }),
      due: announced,
      recordIds,
      isRemoved: false,
    };
  };
  const restart = made('restart', (directory) => killed(module, directory, ownVm));
  return [
    { name: 'first life', place: () => {}, due: [], recordIds: [], isRemoved: false },
    restart,
    made('salvage', (directory) => {
      const backlog = ended(module, directory, ownVm);
      ruinIndex(join(directory, 'outbox.sqlite'), 'deliveries_pending');
      return backlog;
    }),
    { ...restart, name: 'rescue', isRemoved: true },
    { ...made('archive', (directory) => killed(module, directory, otherVm)), due: [], recordIds: [] },
    made('migration', (directory) => ended(releaseModule(folder), directory, ownVm)),
  ];
}

/** An outbox that was closed. */
function ended(module: OutboxModule, directory: string, vm: string): Backlog {
  const outbox = openIn(module, directory);
  const backlog = fillOutbox(outbox, vm, backlogEvents);
  outbox.close();
  return backlog;
}

/** What a kill leaves: the newest records are only in the log. */
function killed(module: OutboxModule, directory: string, vm: string): Backlog {
  const open = makeStateFolder(`${directory}-open`);
  const outbox = openIn(module, open);
  const backlog = fillOutbox(outbox, vm, backlogEvents);
  for (const name of ['outbox.sqlite', 'outbox.sqlite-wal', 'outbox.position', 'reserve.bin', 'lock.sqlite'])
    cpSync(join(open, name), join(directory, name));
  outbox.close();
  rmSync(open, { recursive: true });
  return backlog;
}

/** The outbox of the first release, by its own code: its format is one step older. */
function releaseModule(folder: string): OutboxModule {
  const file = join(folder, 'outbox-0.1.0.cjs');
  const bundle = join(import.meta.dirname, '../../fixtures/outboxes/outbox-0.1.0.cjs.gz');
  writeFileSync(file, gunzipSync(readFileSync(bundle)));
  return createRequire(import.meta.url)(file) as OutboxModule;
}

/** Overwrites the root page of an index: the outbox is damaged, and every row can be saved. */
function ruinIndex(file: string, index: string): void {
  const db = new DatabaseSync(file);
  const page = Number(db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(index)?.rootpage);
  db.close();
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(4096, 0xee), 0, 4096, (page - 1) * 4096);
  closeSync(fd);
}

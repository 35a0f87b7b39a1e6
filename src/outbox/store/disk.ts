import { existsSync } from 'node:fs';
import type { LifecycleState } from '../../lifecycle/state.ts';
import { forgetConcluded } from '../control/approvals.ts';
import { forgetAnswered } from '../control/requests.ts';
import type { OutboxOptions, Storage } from '../outbox.ts';
import type { CreateOptions } from './create.ts';
import { explained, makeDirectory, secureDirectory } from './directory.ts';
import { NotOpen, OutboxInUse, OutboxRemoved, OutboxTooNew, troubleOf } from './errors.ts';
import { type FileIdentity, fileIdentityOf } from './file-identity.ts';
import { type Layout, layoutOf } from './layout.ts';
import { type Lock, takeLock } from './lock.ts';
import { openArchived, openReplaced, openSound, type Recovery } from './open.ts';
import { createOutboxFile, type OutboxFile } from './outbox-file.ts';
import { type Archived, createOutboxLog, type OutboxLog } from './outbox-log.ts';
import { openPositionMark, type PositionMark } from './position-mark.ts';
import { compact, type Memory } from './prune.ts';
import { createQuota, type Quota } from './quota.ts';
import { openReadable, type ReadableOutbox } from './read-only.ts';
import { createReserve, type Reserve } from './reserve.ts';
import { restore } from './restore.ts';
import type { Fill } from './retention.ts';
import { migrations } from './schema/migrations.ts';
import type { SinkRow } from './sink-store.ts';
import type { StoredObserver } from './state-store.ts';

/** After an error that is not about room the file is opened anew, but not more often than this. */
const reopenEveryMs = 5_000;

/** For one thing that could not be done: the reserve, room, and once more. */
const mostRemedies = 3;
/** The file as far as it can be had: written, only read, or not there at all. Nothing here throws but {@link openDisk}. */
export interface Disk {
  /** What is known to be on disk; null while there is no file that can be read. */
  readonly stored: LifecycleState | null;
  readonly observer: StoredObserver;
  readonly sinks: ReadonlyMap<string, SinkRow>;
  readonly trouble: Storage['trouble'];
  readonly fill: Fill;
  readonly recovery: Recovery | null;
  /** Files were removed or replaced while they are open, and are not made again yet. */
  readonly isDisplaced: boolean;
  /** Another instance holds the very file that was ours: what it wrote to it meanwhile is unknown here. */
  readonly isLockLost: boolean;
  /** Tells how it stands, for a trouble that lasts or that ended. */
  report(): void;
  /** Does it, again after each remedy that there is for what stops it. Null when it could not be done. */
  attempt<T>(work: (file: OutboxFile) => T): T | null;
  /** Asks what there is, written or only read. Null where there is nothing that can be read. */
  read<T>(ask: (source: Readable) => T): T | null;
  /** Remembers that records up to this position are sent from memory, as far as the disk takes even that. */
  handOut(state: LifecycleState): void;
  /** Moves the file away, now or as soon as the disk allows, and begins a new one. */
  archive(reason: string): void;
  maintain(): void;
  close(): void;
}

/** What the file is asked, also where it takes no writes. */
export type Readable = Pick<OutboxFile & ReadableOutbox, 'db' | 'pending' | 'requests'>;

/** What the disk does not know. */
export interface DiskMemory extends Memory {
  /** Records that are in memory only. */
  undurable(): number;
  /** Writes what became of the deliveries of records that are on disk, without the records that do not fit. */
  writeOutcomes(file: OutboxFile): void;
}

/** @throws OutboxInUse, OutboxTooNew */
export function openDisk(options: OutboxOptions, memory: DiskMemory): Disk {
  const disk = new FileDisk(options, memory);
  disk.openFirst();
  return disk;
}

class FileDisk implements Disk {
  readonly #options: OutboxOptions;
  readonly #memory: DiskMemory;
  readonly #layout: Layout;
  readonly #reserve: Reserve;
  readonly #outboxLog: OutboxLog;
  readonly #quota: Quota;
  #lock: Lock | null = null;
  #mark: PositionMark | null = null;
  #file: OutboxFile | null = null;
  /** Of the file. */
  #identity: FileIdentity | null = null;
  /** Instead of the file, where nothing can be written. */
  #readable: ReadableOutbox | null = null;
  #observer: StoredObserver = { observer: null, bootId: null };
  #recovery: Recovery | null = null;
  #trouble: Storage['trouble'] = null;
  /** The file that is there is another VM's, and could not be moved yet. */
  #archiveDue: Pick<Archived, 'reason' | 'pending'> | null = null;
  #openedAt = Number.NEGATIVE_INFINITY;
  #rescuedAt = Number.NEGATIVE_INFINITY;
  /** The present removal was told. */
  #isRemovalReported = false;
  #isLockLost = false;

  constructor(options: OutboxOptions, memory: DiskMemory) {
    this.#options = options;
    this.#memory = memory;
    this.#layout = layoutOf(options.directory);
    this.#reserve = createReserve(this.#layout.reserve);
    this.#outboxLog = createOutboxLog(options);
    this.#quota = createQuota(options, { layout: this.#layout, memory, outboxLog: this.#outboxLog });
  }

  get stored(): LifecycleState | null {
    return (this.#file ?? this.#readable)?.state ?? null;
  }

  get observer(): StoredObserver {
    return this.#observer;
  }

  get sinks(): ReadonlyMap<string, SinkRow> {
    return (this.#file ?? this.#readable)?.sinks ?? new Map();
  }

  get trouble(): Storage['trouble'] {
    return this.#trouble;
  }

  get fill(): Fill {
    return this.#quota.fill;
  }

  get recovery(): Recovery | null {
    return this.#recovery;
  }

  get isDisplaced(): boolean {
    return this.#displacement() !== null;
  }

  get isLockLost(): boolean {
    return this.#isLockLost;
  }

  report(): void {
    this.#outboxLog.stands(this.#trouble, this.#memory.undurable());
  }

  openFirst(): void {
    try {
      this.#open(openSound);
    } catch (error) {
      if (error instanceof OutboxInUse || error instanceof OutboxTooNew) {
        this.close();
        throw error;
      }
      if (troubleOf(error).kind === 'full' && this.#reserve.free()) this.openFirst();
      else this.#markDegraded(error);
    }
  }

  attempt<T>(work: (file: OutboxFile) => T): T | null {
    for (let remedies = 0; ; remedies += 1) {
      try {
        const result = work(this.#writable());
        if (this.#trouble || remedies > 0) this.#markHealthy();
        return result;
      } catch (error) {
        if (remedies < mostRemedies && this.#remedy(error, remedies)) continue;
        this.#markDegraded(error);
        return null;
      }
    }
  }

  read<T>(ask: (source: Readable) => T): T | null {
    for (let remedies = 0; ; remedies += 1) {
      const source = this.#file ?? this.#readable;
      if (!source) return null;
      try {
        return ask(source);
      } catch (error) {
        if (remedies === 0 && this.#file && this.#remedy(error, remedies)) continue;
        this.#markDegraded(error);
        return null;
      }
    }
  }

  handOut(state: LifecycleState): void {
    this.#mark?.handedOut(state);
  }

  archive(reason: string): void {
    this.#archiveDue ??= { reason, pending: this.#pendingBySink };
    this.#drop();
    this.#recovery = null;
    this.#observer = { observer: null, bootId: null };
    try {
      this.#open(openArchived);
    } catch (error) {
      this.#markDegraded(error);
    }
  }

  maintain(): void {
    const file = this.#file;
    if (!file || this.#trouble) return;
    try {
      forgetAnswered(file.db, this.#options.clock.now());
      forgetConcluded(file.db, this.#options.clock.now());
      this.#quota.make(file);
      compact(file);
      this.#quota.measure(file);
      this.#outboxLog.tidied(null);
    } catch (error) {
      if (!this.#remedy(error, 0)) this.#outboxLog.tidied(troubleOf(error));
    }
    this.#reserve.ensure();
  }

  close(): void {
    this.#playBack('TRUNCATE');
    this.#drop();
    this.#mark?.close();
    this.#lock?.release();
    this.#lock = null;
  }

  get #createOptions(): CreateOptions {
    return { at: this.#options.clock.now(), version: this.#options.version, migrations };
  }

  get #pendingBySink(): Readonly<Record<string, number>> | null {
    if (this.stored === null) return null;
    return Object.fromEntries([...this.sinks].map(([name, { counters }]) => [name, counters.pending]));
  }

  #writable(): OutboxFile {
    const displacement = this.#displacement();
    if (displacement !== null) this.#recreateFiles(displacement);
    const isSick = !this.#file || this.#trouble?.kind === 'unavailable';
    if (isSick && this.#options.clock.monotonicMs() - this.#openedAt >= reopenEveryMs) this.#open(openSound);
    if (!this.#file) throw new NotOpen();
    return this.#file;
  }

  /** What became of the files that are open, in words; null while they are where they belong. */
  #displacement(): string | null {
    for (const [path, place] of [
      [this.#layout.outbox, this.#identity],
      [this.#layout.lock, this.#lock],
    ] as const) {
      const standing = place?.status() ?? 'here';
      if (standing === 'replaced') return `${path} was replaced by another file`;
      if (standing === 'gone')
        return existsSync(this.#layout.directory)
          ? `${path} was removed`
          : `The state directory ${this.#layout.directory} was removed`;
    }
    return null;
  }

  /**
   * Makes again what was removed while it was open, and goes on with all of it. Where that cannot be done the file without
   * a name stays open: what it holds is known and sent, and nothing is written to it.
   */
  #recreateFiles(displacement: string): void {
    const now = this.#options.clock.monotonicMs();
    if (now - this.#rescuedAt < reopenEveryMs) throw this.#trouble ? new NotOpen() : new OutboxRemoved(displacement);
    this.#rescuedAt = now;
    if (!this.#isRemovalReported) this.#outboxLog.removed(displacement);
    this.#isRemovalReported = true;
    this.#prepare();
    const isAway = this.#file !== null && this.#identity?.status() !== 'here';
    const stranger = isAway && this.#file ? restore(this.#file.db, this.#layout, this.#options.clock.now()) : null;
    this.#open(openSound);
    this.#outboxLog.rescued(stranger, this.#pendingBySink ?? {});
  }

  #prepare(): void {
    makeDirectory(this.#layout.directory);
    if (secureDirectory(this.#layout)) this.#outboxLog.closed();
    this.#takeLock();
    this.#mark?.close();
    this.#mark = openPositionMark(this.#layout.mark);
  }

  /** Takes the lock, again where it lost its name: another instance would not meet it there. */
  #takeLock(): void {
    if (this.#lock?.status() === 'here') return;
    try {
      const lock = takeLock(this.#layout);
      this.#lock?.release();
      this.#lock = lock;
    } catch (error) {
      if (error instanceof OutboxInUse && this.#file && this.#identity?.status() === 'here') {
        this.#drop();
        this.#isLockLost = true;
      }
      throw error;
    }
  }

  /** Opens the file for writing, and if that fails, for reading. */
  #open(how: typeof openSound): void {
    this.#openedAt = this.#options.clock.monotonicMs();
    this.#drop(); // First: closing removes the log by its name, which may be another's by then.
    try {
      this.#openWritable(this.#archiveDue ? openArchived : how);
    } catch (error) {
      this.#readable = this.#archiveDue || error instanceof OutboxInUse ? null : openReadable(this.#layout, migrations);
      this.#observer = this.#readable?.observer ?? this.#observer;
      throw error;
    }
  }

  #openWritable(how: typeof openSound): void {
    this.#prepare();
    const opened = how(this.#layout, this.#createOptions);
    try {
      this.#file = createOutboxFile(opened.db, opened.state, this.#options.sinks, (state) =>
        this.#mark?.committed(state),
      );
    } catch (error) {
      opened.db.close();
      throw error;
    }
    this.#identity = fileIdentityOf(this.#layout.outbox);
    this.#isLockLost = false;
    this.#isRemovalReported = false;
    if (this.#archiveDue) this.#outboxLog.archived({ ...this.#archiveDue, movedTo: opened.archivedTo ?? null });
    this.#archiveDue = null;
    this.#observer = opened.observer;
    this.#recovery = opened.recovery;
    if (opened.isRecovered && opened.recovery) this.#outboxLog.recovered(opened.recovery);
    this.#playBack('RESTART');
    this.#quota.bound(this.#file);
    this.#reserve.ensure();
    this.#quota.measure(this.#file);
  }

  // After a start and after a failure: what a kill or a failed commit left in the log would look like a lost commit behind those that
  // come now. RESTART keeps its size, which a full disk might not give again.
  #playBack(mode: 'RESTART' | 'TRUNCATE'): void {
    try {
      this.#file?.db.exec(`PRAGMA wal_checkpoint(${mode})`);
    } catch {} // What is in the log is safe there: the next start plays it back.
  }

  #drop(): void {
    this.#file?.close();
    this.#readable?.close();
    this.#file = null;
    this.#identity = null;
    this.#readable = null;
  }

  /** Whether something was done about it, so that it is worth another try. */
  #remedy(error: unknown, remedies: number): boolean {
    const { kind, reason } = troubleOf(error);
    if (kind === 'full') {
      // Both at once: with free pages in the file, what comes next needs no more of the disk than its log has already.
      const isFreed = this.#reserve.free();
      if (this.#file) return this.#triedToMakeRoom(this.#file, remedies) || isFreed;
      this.#openedAt = Number.NEGATIVE_INFINITY;
      return isFreed;
    }
    if (kind !== 'damaged' || remedies > 0) return false;
    try {
      this.#open((layout, options) => openReplaced(layout, options, reason));
      return true;
    } catch {
      return false;
    }
  }

  #triedToMakeRoom(file: OutboxFile, failures: number): boolean {
    try {
      // First what every sink has. The log begins anew at its front: on a full disk it cannot grow.
      this.#memory.writeOutcomes(file);
      return this.#quota.makeFor(file, failures) > 0;
    } catch {
      return false;
    }
  }

  #markDegraded(error: unknown): void {
    if (error instanceof NotOpen && this.#trouble) return;
    const found = troubleOf(error);
    const isVague = found.kind === 'unavailable' && !(error instanceof OutboxInUse);
    const trouble = isVague ? troubleOf(explained(error, this.#layout.directory)) : found;
    this.#trouble = { ...trouble, since: this.#trouble?.since ?? this.#options.clock.now().toISOString() };
    this.report();
  }

  #markHealthy(): void {
    this.#playBack('RESTART');
    if (!this.#trouble) return;
    this.#trouble = null;
    this.report();
  }
}

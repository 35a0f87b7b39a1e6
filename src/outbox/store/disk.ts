import { existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { LifecycleState } from '../../lifecycle/state.ts';
import { forgetConcluded } from '../control/approvals.ts';
import { forgetAnswered } from '../control/requests.ts';
import type { Fill, OutboxOptions, Recovery, Storage } from '../outbox.ts';
import type { WriteBuffer } from '../write-buffer.ts';
import { connectReadOnly } from './connection.ts';
import { explained, makeDirectory, secureDirectory } from './directory.ts';
import { NotOpen, OutboxInUse, OutboxRemoved, OutboxTooNew, troubleOf } from './errors.ts';
import { type FileIdentity, fileIdentityOf } from './file-identity.ts';
import { type Layout, layoutOf } from './layout.ts';
import { type Lock, takeLock } from './lock.ts';
import { openArchived, openReplaced, openSound } from './open.ts';
import { OutboxFile } from './outbox-file.ts';
import { type Archived, createOutboxLog, type OutboxLog } from './outbox-log.ts';
import { PositionMark } from './position-mark.ts';
import { compact } from './prune.ts';
import { createQuota, type Quota } from './quota.ts';
import { type CreateOptions, restore } from './replacement.ts';
import { ensureReserve, freeReserve } from './reserve.ts';
import { loadObserver, loadState } from './state-store.ts';

/** After an error that is not about room the file is opened anew, but not more often than this. */
const reopenEveryMs = 5_000;

/** For one thing that could not be done: the reserve, room, and once more. */
const mostRemedies = 3;

/** What the disk needs of its owner. */
export interface DiskOwner {
  readonly buffer: WriteBuffer;
  /** The event has not ended, as far as the lifecycle knows. */
  isOpen(eventKey: string): boolean;
  /** Writes updates of deliveries of records that are on disk, without the records that do not fit. */
  writeUpdates(file: OutboxFile): void;
}

/** The file as far as it can be had: written, only read, or not there at all. Only {@link Disk.openFirst} throws. */
export class Disk {
  readonly #options: OutboxOptions;
  readonly #owner: DiskOwner;
  readonly #layout: Layout;
  readonly #outboxLog: OutboxLog;
  readonly #quota: Quota;
  #lock: Lock | null = null;
  #mark: PositionMark | null = null;
  #file: OutboxFile | null = null;
  /** Of a file that is open for writing. */
  #identity: FileIdentity | null = null;
  #recovery: Recovery | null = null;
  #trouble: Storage['trouble'] = null;
  /** The file that is there is another VM's, and could not be moved yet. */
  #archiveDue: Pick<Archived, 'reason' | 'pending'> | null = null;
  #openedAt = Number.NEGATIVE_INFINITY;
  #recreatedAt = Number.NEGATIVE_INFINITY;
  /** The present removal was logged. */
  #isRemovalReported = false;
  #isLockLost = false;

  constructor(options: OutboxOptions, owner: DiskOwner) {
    this.#options = options;
    this.#owner = owner;
    this.#layout = layoutOf(options.directory);
    this.#outboxLog = createOutboxLog(options);
    const isDelivered = (sink: string, position: number): boolean => owner.buffer.isDelivered(sink, position);
    this.#quota = createQuota(options, { isOpen: owner.isOpen, isDelivered }, this.#outboxLog);
  }

  /** As far as it is known to be on disk, also where it can only be read; null where it cannot even be read. */
  get file(): OutboxFile | null {
    return this.#file;
  }

  get trouble(): Storage['trouble'] {
    return this.#trouble;
  }

  get fill(): Fill {
    return this.#quota.fill();
  }

  get recovery(): Recovery | null {
    return this.#recovery;
  }

  /** Files were removed or replaced while they are open, and are not recreated yet. */
  get isDisplaced(): boolean {
    return this.#displacement() !== null;
  }

  /** Another instance holds the very file that was ours: what it wrote to it meanwhile is unknown here. */
  get isLockLost(): boolean {
    return this.#isLockLost;
  }

  /** Logs a trouble that began, lasts or ended. */
  report(): void {
    this.#outboxLog.storage(this.#trouble, this.#owner.buffer.records.size);
  }

  /** @throws OutboxInUse, OutboxTooNew */
  openFirst(): void {
    try {
      this.#open(openSound);
    } catch (error) {
      if (error instanceof OutboxInUse || error instanceof OutboxTooNew) {
        this.close();
        throw error;
      }
      if (troubleOf(error).kind === 'full' && freeReserve(this.#layout.reserve)) this.openFirst();
      else this.#markDegraded(error);
    }
  }

  /** Does it, again after each remedy that there is for what stops it. Null when it could not be done. */
  attempt<T>(work: (file: OutboxFile) => T): T | null {
    for (let remedies = 0; ; remedies += 1) {
      try {
        const result = work(this.#openedForWriting());
        if (this.#trouble || remedies > 0) this.#markHealthy();
        return result;
      } catch (error) {
        if (remedies < mostRemedies && this.#remedy(error, remedies)) continue;
        this.#markDegraded(error);
        return null;
      }
    }
  }

  /** Reads the file. Null where there is none that can be read. */
  read<T>(ask: (file: OutboxFile) => T): T | null {
    for (let remedies = 0; ; remedies += 1) {
      if (!this.#file) return null;
      try {
        return ask(this.#file);
      } catch (error) {
        if (remedies === 0 && this.#file.isWritable && this.#remedy(error, remedies)) continue;
        this.#markDegraded(error);
        return null;
      }
    }
  }

  /** Remembers that records up to this position are sent from memory, as far as the disk takes even that. */
  handOut(state: LifecycleState): void {
    this.#mark?.handedOut(state);
  }

  /** Moves the file away, now or as soon as the disk allows, and begins a new one. */
  archive(reason: string): void {
    this.#archiveDue ??= { reason, pending: this.#pendingBySink };
    this.#drop();
    this.#recovery = null;
    try {
      this.#open(openArchived);
    } catch (error) {
      this.#markDegraded(error);
    }
  }

  maintain(): void {
    if (!this.#file?.isWritable || this.#trouble) return;
    const { db } = this.#file;
    try {
      forgetAnswered(db, this.#options.clock.now());
      forgetConcluded(db, this.#options.clock.now());
      this.#quota.prune(this.#file);
      compact(this.#file);
      this.#quota.measure(this.#file);
      this.#outboxLog.maintenance(null);
    } catch (error) {
      if (!this.#remedy(error, 0)) this.#outboxLog.maintenance(troubleOf(error));
    }
    ensureReserve(this.#layout.reserve);
  }

  close(): void {
    this.#playBack('TRUNCATE');
    this.#drop();
    this.#mark?.close();
    this.#lock?.release();
    this.#lock = null;
  }

  get #createOptions(): CreateOptions {
    return { at: this.#options.clock.now(), version: this.#options.version };
  }

  get #pendingBySink(): Readonly<Record<string, number>> | null {
    return this.#file && Object.fromEntries([...this.#file.sinks].map(([name, sink]) => [name, sink.counters.pending]));
  }

  #openedForWriting(): OutboxFile {
    const displacement = this.#displacement();
    if (displacement !== null) this.#recreateFiles(displacement);
    const isSick = !this.#file?.isWritable || this.#trouble?.kind === 'unavailable';
    if (isSick && this.#options.clock.monotonicMs() - this.#openedAt >= reopenEveryMs) this.#open(openSound);
    if (!this.#file?.isWritable) throw new NotOpen();
    return this.#file;
  }

  /** What happened to the files that are open, in words; null while they are where they belong. */
  #displacement(): string | null {
    const { outbox, lock, directory } = this.#layout;
    for (const [path, identity] of [[outbox, this.#identity] as const, [lock, this.#lock] as const]) {
      const status = identity?.status() ?? 'here';
      if (status === 'replaced') return `${path} was replaced by another file`;
      if (status === 'gone')
        return existsSync(directory) ? `${path} was removed` : `The state directory ${directory} was removed`;
    }
    return null;
  }

  /**
   * Recreates what was removed while it was open, and continues with all of it. Where that cannot be done the file without
   * a name stays open: what it holds is known and sent, and nothing is written to it.
   */
  #recreateFiles(displacement: string): void {
    const now = this.#options.clock.monotonicMs();
    if (now - this.#recreatedAt < reopenEveryMs) throw this.#trouble ? new NotOpen() : new OutboxRemoved(displacement);
    this.#recreatedAt = now;
    if (!this.#isRemovalReported) this.#outboxLog.removed(displacement);
    this.#isRemovalReported = true;
    this.#prepare();
    const isAway = this.#file?.isWritable && this.#identity?.status() !== 'here';
    const other = isAway && this.#file ? restore(this.#file.db, this.#layout, this.#options.clock.now()) : null;
    this.#open(openSound);
    this.#outboxLog.recreated(other, this.#pendingBySink ?? {});
  }

  #prepare(): void {
    makeDirectory(this.#layout.directory);
    if (secureDirectory(this.#layout)) this.#outboxLog.secured();
    this.#takeLock();
    this.#mark?.close();
    this.#mark = new PositionMark(this.#layout.mark);
  }

  /** Takes the lock, again where it lost its name: another instance would not meet it there. */
  #takeLock(): void {
    if (this.#lock?.status() === 'here') return;
    try {
      const lock = takeLock(this.#layout);
      this.#lock?.release();
      this.#lock = lock;
    } catch (error) {
      if (error instanceof OutboxInUse && this.#identity?.status() === 'here') {
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
      if (!this.#file && !this.#archiveDue && !(error instanceof OutboxInUse)) this.#openReadOnly();
      throw error;
    }
  }

  #openWritable(how: typeof openSound): void {
    this.#prepare();
    const opened = how(this.#layout, this.#createOptions);
    try {
      this.#file = new OutboxFile(opened, this.#options.sinks, () => this.#mark);
    } catch (error) {
      opened.db.close();
      throw error;
    }
    this.#identity = fileIdentityOf(this.#layout.outbox);
    this.#isLockLost = false;
    this.#isRemovalReported = false;
    if (this.#archiveDue) this.#outboxLog.archived({ ...this.#archiveDue, movedTo: opened.archivedTo ?? null });
    this.#archiveDue = null;
    this.#recovery = opened.recovery;
    if (opened.isRecovered && opened.recovery) this.#outboxLog.recovered(opened.recovery);
    this.#playBack('RESTART');
    this.#quota.bound(this.#file);
    ensureReserve(this.#layout.reserve);
    this.#quota.measure(this.#file);
  }

  /** On a disk that takes no writes: what the file holds is known and sent, and updates of it stay in memory. @throws OutboxTooNew */
  #openReadOnly(): void {
    let db: DatabaseSync | null = null;
    try {
      db = connectReadOnly(this.#layout.outbox);
      this.#file = new OutboxFile({ db, state: loadState(db), observer: loadObserver(db) }, null, () => null);
    } catch (error) {
      db?.close();
      if (error instanceof OutboxTooNew) throw error;
    }
  }

  // After a start and after a failure: what a kill or a failed commit left in the log would look like a lost commit behind those that
  // come now. RESTART keeps its size, which a full disk might not give again.
  #playBack(mode: 'RESTART' | 'TRUNCATE'): void {
    try {
      if (this.#file?.isWritable) this.#file.db.exec(`PRAGMA wal_checkpoint(${mode})`);
    } catch {} // What is in the log is safe there: the next start plays it back.
  }

  #drop(): void {
    this.#file?.close();
    this.#file = null;
    this.#identity = null;
  }

  /** Whether something was done about it, so that it is worth another try. */
  #remedy(error: unknown, remedies: number): boolean {
    const { kind, reason } = troubleOf(error);
    if (kind === 'full') {
      // Both at once: with free pages in the file, the next write needs no more of the disk than its log has already.
      const isFreed = freeReserve(this.#layout.reserve);
      if (this.#file?.isWritable) return this.#triedToMakeRoom(this.#file, remedies) || isFreed;
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
      this.#owner.writeUpdates(file);
      return this.#quota.prune(file, failures) > 0;
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

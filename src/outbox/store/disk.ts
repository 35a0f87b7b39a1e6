import { existsSync } from 'node:fs';
import { faultPoint } from '../../fault-point.ts';
import type { LifecycleState } from '../../lifecycle/state.ts';
import type { Fill, OutboxOptions, Recovery, Storage } from '../outbox.ts';
import { explained, makeDirectory, secureDirectory } from './directory.ts';
import { faultOf, OutboxInUse, OutboxTooNew } from './errors.ts';
import { attempt, isDone } from './files.ts';
import { type Layout, layoutOf } from './layout.ts';
import { type Lock, takeLock } from './lock.ts';
import { openReadable, openSound } from './open.ts';
import type { OutboxFile } from './outbox-file.ts';
import { type Archived, createOutboxLog, type OutboxLog } from './outbox-log.ts';
import { PositionMark } from './position-mark.ts';
import { createQuota, type Memory, type Quota } from './quota.ts';
import { quarantine, restore } from './replacement.ts';
import { ensureReserve, freeReserve } from './reserve.ts';

/** After an error that is not about space the file is reopened or recreated, but not more often than this. */
const reopenEveryMs = 5_000;

/** Opening the file failed a moment ago. */
const notOpen = new Error('the outbox is not open');

/** For one thing that could not be done: the reserve, room, and once more. */
const mostRemedies = 3;

/** The file in its current state: writable, read-only, or missing. Only {@link Disk.openFirst} throws. */
export class Disk {
  readonly #options: OutboxOptions;
  readonly #memory: Memory;
  readonly #layout: Layout;
  readonly #outboxLog: OutboxLog;
  readonly #quota: Quota;
  #lock: Lock | null = null;
  #mark: PositionMark | null = null;
  #file: OutboxFile | null = null;
  #recovery: Recovery | null = null;
  #fault: Storage['fault'] = null;
  /** The file that is there is another VM's, and could not be moved yet. */
  #archiveDue: Pick<Archived, 'reason' | 'pending'> | null = null;
  #openedAt = Number.NEGATIVE_INFINITY;
  /** The present removal was logged. */
  #isRemovalReported = false;

  constructor(options: OutboxOptions, memory: Memory) {
    this.#options = options;
    this.#memory = memory;
    this.#layout = layoutOf(options.directory);
    this.#outboxLog = createOutboxLog(options);
    this.#quota = createQuota(options, memory, this.#outboxLog);
  }

  /** As far as it is known to be on disk, also where it can only be read; null where it cannot even be read. */
  get file(): OutboxFile | null {
    return this.#file;
  }

  get fault(): Storage['fault'] {
    return this.#fault;
  }

  get fill(): Fill {
    return this.#quota.fill();
  }

  get recovery(): Recovery | null {
    return this.#recovery;
  }

  /** In words, what happened to files that are open: they were removed or replaced, and are not recreated yet. Null: nothing. */
  get displacement(): string | null {
    return this.#file?.displacement() ?? this.#lock?.displacement() ?? null;
  }

  /** Another instance holds the very file that was ours: what it wrote to it meanwhile is unknown here. */
  get isLockLost(): boolean {
    return this.#file === null && this.#fault?.code === 'in-use';
  }

  /** Logs a problem that began, lasts or ended. */
  report(): void {
    this.#outboxLog.storage(this.#fault, this.#memory.buffer.records.size);
  }

  /** @throws OutboxInUse, OutboxTooNew */
  openFirst(): void {
    const isFatal = (error: unknown): boolean => error instanceof OutboxInUse || error instanceof OutboxTooNew;
    this.#remedied(mostRemedies, () => this.#file?.isWritable || this.#open(), isFatal);
  }

  /** Does it, again after each remedy that there is for what stops it. Null when it could not be done. */
  attempt<T>(work: (file: OutboxFile) => T): T | null {
    return this.#remedied(mostRemedies, (remedies) => {
      const file = this.#openedForWriting();
      const result = work(file);
      faultPoint('before-position-mark');
      this.#mark?.write(file.state, true);
      if (this.#fault || remedies > 0) this.#markHealthy();
      return result;
    });
  }

  /** Reads the file. Null without a readable one. */
  read<T>(ask: (file: OutboxFile) => T): T | null {
    return this.#remedied(this.#file?.isWritable ? 1 : 0, () => this.#file && ask(this.#file));
  }

  /** Remembers that records up to this position are sent from memory, as far as the disk takes even that. */
  handOut(state: LifecycleState): void {
    this.#mark?.write(state, false);
  }

  /** Moves the file aside, now or as soon as the disk allows, and begins a new one. */
  archive(reason: string): void {
    this.#archiveDue ??= { reason, pending: this.#file?.pendingBySink ?? null };
    this.#drop();
    this.#recovery = null;
    this.#openedAt = Number.NEGATIVE_INFINITY;
    this.attempt(() => null);
  }

  maintain(): void {
    if (!this.#file?.isWritable || this.#fault) return;
    try {
      this.#quota.maintain(this.#file);
      this.#outboxLog.maintenance(null);
    } catch (error) {
      if (!this.#remedy(error, 0)) this.#outboxLog.maintenance(faultOf(error));
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

  #remedied<T>(most: number, work: (remedies: number) => T, isFatal = (_error: unknown) => false): T | null {
    for (let remedies = 0; ; remedies += 1) {
      try {
        return work(remedies);
      } catch (error) {
        if (remedies < most && this.#remedy(error, remedies)) continue;
        if (isFatal(error)) {
          this.close();
          throw error;
        }
        this.#markDegraded(error);
        return null;
      }
    }
  }

  get #wasOpenedJustNow(): boolean {
    return this.#options.clock.monotonicMs() - this.#openedAt < reopenEveryMs;
  }

  #openedForWriting(): OutboxFile {
    const { displacement } = this;
    if (displacement !== null) this.#recreateFiles(displacement);
    const isSick = !this.#file?.isWritable || this.#fault?.kind === 'unavailable';
    if (isSick && !this.#wasOpenedJustNow) this.#open();
    if (!this.#file?.isWritable) throw notOpen;
    return this.#file;
  }

  /**
   * Recreates what was removed while it was open, and continues with all of it. Where that cannot be done the file without
   * a name stays open: what it holds is known and sent, and nothing is written to it.
   */
  #recreateFiles(displacement: string): void {
    if (this.#fault && this.#wasOpenedJustNow) throw notOpen;
    this.#openedAt = this.#options.clock.monotonicMs();
    if (!this.#isRemovalReported) this.#outboxLog.removed(displacement);
    this.#isRemovalReported = true;
    this.#prepare();
    const other = this.#file?.displacement() ? restore(this.#file.db, this.#layout, this.#options.clock.now()) : null;
    this.#open();
    this.#outboxLog.recreated(other, this.#file?.pendingBySink ?? {});
  }

  #prepare(): void {
    makeDirectory(this.#layout.directory);
    const closed = secureDirectory(this.#layout);
    if (closed.length > 0) this.#outboxLog.secured(closed);
    this.#takeLock();
    this.#mark?.close();
    this.#mark = new PositionMark(this.#layout.mark);
  }

  /** Takes the lock, again where it lost its name: another instance would not meet it there. */
  #takeLock(): void {
    if (this.#lock?.displacement() === null) return;
    try {
      const lock = takeLock(this.#layout);
      this.#lock?.release();
      this.#lock = lock;
    } catch (error) {
      if (error instanceof OutboxInUse && this.#file?.isWritable && !this.#file.displacement()) this.#drop();
      throw error;
    }
  }

  /** Opens the file for writing, and if that fails, for reading. `damage`: what is known to be wrong with it. */
  #open(damage: string | null = null): void {
    this.#openedAt = this.#options.clock.monotonicMs();
    this.#drop(); // First: closing removes the log by its name, which may be another's by then.
    try {
      this.#prepare();
      this.#openWritable(damage);
    } catch (error) {
      if (!this.#file && !this.#archiveDue && !(error instanceof OutboxInUse)) this.#openReadOnly();
      throw error;
    }
  }

  #openWritable(damage: string | null): void {
    const { clock, version, sinks } = this.#options;
    const at = clock.now();
    const archivedTo =
      this.#archiveDue && existsSync(this.#layout.outbox) ? quarantine(this.#layout, 'archived', at) : null;
    const { file, isRecovered } = openSound(this.#layout, { at, version, sinks }, damage);
    this.#file = file;
    this.#mark?.write(file.state, true);
    this.#isRemovalReported = false;
    if (this.#archiveDue) this.#outboxLog.archived({ ...this.#archiveDue, movedTo: archivedTo });
    this.#archiveDue = null;
    this.#recovery = file.recovery;
    if (isRecovered && file.recovery) this.#outboxLog.recovered(file.recovery);
    this.#playBack('RESTART');
    this.#quota.bound(file);
    ensureReserve(this.#layout.reserve);
    this.#quota.measure(file);
  }

  /** On a disk that takes no writes: what the file holds is known and sent, and updates of it stay in memory. @throws OutboxTooNew */
  #openReadOnly(): void {
    try {
      this.#file = openReadable(this.#layout);
    } catch (error) {
      if (error instanceof OutboxTooNew) throw error;
    }
  }

  // After a start and after a failure: what a kill or a failed commit left in the log would look like a lost commit behind those that
  // come now. RESTART keeps its size, which a full disk might not give again. What is in the log is safe: the next start plays it back.
  #playBack(mode: 'RESTART' | 'TRUNCATE'): void {
    const db = this.#file?.isWritable ? this.#file.db : null;
    faultPoint('before-checkpoint');
    attempt(() => db?.exec(`PRAGMA wal_checkpoint(${mode})`));
  }

  #drop(): void {
    this.#file?.db.close();
    this.#file = null;
  }

  /** Whether something was done about it, so that it is worth another try. */
  #remedy(error: unknown, remedies: number): boolean {
    const { kind, reason } = faultOf(error);
    if (kind === 'full') {
      if (this.#file?.isWritable && this.#quota.raise(this.#file)) return true;
      // Both at once: with free pages in the file, the next write needs no more of the disk than its log has already.
      const isFreed = freeReserve(this.#layout.reserve);
      const file = this.#file;
      // The log restarts at its front: on a full disk it cannot grow.
      if (file?.isWritable) return (attempt(() => this.#quota.prune(file, remedies)) ?? 0) > 0 || isFreed;
      this.#openedAt = Number.NEGATIVE_INFINITY;
      return isFreed;
    }
    // Twice at most: else a disk that damages whatever it is given would push what it damaged first out of quarantine.
    if (kind !== 'damaged' || remedies > 1) return false;
    const isReplaced = (): boolean => isDone(() => this.#open(reason));
    // What replaces it needs space of its own.
    return isReplaced() || (freeReserve(this.#layout.reserve) && isReplaced());
  }

  #markDegraded(error: unknown): void {
    if (error === notOpen && this.#fault) return;
    const found = faultOf(error);
    const isVague = found.kind === 'unavailable' && !(error instanceof OutboxInUse);
    const fault = isVague ? faultOf(explained(error, this.#layout.directory)) : found;
    this.#fault = { ...fault, since: this.#fault?.since ?? this.#options.clock.now().toISOString() };
    this.report();
  }

  #markHealthy(): void {
    this.#playBack('RESTART');
    this.#fault = null;
    this.report();
  }
}

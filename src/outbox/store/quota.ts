import { forgetConcluded } from '../control/approvals.ts';
import { forgetAnswered } from '../control/requests.ts';
import type { Fill, OutboxOptions } from '../outbox.ts';
import { sizeOf } from './files.ts';
import { layoutOf } from './layout.ts';
import type { OutboxFile } from './outbox-file.ts';
import type { OutboxLog } from './outbox-log.ts';
import { type Memory, prune } from './prune.ts';
import { freeBytes } from './reserve.ts';
import { fillOf, limitBytes } from './retention.ts';

/** What a transaction may need: most are of one record; the largest is `chunkBounds`, with its indexes. */
const [usualWriteBytes, largestWriteBytes] = [2 ** 16, 2 ** 19];

/** How much the file may take, how much it takes, and what is discarded when that is too much. */
export class Quota {
  readonly #options: OutboxOptions;
  readonly #memory: Memory;
  readonly #outboxLog: OutboxLog;
  #fill: Fill = { bytes: 0, limitBytes: 0, isAlarming: false };

  constructor(options: OutboxOptions, memory: Memory, outboxLog: OutboxLog) {
    this.#options = options;
    this.#memory = memory;
    this.#outboxLog = outboxLog;
  }

  get fill(): Fill {
    return this.#fill;
  }

  /** Decides on the bound by what the disk has free now, and has SQLite keep it. */
  bound(file: OutboxFile): void {
    const { maxMegabytes, directory } = this.#options;
    const { outbox } = layoutOf(directory);
    const sizes = { freeBytes: freeBytes(outbox), ownBytes: sizeOf(outbox), usedBytes: file.size.used };
    this.#fill = { ...this.#fill, limitBytes: limitBytes({ maxMegabytes, ...sizes }) };
    file.bound(this.#fill.limitBytes);
  }

  measure({ size: { used, log } }: OutboxFile): void {
    const before = this.#fill;
    this.#fill = fillOf({ bytes: used + log, limitBytes: before.limitBytes }, before);
    if (this.#fill.isAlarming !== before.isAlarming) this.#outboxLog.fill(this.#fill);
  }

  /**
   * Applies the retention. `failures`: how often the transaction that needs room found none before.
   * @returns how many records went.
   */
  prune(file: OutboxFile, failures: number | null = null): number {
    // The alarm comes before anything is discarded, however fast the outbox filled.
    this.measure(file);
    const needed = failures === null ? 0 : failures === 0 ? usualWriteBytes : largestWriteBytes;
    const [limit, at, memory] = [this.#fill.limitBytes, this.#options.clock.now(), this.#memory];
    const { removed, expired } = prune(file, { limit, needed, at, memory });
    if (expired > 0) this.#outboxLog.expired(expired);
    return removed;
  }

  /** Deletes what is kept for a time, gives free pages back to the disk, and plays the log back as far as no reader is in the way. */
  maintain(file: OutboxFile): void {
    const { clock } = this.#options;
    forgetAnswered(file.db, clock.now());
    forgetConcluded(file.db, clock.now());
    this.prune(file);
    file.db.exec('PRAGMA incremental_vacuum(2000)');
    file.db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    this.measure(file);
  }
}

import { statSync } from 'node:fs';
import type { Fill, OutboxOptions } from '../outbox.ts';
import { layoutOf } from './layout.ts';
import type { OutboxFile } from './outbox-file.ts';
import type { OutboxLog } from './outbox-log.ts';
import { type Memory, measure, prune, setBounds } from './prune.ts';
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
    const { outbox } = layoutOf(this.#options.directory);
    const ownBytes = statSync(outbox).size;
    const { maxMegabytes } = this.#options;
    const bytes = limitBytes({ maxMegabytes, freeBytes: freeBytes(outbox), ownBytes, usedBytes: measure(file).used });
    setBounds(file, bytes);
    this.#fill = { ...this.#fill, limitBytes: bytes };
  }

  measure(file: OutboxFile): void {
    const { used, log } = measure(file);
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
    const pruning = { limit: this.#fill.limitBytes, needed, at: this.#options.clock.now(), memory: this.#memory };
    const { expired, dropped } = prune(file, pruning);
    if (expired > 0) this.#outboxLog.expired(expired);
    return expired + dropped;
  }
}

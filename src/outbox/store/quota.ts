import type { Fill, OutboxOptions } from '../outbox.ts';
import { sizeOf } from './files.ts';
import { layoutOf } from './layout.ts';
import type { OutboxFile } from './outbox-file.ts';
import type { OutboxLog } from './outbox-log.ts';
import { type Memory, measure, prune, setBounds } from './prune.ts';
import { freeBytes } from './reserve.ts';
import { fillOf, limitBytes } from './retention.ts';

/** What a transaction may need: most are of one record; the largest is `chunkBounds`, with its indexes. */
const [usualWriteBytes, largestWriteBytes] = [2 ** 16, 2 ** 19];

export type Quota = ReturnType<typeof createQuota>;

/** How much the file may take, how much it takes, and what is discarded when that is too much. */
export function createQuota({ maxMegabytes, clock, directory }: OutboxOptions, memory: Memory, outboxLog: OutboxLog) {
  const { outbox } = layoutOf(directory);
  let fill: Fill = { bytes: 0, limitBytes: 0, isAlarming: false };

  const measured = (file: OutboxFile): void => {
    const { used, log } = measure(file);
    const before = fill;
    fill = fillOf({ bytes: used + log, limitBytes: before.limitBytes }, before);
    if (fill.isAlarming !== before.isAlarming) outboxLog.fill(fill);
  };

  return {
    fill: (): Fill => fill,
    measure: measured,
    /** Decides on the bound by what the disk has free now, and has SQLite keep it. */
    bound(file: OutboxFile): void {
      const [ownBytes, usedBytes] = [sizeOf(outbox), measure(file).used];
      fill = { ...fill, limitBytes: limitBytes({ maxMegabytes, freeBytes: freeBytes(outbox), ownBytes, usedBytes }) };
      setBounds(file, fill.limitBytes);
    },
    /**
     * Applies the retention. `failures`: how often the transaction that needs room found none before.
     * @returns how many records went.
     */
    prune(file: OutboxFile, failures: number | null = null): number {
      // The alarm comes before anything is discarded, however fast the outbox filled.
      measured(file);
      const needed = failures === null ? 0 : failures === 0 ? usualWriteBytes : largestWriteBytes;
      const { expired, dropped } = prune(file, { limit: fill.limitBytes, needed, at: clock.now(), memory });
      if (expired > 0) outboxLog.expired(expired);
      return expired + dropped;
    },
  };
}

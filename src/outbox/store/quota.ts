import { statSync } from 'node:fs';
import type { OutboxOptions } from '../outbox.ts';
import type { Layout } from './layout.ts';
import type { OutboxFile } from './outbox-file.ts';
import type { OutboxLog } from './outbox-log.ts';
import { type Memory, measure, prune, setBounds } from './prune.ts';
import { freeBytes } from './reserve.ts';
import { type Fill, fillOf, limitBytes } from './retention.ts';

/** How much the file may take, how much it takes, and what is given up when that is too much. */
export interface Quota {
  readonly fill: Fill;
  /** Decides on the bound by what the disk has free now, and has SQLite keep it. */
  bound(file: OutboxFile): void;
  measure(file: OutboxFile): void;
  /** Does what retention asks for. @returns how many records went. */
  make(file: OutboxFile): number;
  /** The same for a transaction that found no room, `failures` times before. */
  makeFor(file: OutboxFile, failures: number): number;
}

/** What a transaction may need: most are of one record; the largest is `partBounds`, with its indexes. */
const [usualWriteBytes, largestWriteBytes] = [2 ** 16, 2 ** 19];

export function createQuota(
  { maxMegabytes, clock }: Pick<OutboxOptions, 'maxMegabytes' | 'clock'>,
  { layout, memory, outboxLog }: { readonly layout: Layout; readonly memory: Memory; readonly outboxLog: OutboxLog },
): Quota {
  let fill: Fill = { bytes: 0, limitBytes: 0, isAlarming: false };

  const take = (file: OutboxFile): void => {
    const { used, log } = measure(file);
    const before = fill;
    fill = fillOf({ bytes: used + log, limitBytes: before.limitBytes }, before);
    if (fill.isAlarming !== before.isAlarming) outboxLog.filled(fill);
  };

  const make = (file: OutboxFile, needed: number): number => {
    // The alarm comes before anything is discarded, however fast the outbox filled.
    take(file);
    const { expired, dropped } = prune(file, { limit: fill.limitBytes, needed, at: clock.now(), memory });
    if (expired > 0) outboxLog.expired(expired);
    return expired + dropped;
  };

  return {
    get fill() {
      return fill;
    },
    bound(file) {
      const ownBytes = statSync(layout.outbox).size;
      const usedBytes = measure(file).used;
      const limit = limitBytes({ maxMegabytes, freeBytes: freeBytes(layout.outbox), ownBytes, usedBytes });
      setBounds(file, limit);
      fill = { ...fill, limitBytes: limit };
    },
    measure: take,
    make: (file) => make(file, 0),
    makeFor: (file, failures) => make(file, failures === 0 ? usualWriteBytes : largestWriteBytes),
  };
}

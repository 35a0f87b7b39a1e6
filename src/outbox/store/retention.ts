/** What is discarded when room is short, and in which order. Pure: `quota.ts` applies it to the file, `write-buffer.ts` to memory. */

import type { Fill } from '../outbox.ts';

const day = 24 * 3_600_000;

/** Delivered records are kept for later questions, within these. */
export const deliveredBounds = { ageMs: 7 * day, bytes: 16 * 2 ** 20 } as const;

/** What may be in memory while the disk takes no writes. */
export const memoryBounds = { records: 1_000, bytes: 4 * 2 ** 20 } as const;

/** Less than this would not hold an hour of a busy event: the 5 % give way on a disk that is nearly full. */
const leastBytes = 2 ** 20;

/** Room is made from this share of the bound on, and down to the other one, so that it is not made again at once. */
const pruneShare = { from: 0.9, to: 0.8 } as const;

/**
 * The bound in bytes: what is configured, and of a guest at most 5 % of what is free, counting what it takes already as free.
 * Never less than what is stored and room for more: a disk that others filled, or a smaller configuration, must not cost
 * records that were safe before the restart. Up to the configured bound what is stored is left alone when room is made;
 * above it the outbox does not grow any more.
 */
export function limitBytes({
  maxMegabytes,
  freeBytes,
  ownBytes,
  usedBytes,
}: {
  readonly maxMegabytes: number;
  /** Free on the disk. */
  readonly freeBytes: number;
  /** Size of the file. */
  readonly ownBytes: number;
  /** Pages of the file that hold something. */
  readonly usedBytes: number;
}): number {
  const most = maxMegabytes * 2 ** 20;
  const polite = Math.min(most, Math.floor((freeBytes + ownBytes) / 20));
  const untouched = Math.min(most, withLog(usedBytes / pruneShare.to));
  return Math.ceil(Math.max(leastBytes, polite, untouched, withLog(usedBytes / pruneShare.from)));
}

/** Of the bound, what the log may take before it is played back into the file. */
export const logBytes = (limit: number): number => Math.min(4 * 2 ** 20, Math.floor(limit / 8));

/** The bound for which the file, without the log, may take this many bytes. */
const withLog = (fileBytes: number): number => fileBytes + Math.min(4 * 2 ** 20, Math.ceil(fileBytes / 7));

/**
 * What everything but records may take beyond the bound: results of deliveries, tombstones, deleting. A full outbox has to
 * be able to write what makes room in it.
 */
export const slackBytes = 4 * 2 ** 20;

export function fillOf({ bytes, limitBytes: limit }: Omit<Fill, 'isAlarming'>, before: Fill | null): Fill {
  const alarmAt = before?.isAlarming ? 0.6 : 0.7;
  return { bytes, limitBytes: limit, isAlarming: bytes >= alarmAt * limit };
}

/** Bytes to get rid of: nothing up to 90 % of the bound, then down to 80 %; and what `needed` bytes more would be too much. */
export const excessBytes = (used: number, limit: number, needed = 0): number => {
  const shares = used <= pruneShare.from * limit ? 0 : Math.ceil(used - pruneShare.to * limit);
  return Math.max(shares, used + needed - limit);
};

/** A record that no sink has yet to get. */
export interface DeliveredRecord {
  readonly position: number;
  readonly bytes: number;
  readonly appendedAt: string;
}

/**
 * The delivered records to drop. `oldestFirst` as named. `excess` bytes are dropped even if they are young: they go before
 * anything that a sink has yet to get.
 */
export function deliveredToDrop(oldestFirst: readonly DeliveredRecord[], at: Date, excess: number): readonly number[] {
  const total = oldestFirst.reduce((sum, { bytes }) => sum + bytes, 0);
  let surplus = Math.max(excess, total - deliveredBounds.bytes);
  return oldestFirst.flatMap(({ position, bytes, appendedAt }) => {
    const isOld = at.getTime() - Date.parse(appendedAt) > deliveredBounds.ageMs;
    if (!isOld && surplus <= 0) return [];
    surplus -= bytes;
    return [position];
  });
}

/** All records of one event that are kept. */
export interface RetainedEvent {
  readonly eventKey: string;
  readonly lastPosition: number;
  readonly bytes: number;
  readonly isOpen: boolean;
}

/** The events to discard, whole, oldest end first. Never an open one: its next step would come without its beginning. */
export function eventsToExpire(events: readonly RetainedEvent[], excess: number): readonly string[] {
  let surplus = excess;
  return events
    .filter(({ isOpen }) => !isOpen)
    .toSorted((a, b) => a.lastPosition - b.lastPosition)
    .flatMap(({ eventKey, bytes }) => {
      if (surplus <= 0) return [];
      surplus -= bytes;
      return [eventKey];
    });
}

/** A record in memory. */
export interface MemoryRecord {
  readonly position: number;
  readonly eventKey: string;
  readonly bytes: number;
  /** Every sink has it. */
  readonly isDone: boolean;
}

/**
 * The records in memory to discard, `oldestFirst` as named: those that every sink has, then ended events, oldest end
 * first. Open events are not spared here, since the memory is the guest's: if need be, the oldest records go.
 */
export function recordsToDiscard(
  oldestFirst: readonly MemoryRecord[],
  isOpen: (eventKey: string) => boolean,
): readonly number[] {
  const done = oldestFirst.filter(({ isDone }) => isDone);
  const ends = new Map(oldestFirst.map(({ eventKey, position }) => [eventKey, position]));
  const ended = [...ends].filter(([eventKey]) => !isOpen(eventKey)).toSorted(([, a], [, b]) => a - b);
  const ofEnded = ended.flatMap(([eventKey]) => oldestFirst.filter((record) => record.eventKey === eventKey));
  let records = oldestFirst.length;
  let bytes = oldestFirst.reduce((sum, record) => sum + record.bytes, 0);
  const discarded: number[] = [];
  for (const record of new Set([...done, ...ofEnded, ...oldestFirst])) {
    if (records <= memoryBounds.records && bytes <= memoryBounds.bytes) break;
    discarded.push(record.position);
    records -= 1;
    bytes -= record.bytes;
  }
  return discarded;
}

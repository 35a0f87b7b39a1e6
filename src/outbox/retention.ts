/** What goes when room is short, and in which order. Pure: `tidy.ts` does it to the file, `unwritten.ts` to what is in memory. */

const day = 24 * 3_600_000;

/** Delivered records stay for who asks later, within these. */
export const deliveredBounds = { ageMs: 7 * day, bytes: 16 * 2 ** 20 } as const;

/** What may be in memory while the disk takes no writes. */
export const memoryBounds = { records: 1_000, bytes: 4 * 2 ** 20 } as const;

/** How much of its bound the outbox takes. */
export interface Fill {
  /** The file in use and its log. */
  readonly bytes: number;
  readonly limitBytes: number;
  /** 70 % were reached, and it has not been under 60 % since. */
  readonly isAlarming: boolean;
}

/** Less than this would not hold an hour of a busy event: the 5 % give way on a disk that is nearly full. */
const leastBytes = 2 ** 20;

/** The bound: what is configured, but a guest takes at most 5 % of what is free, counting what it takes already as free. */
export const limitBytes = ({
  maxMegabytes,
  freeBytes,
  ownBytes,
}: {
  readonly maxMegabytes: number;
  readonly freeBytes: number;
  readonly ownBytes: number;
}): number => Math.max(leastBytes, Math.min(maxMegabytes * 2 ** 20, Math.floor((freeBytes + ownBytes) / 20)));

/** Of the bound, what the log may take before it is played back into the file. */
export const logBytes = (limit: number): number => Math.min(4 * 2 ** 20, Math.floor(limit / 8));

export function fillOf({ bytes, limitBytes: limit }: Omit<Fill, 'isAlarming'>, before: Fill | null): Fill {
  const alarmAt = before?.isAlarming ? 0.6 : 0.7;
  return { bytes, limitBytes: limit, isAlarming: bytes >= alarmAt * limit };
}

/** Bytes to get rid of: nothing up to 90 % of the bound, then down to 80 %, so that it is not done again at once. */
export const excessBytes = (used: number, limit: number): number =>
  used <= 0.9 * limit ? 0 : Math.ceil(used - 0.8 * limit);

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

/** The events to give up, whole, oldest end first. Never an open one: its next step would come without its beginning. */
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
 * The records in memory to give up, `oldestFirst` as named: those that every sink has, then ended events, oldest end
 * first. Here an open event is no sanctuary, since memory is the guest's: if it must be, the oldest records go.
 */
export function recordsToGiveUp(
  oldestFirst: readonly MemoryRecord[],
  isOpen: (eventKey: string) => boolean,
): readonly number[] {
  let records = oldestFirst.length;
  let bytes = oldestFirst.reduce((sum, record) => sum + record.bytes, 0);
  const given = new Set<number>();
  const giveUp = (record: MemoryRecord): void => {
    const fits = records <= memoryBounds.records && bytes <= memoryBounds.bytes;
    if (fits || given.has(record.position)) return;
    given.add(record.position);
    records -= 1;
    bytes -= record.bytes;
  };
  oldestFirst.filter(({ isDone }) => isDone).forEach(giveUp);
  const ends = new Map(oldestFirst.map(({ eventKey, position }) => [eventKey, position]));
  const ended = [...ends].filter(([eventKey]) => !isOpen(eventKey)).toSorted(([, a], [, b]) => a - b);
  for (const [eventKey] of ended) oldestFirst.filter((record) => record.eventKey === eventKey).forEach(giveUp);
  oldestFirst.forEach(giveUp);
  return [...given];
}

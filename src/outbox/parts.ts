import type { HeldRecord } from './deliveries.ts';

/** The most that one transaction writes: polling waits for it. */
export const partBounds = { rows: 500, bytes: 256 * 1024 } as const;

/**
 * The oldest records that make one transaction, each with one delivery row per sink, and whether there are more. At least
 * one, however large.
 */
export function firstPart(
  records: Iterable<HeldRecord>,
  sinks: number,
): { readonly part: readonly HeldRecord[]; readonly isLast: boolean } {
  const part: HeldRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    const isFull = (part.length + 1) * (1 + sinks) > partBounds.rows || bytes + record.json.length > partBounds.bytes;
    if (isFull && part.length > 0) return { part, isLast: false };
    part.push(record);
    bytes += record.json.length;
  }
  return { part, isLast: true };
}

import type { BufferedRecord } from './deliveries.ts';

/** The most that one transaction writes: polling waits for it. */
export const chunkBounds = { rows: 500, bytes: 256 * 1024 } as const;

/**
 * The oldest records that make one transaction, each with one delivery row per sink, and whether there are more. At least
 * one, however large.
 */
export function firstChunk(
  records: Iterable<BufferedRecord>,
  sinks: number,
): { readonly chunk: readonly BufferedRecord[]; readonly isLast: boolean } {
  const chunk: BufferedRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    const isFull =
      (chunk.length + 1) * (1 + sinks) > chunkBounds.rows || bytes + record.json.length > chunkBounds.bytes;
    if (isFull && chunk.length > 0) return { chunk, isLast: false };
    chunk.push(record);
    bytes += record.json.length;
  }
  return { chunk, isLast: true };
}

import { labelOf } from '../../sinks/registry.ts';

/** Text of foreign origin for a terminal: one line, without control characters that would move the cursor or change colours. */
export const plain = (text: string): string => text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();

/** A sink as sentences call it. */
export const sinkName = (sink: string): string => plain(labelOf(sink));

/** The rows of a table, in columns two blanks apart; numbers to the right. Every line ends with a line feed. */
export function aligned(rows: readonly (readonly string[])[], rightAligned: readonly number[] = []): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number): string =>
    rightAligned.includes(column) ? text.padStart(widths[column] ?? 0) : text.padEnd(widths[column] ?? 0);
  return rows.map((row) => `${row.map(cell).join('  ').trimEnd()}\n`).join('');
}

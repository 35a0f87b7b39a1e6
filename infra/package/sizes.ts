/** Bytes of what was made. */
export interface Sizes {
  readonly name: string;
  /** Everything but the runtime, compressed by itself. */
  readonly app: number;
  readonly package: number;
}

/** Bytes, compressed: what a VM downloads. */
export const budget = { app: 1_000_000, package: 46_000_000 } as const;

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(2)} MB`;

/** One line for each package, in columns. */
export function sizeTable(sizes: readonly Sizes[]): string {
  const head = ['', 'app', 'package'];
  const rows = sizes.map(({ name, app, package: whole }) => [name, megabytes(app), megabytes(whole)]);
  const all = [head, ...rows, ['at most', megabytes(budget.app), megabytes(budget.package)]];
  const widths = head.map((_, n) => Math.max(...all.map((row) => row[n]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, n) => (n === 0 ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0))).join('  ');
  return `${all.map(line).join('\n')}\n`;
}

/** What exceeds the budget, each a sentence. */
export const overBudget = (sizes: readonly Sizes[]): string[] =>
  sizes.flatMap((one) =>
    (['app', 'package'] as const)
      .filter((what) => one[what] > budget[what])
      .map(
        (what) => `${one.name}: the ${what} has ${megabytes(one[what])}, and ${megabytes(budget[what])} are allowed.`,
      ),
  );

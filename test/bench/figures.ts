import { cpus, loadavg, release, totalmem } from 'node:os';
import { median } from './process-figures.ts';

/** Median and range, for a table. */
export const cell = (values: readonly number[], digits = 0): string =>
  values.length === 0
    ? '-'
    : `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)} to ${Math.max(...values).toFixed(digits)})`;

/** The value that `percent` of them do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

/** What the figures depend on. */
export function machine(): string {
  const [first] = cpus();
  const gigabytes = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${first?.model ?? 'unknown'}, ${gigabytes} GB, Linux ${release()}, Node ${process.versions.node}, load ${loadavg()[0]?.toFixed(1)}`;
}

import columns from '../../../bicep/schema/columns.json' with { type: 'json' };
import type { Column } from '../index.ts';

/** The streams of the data collection rule, with the columns of the real tables. */
export const streams: Readonly<Record<string, readonly Column[]>> = Object.fromEntries(
  Object.entries(columns.tables).map(([table, declared]) => [`Custom-${table}`, declared]),
);

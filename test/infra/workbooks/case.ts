import type { Timeline } from './timeline.ts';

/** What a panel shows of a timeline. */
export interface Case {
  readonly name: string;
  readonly panel: string;
  readonly timeline: Timeline;
  readonly now?: string;
  /** Columns that are compared. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
}

import type { Stage, Tables } from '../stage.ts';

/** What a query says of something that happened. */
export interface QueryCase {
  readonly query: string;
  /** What happened: the name of the test. */
  readonly of: string;
  readonly stage: Stage;
  /** What else stands in the tables, or what does not. */
  readonly change?: (tables: Tables) => Tables;
  /** A text of the query that a person replaces by another. */
  readonly edit?: readonly [string, string];
  /** Columns of which `rows` tells. */
  readonly show: readonly string[];
  /** Empty: the query must find nothing. */
  readonly rows: readonly string[];
}

/** The tables with more rows in them. */
export const adding =
  (more: Partial<Tables>): NonNullable<QueryCase['change']> =>
  (tables) => ({
    VmLifecycle_CL: [...tables.VmLifecycle_CL, ...(more.VmLifecycle_CL ?? [])],
    VmLifecycleBridge_CL: [...tables.VmLifecycleBridge_CL, ...(more.VmLifecycleBridge_CL ?? [])],
    Heartbeat: [...tables.Heartbeat, ...(more.Heartbeat ?? [])],
    AzureActivity: [...tables.AzureActivity, ...(more.AzureActivity ?? [])],
  });

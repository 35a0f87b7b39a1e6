import { clock, type Stage, type Tables } from '../stage.ts';

/** The expected answer of a query about something that happened. */
export interface QueryCase {
  readonly query: string;
  /** What happened: the name of the test. */
  readonly of: string;
  readonly stage: Stage;
  /** Adds rows to the tables, or removes some. */
  readonly change?: (tables: Tables) => Tables;
  /** A text of the query that a person replaces by another. */
  readonly edit?: readonly [string, string];
  /** The columns of `rows`. */
  readonly show: readonly string[];
  /** Empty: the query must find nothing. */
  readonly rows: readonly string[];
}

/** The bridge of a VM approved its event this many minutes after noon: as its first record of the event, in the phase that says so. */
export const approvedBy =
  (vm: string, minutes: number, answer = 'accepted'): NonNullable<QueryCase['change']> =>
  (tables) => {
    const [first] = tables.VmLifecycle_CL.filter(({ VmName }) => VmName === vm);
    const said = { Phase: 'Approved', Evidence: [answer], RecordId: 'approval', TransitionId: 'approval' };
    return adding({ VmLifecycle_CL: [{ ...first, ...said, ObservedAt: clock(minutes) }] })(tables);
  };

/** The tables with more rows in them. */
export const adding =
  (more: Partial<Tables>): NonNullable<QueryCase['change']> =>
  (tables) => ({
    VmLifecycle_CL: [...tables.VmLifecycle_CL, ...(more.VmLifecycle_CL ?? [])],
    VmLifecycleBridge_CL: [...tables.VmLifecycleBridge_CL, ...(more.VmLifecycleBridge_CL ?? [])],
    Heartbeat: [...tables.Heartbeat, ...(more.Heartbeat ?? [])],
    AzureActivity: [...tables.AzureActivity, ...(more.AzureActivity ?? [])],
  });

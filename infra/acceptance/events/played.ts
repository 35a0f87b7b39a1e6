import type { LifecycleRecord } from '../../../src/lifecycle/record.ts';
import type { EnqueuedRecord } from '../target.ts';

/** What was seen while a scenario was played on one VM. */
export interface Played {
  /** By the clock of this machine. */
  readonly requestedAt: Date;
  /** When the approval was requested; null if it was not. */
  readonly approvedAt: Date | null;
  /** Why the event could not be approved; null if it could, or was not to be. */
  readonly approvalProblem: string | null;
  /** EventId of the event; null if none of the expected type appeared. */
  readonly eventId: string | null;
  /** Records of the event by this VM, in order of arrival in the event hub, copies included. */
  readonly records: readonly EnqueuedRecord[];
  /** Their rows, copies included. */
  readonly rows: readonly TableRow[];
  /** Records about other events of the VM in the meantime. */
  readonly others: readonly LifecycleRecord[];
  /** Null: it could not be read. */
  readonly recording: string | null;
}

/** What `rowsOf` asks of the table. */
export interface TableRow {
  readonly RecordId: string;
  readonly StreamId: string;
  readonly EventId: string;
  readonly Phase: string;
  readonly Sequence: number;
  readonly ObservedAt: string;
  /** When the table received it. */
  readonly IngestedAt: string;
}

/** The rows of records that were observed since then. */
export const rowsQuery = (vmName: string, since: Date): string =>
  [
    'VmLifecycle_CL',
    `| where ObservedAt >= datetime(${since.toISOString()}) and VmName =~ '${vmName.replaceAll("'", "\\'")}'`,
    '| extend IngestedAt = ingestion_time()',
    '| project RecordId, StreamId, EventId, Phase, Sequence, ObservedAt, IngestedAt',
  ].join('\n');

/** Copies of a record have the same key. */
export const recordKey = ({ streamId, recordId }: Pick<LifecycleRecord, 'streamId' | 'recordId'>): string =>
  `${streamId} ${recordId}`;
export const rowKey = ({ StreamId, RecordId }: Pick<TableRow, 'StreamId' | 'RecordId'>): string =>
  `${StreamId} ${RecordId}`;

/** The first copy of each record, in the order of the VM. */
export function firstCopies(records: readonly EnqueuedRecord[]): readonly EnqueuedRecord[] {
  const first = new Map<string, EnqueuedRecord>();
  for (const one of records) if (!first.has(recordKey(one.record))) first.set(recordKey(one.record), one);
  return [...first.values()].sort((a, b) => a.record.sequence - b.record.sequence);
}

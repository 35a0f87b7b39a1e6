import type { AzureSimulator, StoredEvent } from '../../src/azure-simulator/index.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { valid } from './published-schema.ts';

/** Those that were read before: tests ask again and again until one has arrived. */
const knownRecords = new WeakMap<StoredEvent, LifecycleRecord>();

/** The records on the event hub, in order of arrival, copies included. */
export const hubRecords = ({ eventHubs }: AzureSimulator): readonly LifecycleRecord[] =>
  eventHubs.events().map((event) => {
    const known = knownRecords.get(event);
    if (known) return known;
    const record = JSON.parse(event.body.toString('utf8')) as LifecycleRecord;
    valid([record]);
    knownRecords.set(event, record);
    return record;
  });

export type Row = Readonly<Record<string, unknown>>;

/** The rows of the table, in order of arrival, copies included. */
export const tableRows = ({ logAnalytics }: AzureSimulator): readonly Row[] => logAnalytics.rows();

/** `Freeze Started of WestNO_0: said-by-azure`, for records and rows alike. */
export const recordLines = (records: readonly (LifecycleRecord | Row)[]): string[] =>
  records.map((record) => {
    const field = (name: string): unknown =>
      (record as Row)[name] ?? (record as Row)[`${name[0]?.toUpperCase()}${name.slice(1)}`];
    return `${field('eventType')} ${field('phase')} of ${field('vmName')}: ${(field('evidence') as string[]).join(' ')}`;
  });

/** The first copy of each record. */
export function firstCopies<T extends { readonly recordId?: string; readonly RecordId?: unknown }>(
  records: readonly T[],
): T[] {
  const seen = new Map<unknown, T>();
  for (const record of records) {
    const id = record.recordId ?? record.RecordId;
    if (!seen.has(id)) seen.set(id, record);
  }
  return [...seen.values()];
}

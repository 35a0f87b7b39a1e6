import { encodeRow } from '../../../src/sinks/log-analytics/encode.ts';
import type { EnqueuedRecord, QueryResult } from '../target.ts';
import { comparable } from './compare-results.ts';
import type { TableColumn } from './workspace-rows.ts';

/** https://learn.microsoft.com/azure/azure-monitor/logs/log-standard-columns, and those that the service adds to every table. */
const standardColumns: readonly string[] = [
  'TenantId',
  'Type',
  'SourceSystem',
  'MG',
  'ManagementGroupName',
  'RawData',
  '_ResourceId',
  '_SubscriptionId',
  '_ItemId',
  '_BilledSize',
  '_IsBillable',
  '_TimeReceived',
];

/** What is wrong with the columns of a table, each a sentence. Columns that every table has are ignored. */
export function columnProblems(
  table: string,
  actual: QueryResult['columns'],
  expected: readonly TableColumn[],
): readonly string[] {
  const types = new Map(actual.map(({ name, type }) => [name, type]));
  const names = new Set(expected.map(({ name }) => name));
  return [
    ...expected.flatMap(({ name, type }) => {
      const found = types.get(name);
      if (found === undefined) return [`${table} has no column ${name}.`];
      return found === type ? [] : [`${name} of ${table} is of type ${found}; expected was ${type}.`];
    }),
    ...actual
      .filter(({ name }) => !names.has(name) && !standardColumns.includes(name))
      .map(({ name, type }) => `${table} has a column ${name} (${type}) that was not deployed.`),
  ];
}

/**
 * What is wrong with the rows of the table of records, each a sentence: a record of the hub has no row, or a row has other values than the
 * record, or belongs to no record. Copies are allowed: delivery is at least once.
 */
export function rowProblems(messages: readonly EnqueuedRecord[], rows: QueryResult['rows']): readonly string[] {
  const byRecord = Map.groupBy(rows, ({ StreamId, RecordId }) => `${StreamId} ${RecordId}`);
  const records = new Map(messages.map(({ record }) => [`${record.streamId} ${record.recordId}`, record]));
  return [
    ...[...records].flatMap(([id, record]) => {
      const own = byRecord.get(id);
      if (own === undefined) return [`The record ${record.recordId} is in the hub and not in the table.`];
      return own.flatMap((row) => valueProblems(record, row));
    }),
    ...[...byRecord]
      .filter(([id]) => !records.has(id))
      .map(([id]) => `The row ${id} is in the table and its record not in the hub.`),
  ];
}

function valueProblems(record: EnqueuedRecord['record'], row: QueryResult['rows'][number]): string[] {
  return Object.entries(encodeRow(record)).flatMap(([column, value]) => {
    const expected = JSON.stringify(comparable(value));
    const actual = JSON.stringify(comparable(row[column]));
    return actual === expected
      ? []
      : [`${column} of the row ${record.recordId} is ${actual}; the record has ${expected}.`];
  });
}

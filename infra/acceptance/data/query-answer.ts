import type { QueryResult } from '../target.ts';

/** A request for a query had no complete result. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
}

/**
 * The result in an answer of the query API of Log Analytics. Throws a `QueryError` if the answer has another form, or reports an error beside
 * its rows (code `PartialError`).
 * https://learn.microsoft.com/azure/azure-monitor/logs/api/response-format
 */
export function readQueryAnswer(answer: unknown): QueryResult {
  const { tables, error } = isObject(answer) ? answer : {};
  if (error !== undefined) throw new QueryError(`Log Analytics has only a part of the result: ${innermost(error)}`);
  const table = Array.isArray(tables) ? tables.find(({ name }) => name === 'PrimaryResult') : undefined;
  if (!isTable(table)) {
    throw new QueryError(`Log Analytics answered without a table of results: ${JSON.stringify(answer)?.slice(0, 200)}`);
  }
  const { columns, rows } = table;
  return {
    columns,
    rows: rows.map((row) =>
      Object.fromEntries(columns.map(({ name, type }, index) => [name, readCell(row[index], type)])),
    ),
  };
}

/** What the service says in the message of a request that failed: the innermost error, which names the fault in the query. */
export function queryErrorIn(message: string): string {
  const from = message.indexOf('{');
  try {
    const answer: unknown = JSON.parse(message.slice(from, message.lastIndexOf('}') + 1));
    return innermost(isObject(answer) ? (answer.error ?? answer) : answer);
  } catch {
    return message;
  }
}

/** `SEM0100: 'where' operator: Failed to resolve column …`. */
function innermost(error: unknown): string {
  if (!isObject(error)) return String(error);
  const [detail] = Array.isArray(error.details) ? error.details : [];
  const inner = error.innererror ?? error.innerError ?? detail;
  if (isObject(inner)) return innermost(inner);
  return [error.code, error.message].filter((part) => typeof part === 'string' && part !== '').join(': ');
}

interface AnsweredTable {
  readonly columns: QueryResult['columns'];
  readonly rows: readonly (readonly unknown[])[];
}

const isTable = (table: unknown): table is AnsweredTable =>
  isObject(table) && Array.isArray(table.columns) && Array.isArray(table.rows);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Times have as many digits as they need, and dynamic values are JSON in a text; both are made equal to those of other sources. */
function readCell(value: unknown, type: string): unknown {
  if (type === 'bool' && typeof value === 'number') return value !== 0;
  if (typeof value !== 'string') return value ?? null;
  if (type === 'datetime') return withSevenDigits(value);
  if (type !== 'dynamic') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** A time in UTC with the seven digits that Kusto has; any other text unchanged. */
export function withSevenDigits(time: string): string {
  const [, seconds, fraction = ''] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,7}))?Z$/.exec(time) ?? [];
  return seconds === undefined ? time : `${seconds}.${fraction.padEnd(7, '0')}Z`;
}

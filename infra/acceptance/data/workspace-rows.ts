import { join } from 'node:path';
import columns from '../../../bicep/schema/columns.json' with { type: 'json' };
import type { Cell, ExecuteOptions, GivenRow, Kql } from '../../../test/tools/kql/index.ts';
import stubs from '../../../test/tools/kql/stub-tables.json' with { type: 'json' };
import type { QueryResult } from '../target.ts';

/** Rows by table, as the queries of this project read them. */
export type WorkspaceRows = Readonly<Record<string, readonly GivenRow[]>>;

/** A column of a table, with the name of its type in Kusto. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
}

/** The tables of the project and their columns. */
export const ownTables: Readonly<Record<string, readonly TableColumn[]>> = Object.fromEntries(
  Object.entries(columns.tables).map(([table, list]) => [
    table,
    list.map(({ name, type }) => ({ name, type: { dateTime: 'datetime', boolean: 'bool' }[type] ?? type })),
  ]),
);

/** Tables of Azure that queries of this project join, and the columns that they read of them. */
export const azureTables: Readonly<Record<string, readonly TableColumn[]>> = Object.fromEntries(
  Object.entries(stubs.tables).map(([table, { columns }]) => [
    table,
    Object.entries(columns).map(([name, type]) => ({ name, type })),
  ]),
);

/** No rows in any table. */
export const noRows: WorkspaceRows = Object.fromEntries(
  [...Object.keys(ownTables), ...Object.keys(azureTables)].map((table) => [table, []]),
);

/** The engine of the tests, with the stored functions. What it has bound it keeps for the process. */
export async function openEngine(): Promise<Kql> {
  const { openKql } = await import('../../../test/tools/kql/index.ts');
  return openKql({ functionsFrom: [join(import.meta.dirname, '../../kql/functions')] });
}

/** Runs a query over rows at one time. Throws what the engine refuses. */
export function runLocally(kql: Kql, query: string, tables: ExecuteOptions['tables'], now: Date): QueryResult {
  const { columns, rows } = kql.execute(query, { tables, now: now.toISOString() });
  return {
    columns,
    rows: rows.map((row) =>
      Object.fromEntries(columns.map(({ name }, index): [string, Cell] => [name, row[index] ?? null])),
    ),
  };
}

import { readFileSync } from 'node:fs';
import { cellFromJson } from './cells.ts';
import type { Globals, LanguageService } from './language-service.ts';
import { type Row, type Table, withArrival } from './scope.ts';
import type { StoredFunction } from './stored-functions.ts';
import type { Column } from './syntax.ts';
import type { TypeName } from './values.ts';

/** The columns of every table a query may name. */
export type WorkspaceTables = ReadonlyMap<string, readonly Column[]>;

/** Types as `columns.json` spells them, which is how the Tables API does. */
const columnTypes: Readonly<Record<string, TypeName>> = { dateTime: 'datetime', boolean: 'bool' };

/** The tables of `bicep/schema/columns.json` and, in `stub-tables.json`, those of Azure that queries join. */
export function readWorkspaceTables(): WorkspaceTables {
  const own: { readonly tables: Record<string, readonly Column[]> } = readJson('../../../bicep/schema/columns.json');
  const stubs: { readonly tables: Record<string, { readonly columns: Record<string, TypeName> }> } =
    readJson('./stub-tables.json');
  return new Map([
    ...Object.entries(own.tables).map(([name, columns]): [string, Column[]] => [
      name,
      columns.map((column) => ({ name: column.name, type: columnTypes[column.type] ?? column.type })),
    ]),
    ...Object.entries(stubs.tables).map(([name, { columns }]): [string, Column[]] => [
      name,
      Object.entries(columns).map(([column, type]) => ({ name: column, type })),
    ]),
  ]);
}

const readJson = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));

/** What the language service knows of the workspace. Its cache keeps the bound bodies of stored functions, which would otherwise be bound again for each query. */
export function globalsOf(
  { kusto }: LanguageService,
  tables: WorkspaceTables,
  functions: readonly StoredFunction[],
): Globals {
  const { DatabaseSymbol, FunctionSymbol, TableSymbol } = kusto.Language.Symbols;
  const members = [
    ...[...tables].map(([name, columns]) => new TableSymbol.$ctor7(name, `(${schemaText(columns)})`, null)),
    ...functions.map(
      ({ name, parameters, body }) => new FunctionSymbol.$ctor16(name, `(${parameters})`, `{ ${body}\n }`, null),
    ),
  ];
  return kusto.Language.GlobalState.Default.WithDatabase(new DatabaseSymbol.ctor('workspace', members)).WithCache();
}

/** Names are quoted: `time`, `type` and `first` are keywords. */
const schemaText = (columns: readonly Column[]): string =>
  columns.map(({ name, type }) => `['${name}']:${type}`).join(', ');

/**
 * Rows of a table as a test gives them: by the name of the column; what is left out is null. Under `ingestion_time()`
 * stands the moment the row arrived, for queries that ask for it.
 */
export type GivenRow = Readonly<Record<string, unknown>>;

/** Turns given rows into a table. Throws where a row has a column that the table has not, or a value of another type. */
export function tableOfRows(name: string, columns: readonly Column[], given: readonly GivenRow[]): Table {
  const all = withArrival(columns);
  const known = new Set(all.map((column) => column.name));
  const rows = given.map((row): Row => {
    const stranger = Object.keys(row).find((key) => !known.has(key));
    if (stranger !== undefined) throw new Error(`${name} has no column ${stranger}`);
    return all.map((column) => cellFromJson(row[column.name], column.type));
  });
  return { columns: all, rows, serialized: false };
}

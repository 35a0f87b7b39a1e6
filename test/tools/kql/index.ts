import { type Cell, cellAsJson } from './cells.ts';
import { type Diagnostic, diagnosticOf, diagnosticsOf, isAnsweredAllTheSame } from './diagnostics.ts';
import { compile } from './expression.ts';
import { type Globals, itemsOf, type KustoCode, loadLanguageService } from './language-service.ts';
import { type Clock, type Engine, type Table, withoutArrival } from './scope.ts';
import { simpleAlertProblems } from './simple-alert.ts';
import { declare } from './statements.ts';
import { readStoredFunctions, type StoredFunction } from './stored-functions.ts';
import { type Column, columnsOf, elements, part } from './syntax.ts';
import { evaluateTable } from './table.ts';
import { parseDatetime } from './time-text.ts';
import { transformProblems } from './transform.ts';
import { Unsupported, unsupported } from './unsupported.ts';
import { datetime } from './values.ts';
import { type GivenRow, globalsOf, readWorkspaceTables, tableOfRows } from './workspace.ts';

export type { Cell } from './cells.ts';
export type { Diagnostic } from './diagnostics.ts';
export { storedFunction } from './stored-functions.ts';
export type { Column } from './syntax.ts';
export { Unsupported } from './unsupported.ts';
export type { GivenRow } from './workspace.ts';

export type Binding = {
  readonly diagnostics: readonly Diagnostic[];
  /** What the query gives; empty where it gives no table. */
  readonly columns: readonly Column[];
};

export type Answer = {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
};

/** Rows by table. A table that is not named has no rows to read, and a query that reads it is refused. */
export type GivenTables = Readonly<Record<string, readonly GivenRow[]>>;

/** Rows that are read already; nothing that is done to the given ones afterwards is seen. */
export type LoadedTables = { readonly loaded: ReadonlyMap<string, Table> };

export type ExecuteOptions = {
  readonly tables: GivenTables | LoadedTables;
  /** What `now()` is, ISO 8601. */
  readonly now: string;
};

export type KqlOptions = {
  /** Folders of `.kql` files, each a function of the workspace named for its file. */
  readonly functionsFrom?: readonly string[];
  /** Functions given as they are, for tests of the tests. */
  readonly functions?: readonly StoredFunction[];
};

export type Kql = {
  /** Binds a query against the workspace. */
  bind(query: string): Binding;
  /** The query as Microsoft's formatter writes it. */
  format(query: string): string;
  /** What Microsoft's analyzers have to say about style and cost. */
  analyze(query: string): readonly Diagnostic[];
  /** Reads rows once for many queries. Throws where a row does not fit its table. */
  load(tables: GivenTables): LoadedTables;
  /** Some of the loaded rows, by table and place. */
  select(tables: LoadedTables, keeps: (table: string, place: number) => boolean): LoadedTables;
  /** The answer of the query. Throws `Unsupported` for what it is not sure to answer as Kusto would. */
  execute(query: string, options: ExecuteOptions): Answer;
  /** What a data collection rule would refuse of a `transformKql` from one table into another of the same columns. */
  checkTransform(query: string, tables?: { readonly source: string; readonly target: string }): readonly string[];
  /** What a simple log search alert would refuse of a query. */
  checkSimpleAlert(query: string): readonly string[];
};

/** Opens the workspace of this repository: its tables, its stored functions, Microsoft's language service. */
export function openKql(options: KqlOptions = {}): Kql {
  const service = loadLanguageService();
  const { kusto, kinds } = service;
  const tables = readWorkspaceTables();
  const functions = [...(options.functionsFrom ?? []).flatMap(readStoredFunctions), ...(options.functions ?? [])];
  const { globals, known, found, clock } = workspaceOf(JSON.stringify(functions), () =>
    globalsOf(service, tables, functions),
  );
  const codeOf = (query: string): KustoCode => {
    const code = known.get(query) ?? kusto.Language.KustoCode.ParseAndAnalyze(query, globals);
    known.set(query, code);
    return code;
  };
  const diagnosticsIn = (code: KustoCode): readonly Diagnostic[] => {
    const diagnostics = found.get(code) ?? diagnosticsOf(code);
    found.set(code, diagnostics);
    return diagnostics;
  };
  const load = (given: GivenTables): LoadedTables => ({
    loaded: new Map(Object.entries(given).map(([name, rows]) => [name, tableOfRows(name, columnsNamed(name), rows)])),
  });
  const select: Kql['select'] = ({ loaded }, keeps) => ({
    loaded: new Map(
      [...loaded].map(([name, table]) => [
        name,
        { ...table, rows: table.rows.filter((_, place) => keeps(name, place)) },
      ]),
    ),
  });
  const answers = new WeakMap<LoadedTables['loaded'], Map<string, Map<string, Table>>>();
  /** What functions have answered of these rows at this time. */
  const answeredOf = (loaded: LoadedTables['loaded'], now: string): Map<string, Table> => {
    const byTime = answers.get(loaded) ?? new Map<string, Map<string, Table>>();
    answers.set(loaded, byTime);
    const answered = byTime.get(now) ?? new Map<string, Table>();
    byTime.set(now, answered);
    return answered;
  };
  const columnsNamed = (name: string): readonly Column[] => {
    const columns = tables.get(name);
    if (!columns) throw new Error(`there is no table ${name} in the workspace`);
    return columns;
  };
  const serviceOf = (query: string) => new kusto.Language.Editor.KustoCodeService.ctor(codeOf(query));

  return {
    bind: (query) => {
      const code = codeOf(query);
      return { diagnostics: diagnosticsIn(code), columns: columnsOf(code.ResultType) ?? [] };
    },
    format: (query) => serviceOf(query).GetFormattedText().Text,
    analyze: (query) => itemsOf(serviceOf(query).GetAnalyzerDiagnostics(true)).map(diagnosticOf),
    load,
    select,
    execute: (query, { tables: given, now }) => {
      const code = codeOf(query);
      const [fault] = diagnosticsIn(code).filter(
        (each) => each.severity === 'Error' && !isAnsweredAllTheSame(each, code, kinds),
      );
      if (fault) return unsupported(`${fault.code}: ${fault.message}`);
      const { loaded } = isLoaded(given) ? given : load(given);
      clock.now = parseDatetime(now) ?? unsupported(`the time ${now}`);
      const engine: Engine = {
        kinds,
        clock,
        compile,
        table: evaluateTable,
        named: new Map(),
        rowsOf: (name) => loaded.get(name),
        answered: answeredOf(loaded, now),
      };
      return answerOf(code, engine);
    },
    checkTransform: (query, { source, target } = { source: 'VmLifecycle_CL', target: 'VmLifecycle_CL' }) => {
      return transformProblems(query, columnsNamed(source), columnsNamed(target), service);
    },
    checkSimpleAlert: (query) => simpleAlertProblems(codeOf(query), kinds),
  };
}

/** Queries that were bound against one set of functions. Binding is slow, and all test files of a process ask for the same queries. */
type Workspace = {
  readonly globals: Globals;
  readonly known: Map<string, KustoCode>;
  readonly found: WeakMap<KustoCode, readonly Diagnostic[]>;
  readonly clock: Clock;
};
const workspaces = new Map<string, Workspace>();

function workspaceOf(functions: string, globals: () => Globals): Workspace {
  const workspace = workspaces.get(functions) ?? {
    globals: globals(),
    known: new Map(),
    found: new WeakMap(),
    clock: { now: datetime(0n) },
  };
  workspaces.set(functions, workspace);
  return workspace;
}

const isLoaded = (tables: GivenTables | LoadedTables): tables is LoadedTables =>
  'loaded' in tables && tables.loaded instanceof Map;

function answerOf(code: KustoCode, engine: Engine): Answer {
  const statements = [...elements(part(code.Syntax, 'Statements'))];
  const last = statements.pop() ?? unsupported('a query of nothing');
  if (engine.kinds.syntax(last) !== 'ExpressionStatement')
    return unsupported('a query that ends without an expression');
  const scope = { columns: [], serialized: false, names: { find: () => undefined }, engine };
  try {
    const table = withoutArrival(evaluateTable(part(last, 'Expression'), declare(statements, scope)));
    return { columns: table.columns, rows: table.rows.map((row) => row.map(cellAsJson)) };
  } catch (error) {
    if (error instanceof RangeError) throw new Unsupported(`a number beyond its range (${error.message})`);
    throw error;
  }
}

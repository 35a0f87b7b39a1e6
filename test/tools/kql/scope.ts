import type { KindNames, SyntaxNode } from './language-service.ts';
import type { Column } from './syntax.ts';
import type { Datetime, TypeName, Value } from './values.ts';

export type Row = readonly Value[];

/** Rows with their columns. `serialized`: their order is fixed, so `prev()` and `row_number()` mean something. */
export type Table = {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly serialized: boolean;
};

/**
 * The name under which a table of the workspace carries the moment its row arrived, as long as nothing but filters and
 * added columns stand between: only `ingestion_time()` reads it.
 */
export const arrival = 'ingestion_time()';

/** Makes the same columns of the same columns each time: expressions are compiled once for each list of columns. */
function onceForColumns(make: (columns: readonly Column[]) => readonly Column[]) {
  const made = new WeakMap<readonly Column[], readonly Column[]>();
  return (columns: readonly Column[]): readonly Column[] => {
    const found = made.get(columns) ?? make(columns);
    made.set(columns, found);
    return found;
  };
}

/** The columns with the moment of arrival after them. */
export const withArrival = onceForColumns((columns) => [...columns, { name: arrival, type: 'datetime' }]);
const columnsWithoutArrival = onceForColumns((columns) => columns.filter(({ name }) => name !== arrival));

/** The table without the moments of arrival. */
export function withoutArrival(table: Table): Table {
  const at = table.columns.findIndex((column) => column.name === arrival);
  if (at < 0) return table;
  return {
    ...table,
    columns: columnsWithoutArrival(table.columns),
    rows: table.rows.map((row) => row.toSpliced(at, 1)),
  };
}

/** The row an expression is evaluated for, among its neighbours. */
export type Frame = { readonly row: Row; readonly rows: readonly Row[]; readonly index: number };

export type Evaluate = (frame: Frame) => Value;

/** What a name refers to that is no column. */
export type Binding =
  | { readonly kind: 'scalar'; readonly value: () => Value }
  | { readonly kind: 'table'; readonly value: () => Table }
  | { readonly kind: 'function'; readonly declared: Names };

/** The visible names, the innermost first. */
export type Names = { find(name: string): Binding | undefined };

/** An aggregate found while an expression of `summarize` is compiled; its result is read from the row's `slot`. */
export type AggregateCalls = { add(call: SyntaxNode): number };

/** Where an expression stands: the columns of its rows, the names around it, the tools. */
export type Scope = {
  readonly columns: readonly Column[];
  readonly serialized: boolean;
  readonly names: Names;
  readonly engine: Engine;
  readonly aggregates?: AggregateCalls;
  /** The rows that a query without a source begins from: inside `mv-apply`, `partition`, a second half of a pipe. */
  readonly input?: Table;
};

/** The time that `now()` gives. Each query of a workspace sets it, and compiled expressions read it when they are evaluated. */
export type Clock = { now: Datetime };

/** The two halves of the interpreter, each of which needs the other, and what is fixed for one query. */
export type Engine = {
  readonly kinds: KindNames;
  readonly clock: Clock;
  table(node: SyntaxNode, scope: Scope): Table;
  compile(node: SyntaxNode, scope: Scope): Evaluate;
  /** Rows of a table of the workspace. */
  rowsOf(table: string): Table | undefined;
  /** What `as` has named so far; a name is visible after its `as` in the query. */
  readonly named: Map<string, Table>;
  /** What functions of the workspace have answered, by name and arguments: of the same rows at the same time they answer the same. */
  readonly answered: Map<string, Table>;
};

/** One call of a scalar function. */
export type Call = {
  readonly name: string;
  /** Static types of the arguments. */
  readonly types: readonly TypeName[];
  /** Static type of the result. */
  readonly type: TypeName;
  readonly now: Datetime;
};

/** A function of its arguments alone. */
export type ScalarFunction = (args: readonly Value[], call: Call) => Value;

export type ScalarFunctions = Readonly<Record<string, ScalarFunction>>;

/** The scope of a row-less expression: `let x = 1 + 2`. */
export const withoutRows = (scope: Scope): Scope => {
  const { input: _, aggregates: __, ...rest } = scope;
  return { ...rest, columns: [], serialized: false };
};

/** The scope of expressions over the rows of `table`. */
export const over = (table: Table, scope: Scope): Scope => {
  const { aggregates: _, ...rest } = scope;
  return { ...rest, columns: table.columns, serialized: table.serialized, input: table };
};

export const noFrame: Frame = { row: [], rows: [], index: 0 };

/** `names` with some more in front. */
export function withNames(names: Names, more: ReadonlyMap<string, Binding>): Names {
  return { find: (name) => more.get(name) ?? names.find(name) };
}

/** Evaluates each row with access to its neighbours. */
export const frames = (rows: readonly Row[]): Frame[] => rows.map((row, index) => ({ row, rows, index }));

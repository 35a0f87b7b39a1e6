import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecuteOptions, Kql } from '../../../test/tools/kql/index.ts';
import { atATime } from '../at-a-time.ts';
import type { Step, StepContext, StepOptions } from '../step.ts';
import type { QueryResult } from '../target.ts';
import { type ShippedQuery, shippedQueries } from './all-queries.ts';
import { queryResourceGraph } from './commands.ts';
import { compareResults } from './compare-results.ts';
import { nothingLeft, readsOnly, reportOfAzure } from './step-parts.ts';
import { azureTables, openEngine, ownTables, runLocally, type WorkspaceRows } from './workspace-rows.ts';

export const querySteps = ({ against }: StepOptions): readonly Step[] => [
  {
    ...readsOnly(against),
    id: 'read-queries',
    title:
      'every function, query and query of an alert rule once, compared with the KQL engine of the tests over the same rows',
    needs: ['read-tables'],
    minutes: 10,
    proves: ['query-engine'],
    run: (context) => checkQueries(context, ['function', 'query', 'alert'], 'query-engine'),
  },
  {
    ...readsOnly(against),
    id: 'read-workbook',
    title: 'every query of the workbook and of the Grafana dashboard once, compared in the same way',
    needs: ['read-tables'],
    minutes: 10,
    proves: ['workbook-queries', 'query-resource-graph'],
    run: (context) => checkQueries(context, ['workbook', 'grafana'], 'workbook-queries'),
  },
];

/** How a query went. */
interface QueryOutcome {
  readonly name: string;
  readonly rows: number;
  /** The message of the service; null if it had a result. */
  readonly error: string | null;
  readonly differences: readonly string[];
  readonly notCompared: readonly string[];
}

async function checkQueries(
  context: StepContext,
  kinds: readonly ShippedQuery['kind'][],
  assumption: 'query-engine' | 'workbook-queries',
): Promise<void> {
  const { say, save, differ } = context;
  const rows = await readWorkspace(context);
  const queries = shippedQueries({ now: new Date(), ...shownOf(rows) }).filter(({ kind }) => kinds.includes(kind));
  const { outcomes, isStable } = await compareQueries(
    context,
    queries.filter((each) => each.of === 'workspace'),
    rows,
  );
  const ofGraph = queries.filter((each) => each.of === 'resource graph');
  const graph = context.target.kind === 'azure' ? await runGraphQueries(context, ofGraph) : [];
  const file = save(`${assumption}.json`, JSON.stringify([...outcomes, ...graph], null, 1));
  const failed = [...outcomes, ...graph].filter(({ error }) => error !== null);
  const different = isStable ? outcomes.filter(isDifferent) : [];
  for (const { name, differences } of different) differ({ situation: name, what: differences.join(' '), file });
  say(
    `${outcomes.length + graph.length} queries: ${failed.length} failed, ${isStable ? `${different.length} have other results than the engine of the tests` : `${outcomes.filter(isDifferent).length} not compared, because rows arrived meanwhile`}`,
  );
  const problems = [
    ...failed.map(({ name, error }) => `${name}: ${error}`),
    ...different.map(({ name, differences }) => `${name}: ${differences[0]}`),
  ];
  if (isStable || failed.length > 0) {
    reportOfAzure(context, {
      assumption,
      verdict: problems.length === 0 ? 'proven' : 'refuted',
      evidence: problems[0] ?? `${outcomes.length} queries returned what the engine of the tests returns.`,
      file,
    });
  }
  reportGraph(context, graph, file);
  nothingLeft(context, 'The queries', problems);
  if (!isStable)
    throw new Error('Rows arrived while the queries ran, so their results were not compared: run this step again.');
}

const isDifferent = ({ differences }: QueryOutcome): boolean => differences.length > 0;

const mostRounds = 4;
/** The workspace answers five of one user at the same time. https://learn.microsoft.com/azure/azure-monitor/fundamentals/service-limits#log-queries-and-language */
const queriesAtATime = 3;

/**
 * Runs the queries and compares their results. Rows that arrive meanwhile, such as a heartbeat, are in some results and not in others: queries whose
 * results differ are then run once more over the new rows, which are fewer each time. Not stable: rows arrived in each round.
 */
async function compareQueries(
  context: StepContext,
  queries: readonly ShippedQuery[],
  first: WorkspaceRows,
): Promise<{ readonly outcomes: readonly QueryOutcome[]; readonly isStable: boolean }> {
  const engine = await openEngine();
  const outcomes = new Map<ShippedQuery, QueryOutcome>();
  let rows = first;
  let left = queries;
  for (let round = 1; ; round += 1) {
    const tables = engine.load(rows);
    await atATime(queriesAtATime, left, async (query) => {
      context.signal.throwIfAborted();
      outcomes.set(query, await runQuery(context, query, { engine, tables }));
    });
    const after = await readWorkspace(context);
    const isStable = countsOf(after) === countsOf(rows);
    const inOrder = queries.map((query) => outcomes.get(query) as QueryOutcome);
    left = queries.filter((_, index) => isDifferent(inOrder[index] as QueryOutcome));
    if (isStable || left.length === 0) return { outcomes: inOrder, isStable: true };
    if (round === mostRounds) return { outcomes: inOrder, isStable: false };
    rows = after;
  }
}

function reportGraph(context: StepContext, graph: readonly QueryOutcome[], file: string): void {
  if (graph.length === 0) return;
  const failed = graph.find(({ error }) => error !== null);
  reportOfAzure(context, {
    assumption: 'query-resource-graph',
    verdict: failed === undefined ? 'proven' : 'refuted',
    evidence:
      failed === undefined
        ? `${graph.length} queries of Resource Graph returned rows.`
        : `${failed.name}: ${failed.error}`,
    file,
  });
}

const minuteMs = 60_000;

async function runQuery(
  { target }: StepContext,
  { name, text }: ShippedQuery,
  { engine, tables }: { readonly engine: Kql; readonly tables: ExecuteOptions['tables'] },
): Promise<QueryOutcome> {
  let actual: QueryResult;
  const now = new Date();
  try {
    actual = await target.query(text);
  } catch (error) {
    return { name, rows: 0, error: messageOf(error), differences: [], notCompared: [] };
  }
  try {
    const expected = runLocally(engine, text, tables, now);
    const equal = compareResults(actual, expected, expected);
    if (equal.differences.length === 0) return { name, rows: actual.rows.length, error: null, ...equal };
    // Azure has evaluated it a moment later.
    const later = runLocally(engine, text, tables, new Date(now.getTime() + minuteMs));
    return { name, rows: actual.rows.length, error: null, ...compareResults(actual, expected, later) };
  } catch (error) {
    const differences = [`The engine of the tests refuses it: ${messageOf(error)}`];
    return { name, rows: actual.rows.length, error: null, differences, notCompared: [] };
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function runGraphQueries(
  { az, run }: StepContext,
  queries: readonly ShippedQuery[],
): Promise<readonly QueryOutcome[]> {
  const folder = join(run.folder, 'queries');
  mkdirSync(folder, { recursive: true });
  const outcomes: QueryOutcome[] = [];
  for (const [index, { name, text }] of queries.entries()) {
    const file = join(folder, `resource-graph-${index + 1}.json`);
    writeFileSync(file, JSON.stringify({ subscriptions: [run.subscription], query: text }));
    const none = { name, differences: [], notCompared: ['all rows'] };
    try {
      const { data } = (await az.call(queryResourceGraph(run, file))) as { readonly data: readonly unknown[] };
      outcomes.push({ ...none, rows: data.length, error: null });
    } catch (error) {
      outcomes.push({ ...none, rows: 0, error: messageOf(error) });
    }
  }
  return outcomes;
}

/** Longer than any query looks back. */
const lookback = '30d';

/** Every row that the queries can read, with its time of arrival under the name by which the engine knows it. */
async function readWorkspace({ target, say }: StepContext): Promise<WorkspaceRows> {
  const tables: Record<string, QueryResult['rows']> = {};
  for (const [table, columns] of Object.entries({ ...ownTables, ...azureTables })) {
    const names = columns.map(({ name }) => name).join(', ');
    const query = `${table} | where TimeGenerated > ago(${lookback}) | extend ArrivedAt = ingestion_time() | project ${names}, ArrivedAt`;
    try {
      const { rows } = await target.query(query);
      tables[table] = rows.map(({ ArrivedAt, ...row }) => ({ ...withoutEmpty(row), 'ingestion_time()': ArrivedAt }));
    } catch (error) {
      if (table in ownTables) throw error;
      // A query that needs it fails as well, which is reported.
      say(`${table} cannot be read with the columns that the queries use: ${messageOf(error)}`);
      tables[table] = [];
    }
  }
  return tables;
}

/** A dynamic column without a value is an empty text in an answer, which would be a value of its own here. */
const withoutEmpty = (row: QueryResult['rows'][number]): QueryResult['rows'][number] =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== ''));

const countsOf = (rows: WorkspaceRows): string =>
  Object.entries(rows)
    .map(([table, { length }]) => `${table} ${length}`)
    .join(', ');

/** An event and a resource group that the dashboards can show something of. */
function shownOf({ VmLifecycle_CL: rows = [] }: WorkspaceRows): {
  readonly eventId: string;
  readonly resourceGroupId: string;
} {
  const row = rows.find(({ IsTest }) => IsTest === false) ?? rows[0] ?? {};
  const [group = ''] = /^\/subscriptions\/[^/]+\/resourcegroups\/[^/]+/i.exec(String(row.ResourceId ?? '')) ?? [];
  return { eventId: String(row.EventId ?? ''), resourceGroupId: group.toLowerCase() };
}

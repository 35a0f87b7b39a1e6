import type { Cell, Column, ExecuteOptions, Kql } from '../../../test/tools/kql/index.ts';
import { type Merge, queryTypes } from '../workbook-json.ts';
import { type Chosen, withChosen } from './chosen.ts';
import type { Step } from './read-workbook.ts';

/** What a step shows: rows by the names of the columns. */
export interface Answer {
  readonly columns: readonly Column[];
  readonly rows: readonly Readonly<Record<string, Cell>>[];
}

/** The columns that a step gives, found without any row. A step that merges two others names theirs. */
export function columnsOf(step: Step, steps: readonly Step[], kql: Kql, chosen: Chosen): readonly Column[] {
  if (step.content.queryType !== queryTypes.merge) return kql.bind(withChosen(step.content.query, chosen)).columns;
  const merge: Merge = JSON.parse(step.content.query);
  return merge.projectRename.flatMap(({ originalName, mergedName }) => {
    const { table, column } = partsOf(originalName);
    const found = columnsOf(stepNamed(table, steps), steps, kql, chosen).find(({ name }) => name === column);
    return found ? [{ name: mergedName, type: found.type }] : [];
  });
}

/**
 * Answers steps, each once however many others merge it. Throws where the test engine does not know an operator of a query,
 * or a merged step is not there.
 */
export function answering(
  steps: readonly Step[],
  kql: Kql,
  chosen: Chosen,
  tables: ExecuteOptions['tables'],
): (name: string) => Answer {
  const known = new Map<string, Answer>();
  const answerNamed = (name: string): Answer => {
    const answer = known.get(name) ?? answerOf(stepNamed(name, steps));
    known.set(name, answer);
    return answer;
  };
  const answerOf = ({ content }: Step): Answer =>
    content.queryType === queryTypes.merge
      ? merged(JSON.parse(content.query), answerNamed)
      : withNames(kql.execute(withChosen(content.query, chosen), { tables, now: chosen.now.toISOString() }));
  return answerNamed;
}

const withNames = ({ columns, rows }: ReturnType<Kql['execute']>): Answer => ({
  columns,
  rows: rows.map((row) => Object.fromEntries(columns.map(({ name }, index) => [name, row[index] ?? null]))),
});

function stepNamed(name: string, steps: readonly Step[]): Step {
  const found = steps.find((step) => step.name === name);
  if (!found) throw new Error(`there is no step ${name} to merge`);
  return found;
}

function partsOf(originalName: string): { readonly table: string; readonly column: string } {
  const [, table = '', column = ''] = /^\[(.+)\]\.(\w+)$/.exec(originalName) ?? [];
  return { table, column };
}

function merged({ merges, projectRename }: Merge, answerNamed: (name: string) => Answer): Answer {
  const [merge] = merges;
  if (!merge) throw new Error('a merge merges nothing');
  const sides = { left: answerNamed(merge.leftTable), right: answerNamed(merge.rightTable) };
  const rightRow = (key: Cell | undefined) => sides.right.rows.find((row) => row[merge.rightColumn] === key);
  const pairs = sides.left.rows.map((left) => ({ left, right: rightRow(left[merge.leftColumn]) }));
  const keptPairs = merge.mergeType === 'leftanti' ? pairs.filter(({ right }) => !right) : pairs;
  const named = projectRename.map(({ originalName, mergedName }) => {
    const { table, column } = partsOf(originalName);
    return { side: table === merge.leftTable ? ('left' as const) : ('right' as const), column, mergedName };
  });
  return {
    columns: named.map(({ side, column, mergedName }) => ({
      name: mergedName,
      type: sides[side].columns.find(({ name }) => name === column)?.type ?? 'string',
    })),
    rows: keptPairs.map((pair) =>
      Object.fromEntries(named.map(({ side, column, mergedName }) => [mergedName, pair[side]?.[column] ?? null])),
    ),
  };
}

import type { Outcome } from './fault-test.ts';
import { faultsOf, isExcused, type Result, verdictOf } from './verdict.ts';

/** `n`: of as many cases as a full run has. */
const heads = [
  'test',
  'kind',
  'n',
  'seed',
  'lost',
  'duplicated',
  'worst time',
  'slowdown',
  'verdict',
  'proof of the fault',
] as const;
const isNumber = [false, false, true, true, true, true, false, true, false, false] as const;

/** The results as a table for a terminal, followed by what is wrong, the reasons of skipped tests and further figures. */
export function textTable(results: readonly Result[]): string {
  const rows = [heads, ...results.map(cellsOf)];
  const widths = heads.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  const lines = rows.map((cells) =>
    cells
      .map((cell, column) => (isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  return `${[...lines, '', ...results.flatMap(remarksOf), summaryOf(results)].join('\n')}\n`;
}

/** A result, or a test that has none. */
export type Row = Result | Pick<Result, 'test'>;

/** The same for a document in Markdown. */
export function markdownTable(results: readonly Row[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = line(isNumber.map((is) => (is ? '---:' : '---')));
  return [
    line(heads),
    rule,
    ...results.map((row) => line(('ended' in row ? cellsOf(row) : cellsWithoutResult(row)).map(escaped))),
  ].join('\n');
}

const escaped = (cell: string): string => cell.replaceAll('|', '\\|');

const cellsWithoutResult = ({ test }: Row): readonly string[] => [
  test.id,
  test.kind,
  `0 of ${test.cases.full}`,
  ...heads.slice(3, -2).map(() => '-'),
  'not run',
  '-',
];

function cellsOf(result: Result): readonly string[] {
  const { test, cases, seed, ended } = result;
  const outcome = ended.how === 'outcome' ? ended.outcome : null;
  const worst = outcome?.worst ?? null;
  return [
    test.id,
    test.kind,
    `${cases} of ${test.cases.full}`,
    String(seed),
    outcome ? String(outcome.lost) : '-',
    outcome ? `${outcome.duplicated.found}/${outcome.duplicated.allowed}` : '-',
    worst ? `${worst.what} ${worst.seconds.toFixed(1)} s of ${worst.mostSeconds} s` : '-',
    result.slowdown.toFixed(1),
    outcome && isExcused(outcome, result.slowdown) ? `${verdictOf(result)}, excused` : verdictOf(result),
    outcome ? proofOf(outcome) : '-',
  ];
}

const mostProofs = 3;

/** What was counted of the fault; of many counts, the sum of the others. */
function proofOf({ happened }: Outcome): string {
  const shown = happened.slice(0, mostProofs).map(({ what, count }) => `${what}: ${count}`);
  const others = happened.slice(mostProofs);
  const sum = others.reduce((total, { count }) => total + count, 0);
  return [...shown, ...(others.length > 0 ? [`${others.length} others: ${sum}`] : [])].join(', ');
}

const remarksOf = (result: Result): readonly string[] => {
  const { test, ended, slowdown } = result;
  if (ended.how === 'skipped') return [`${test.id} was skipped: ${ended.reason}`];
  if (ended.how === 'error') return [`${test.id} could not be completed: ${ended.message}`];
  const { outcome } = ended;
  const excuse = `longer than promised; excused, because the machine was ${slowdown.toFixed(1)} times slower than idle`;
  return [
    ...faultsOf(outcome, slowdown),
    ...(isExcused(outcome, slowdown) ? [`${outcome.worst?.what}: ${excuse}`] : []),
    ...(outcome.details ?? []),
  ].map((line) => `${test.id}: ${line}`);
};

/** The last line: what a person wants to know first. */
export function summaryOf(results: readonly Result[]): string {
  const count = (verdict: string): number => results.filter((result) => verdictOf(result) === verdict).length;
  const lost = results.reduce((sum, { ended }) => sum + (ended.how === 'outcome' ? ended.outcome.lost : 0), 0);
  const skipped = count('skipped');
  return `${count('ok')} ok, ${count('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}; ${lost} lost`;
}

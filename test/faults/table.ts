import { faultsOf, type Result, verdictOf } from './verdict.ts';

const heads = ['test', 'kind', 'n', 'seed', 'lost', 'duplicated', 'worst time', 'verdict'] as const;
const isNumber = [false, false, true, true, true, true, false, false] as const;

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

/** The same for a document in Markdown. */
export function markdownTable(results: readonly Result[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = line(isNumber.map((is) => (is ? '---:' : '---')));
  return [line(heads), rule, ...results.map((result) => line(cellsOf(result)))].join('\n');
}

function cellsOf(result: Result): readonly string[] {
  const { test, cases, seed, ended } = result;
  const outcome = ended.how === 'outcome' ? ended.outcome : null;
  const worst = outcome?.worst ?? null;
  return [
    test.id,
    test.kind,
    String(cases),
    String(seed),
    outcome ? String(outcome.lost) : '-',
    outcome ? `${outcome.duplicated.found}/${outcome.duplicated.allowed}` : '-',
    worst ? `${worst.what} ${worst.seconds.toFixed(1)} s` : '-',
    verdictOf(result),
  ];
}

const remarksOf = (result: Result): readonly string[] => {
  const { test, ended } = result;
  if (ended.how === 'skipped') return [`${test.id} was skipped: ${ended.reason}`];
  if (ended.how === 'error') return [`${test.id} could not be completed: ${ended.message}`];
  return [...faultsOf(ended.outcome), ...(ended.outcome.details ?? [])].map((line) => `${test.id}: ${line}`);
};

/** The last line: what a person wants to know first. */
export function summaryOf(results: readonly Result[]): string {
  const count = (verdict: string): number => results.filter((result) => verdictOf(result) === verdict).length;
  const lost = results.reduce((sum, { ended }) => sum + (ended.how === 'outcome' ? ended.outcome.lost : 0), 0);
  const skipped = count('skipped');
  return `${count('ok')} ok, ${count('failed')} failed${skipped > 0 ? `, ${skipped} skipped` : ''}; ${lost} lost`;
}

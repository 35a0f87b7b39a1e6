import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/source-tree.ts';
import type { Control } from './controls.ts';
import type { FaultTest } from './fault-test.ts';
import { markdownTable, type Row } from './table.ts';
import { faultsOf, isExcused, type Result, verdictOf } from './verdict.ts';

/** The file that `--json` writes. */
export interface Run {
  readonly at: string;
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly kernel: string;
  readonly full: boolean;
  readonly seed: number;
  readonly seconds: number;
  readonly results: readonly Result[];
}

export const page = 'infra/trust.md';

const parts = ['tests', 'runs', 'results', 'controls'] as const;
type Part = (typeof parts)[number];

const partOf = (name: Part): RegExp => new RegExp(`(<!-- ${name} -->\n)([\\s\\S]*?)(\n<!-- /${name} -->)`);

/** A generated part of the page. */
export function readPart(text: string, name: Part): string {
  const [, , content] = partOf(name).exec(text) ?? [];
  if (content === undefined) throw new Error(`${page} has no part ${name}`);
  return content;
}

/**
 * The page with its generated parts from these runs; of several runs with a test, the last one counts. What the page says about a test that
 * none of them has stays.
 */
export function written(
  text: string,
  runs: readonly Run[],
  tests: readonly FaultTest[],
  controls: readonly Control[],
): string {
  for (const name of parts) readPart(text, name);
  const contents = {
    tests: testList(tests),
    runs: [...(tests.every(({ id }) => lastOf(id, runs)) ? [] : linesOf(text, 'runs')), ...runs.map(lineOf)].join('\n'),
    results: resultTable(tests, runs, linesOf(text, 'results')),
    controls: controlTable(controls, runs, linesOf(text, 'controls')),
  };
  return parts.reduce(
    (before, name) => before.replace(partOf(name), (_, begin, __, end) => begin + contents[name] + end),
    text,
  );
}

const linesOf = (text: string, name: Part): readonly string[] => readPart(text, name).split('\n').filter(Boolean);

const cell = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|');

const testList = (tests: readonly FaultTest[]): string =>
  [
    '| test | what happens to the bridge | kind |',
    '|---|---|---|',
    ...tests.map(({ id, title, kind }) => `| ${id} | ${cell(title)} | ${kind} |`),
  ].join('\n');

const lineOf = ({ at, node, cpu, cores, kernel, full, seed, seconds, results }: Run): string => {
  const ids = results.map(({ test }) => test.id);
  const what = ids.length > 3 ? `${ids.length} tests` : ids.map((id) => `\`${id}\``).join(', ');
  const took = `${Math.ceil(seconds / 60)} min`;
  return `- ${at.slice(0, 16).replace('T', ' ')} UTC, ${what}${full ? ', `--full`' : ''}, seed ${seed}, ${took}: ${cores} cores of ${cpu}, Linux ${kernel}, Node.js ${node}`;
};

const lastOf = (id: string, runs: readonly Run[]): Result | undefined =>
  runs.flatMap(({ results }) => results).findLast(({ test }) => test.id === id);

function resultTable(tests: readonly FaultTest[], runs: readonly Run[], before: readonly string[]): string {
  const lines = markdownTable(tests.map((test): Row => lastOf(test.id, runs) ?? { test })).split('\n');
  const head = lines.splice(0, 2);
  const kept = (id: string): string | undefined =>
    lastOf(id, runs) ? undefined : before.find((line) => line.startsWith(`| ${id} |`));
  return [...head, ...tests.map(({ id }, index) => kept(id) ?? lines[index])].join('\n');
}

function controlTable(controls: readonly Control[], runs: readonly Run[], before: readonly string[]): string {
  const found = (result: Result | undefined, start: string): string => {
    if (result === undefined)
      return before.find((line) => line.startsWith(start))?.slice(start.length, -1) ?? 'not run';
    if (result.ended.how !== 'outcome') return 'the test did not complete';
    const excused = `not found: a longer time was excused, since the machine was ${result.slowdown.toFixed(0)} times slower than idle`;
    if (verdictOf(result) !== 'failed' && isExcused(result.ended.outcome, result.slowdown)) return excused;
    const faults = faultsOf(result.ended.outcome, result.slowdown);
    // A test that ends early has too few cases besides.
    const first = faults.find((fault) => !/at least \d+ are needed/.test(fault)) ?? faults[0] ?? 'not found';
    return verdictOf(result) === 'failed' ? (first.split('\n')[0] ?? '').slice(0, 120) : 'not found';
  };
  return [
    '| planted error | test | what the test reports |',
    '|---|---|---|',
    ...controls.map(({ id, title, test }) => {
      const start = `| ${cell(title)} | ${test} |`;
      return `${start} ${cell(found(lastOf(id, runs), start)).trim()} |`;
    }),
  ].join('\n');
}

if (import.meta.main) {
  const { faultTests } = await import('./tests.ts');
  const { controls } = await import('./controls.ts');
  const file = join(root, page);
  const runs = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')) as Run);
  writeFileSync(file, written(readFileSync(file, 'utf8'), runs, faultTests, controls));
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/source-tree.ts';
import { controls } from './controls.ts';
import { page, type Run, readPart, written } from './page.ts';
import { faultTests } from './tests.ts';

const text = readFileSync(join(root, page), 'utf8');
/** The cells of a table in Markdown, without its head. */
const rowsOf = (table: string): readonly (readonly string[])[] =>
  table
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    );

const howTo = 'npm run faults -- --only TEST --json FILE; node test/faults/page.ts FILE';

test('the page lists every fault test, with its title and kind', () => {
  expect(rowsOf(readPart(text, 'tests')), howTo).toEqual(faultTests.map(({ id, title, kind }) => [id, title, kind]));
});

test('the page has a row of the last run for every fault test, with the number of cases of a full run', () => {
  const rows = rowsOf(readPart(text, 'results'));
  expect(
    rows.map(([id]) => id),
    howTo,
  ).toEqual(faultTests.map(({ id }) => id));
  expect(rows.map(([, , n]) => n?.replace(/^\d+ of /, ''))).toEqual(faultTests.map(({ cases }) => String(cases.full)));
});

test('the page lists every planted error', () => {
  expect(
    rowsOf(readPart(text, 'controls')).map(([title, id]) => [title, id]),
    howTo,
  ).toEqual(controls.map(({ title, test }) => [title, test]));
});

test('a page is written from runs: the last one with a test counts, and a test without a result was not run', () => {
  const [a, b, c] = faultTests;
  if (!a || !b || !c) throw new Error('there are no tests');
  const [control] = controls;
  if (!control) throw new Error('there are no controls');
  const resultOf = (id: string, lost: number): Run['results'][number] => ({
    ...{ test: { id, title: 'a title', kind: 'processes', cases: { quick: 2, full: 30 } }, cases: 2, seed: 7 },
    ...{ seconds: 1, processorSeconds: 1, slowdown: 1.25 },
    ended: {
      how: 'outcome',
      outcome: {
        ...{
          lost,
          duplicated: { found: 1, allowed: 2 },
          happened: [{ what: 'kills', count: 5, least: 5 }],
          worst: null,
        },
        ...{ freshArrived: true, conservation: { samples: 1, violations: 0 }, broken: [] },
      },
    },
  });
  const runOf = (seed: number, results: Run['results'], full = false): Run => ({
    ...{ at: '2026-02-03T04:05:06.789Z', node: 'v24.0.0', cpu: 'a processor', cores: 2, kernel: '6.1' },
    ...{ full, seed, seconds: 61, results },
  });
  const empty = ['tests', 'runs', 'results', 'controls'].map(
    (name) => `<!-- ${name} -->\nto replace\n<!-- /${name} -->`,
  );
  const runs = [
    runOf(7, [resultOf(a.id, 3), resultOf(b.id, 0)]),
    runOf(8, [resultOf(a.id, 0)], true),
    runOf(9, [resultOf(control.id, 4)]),
  ];
  const page = written(empty.join('\n\n'), runs, [a, b, c], [control]);
  expect(readPart(page, 'runs').split('\n')).toEqual([
    'to replace',
    `- 2026-02-03 04:05 UTC, \`${a.id}\`, \`${b.id}\`, seed 7, 2 min: 2 cores of a processor, Linux 6.1, Node.js v24.0.0`,
    `- 2026-02-03 04:05 UTC, \`${a.id}\`, \`--full\`, seed 8, 2 min: 2 cores of a processor, Linux 6.1, Node.js v24.0.0`,
    `- 2026-02-03 04:05 UTC, \`${control.id}\`, seed 9, 2 min: 2 cores of a processor, Linux 6.1, Node.js v24.0.0`,
  ]);
  expect(rowsOf(readPart(page, 'results'))).toEqual([
    [a.id, 'processes', '2 of 30', '7', '0', '1/2', '-', '1.3', 'ok', 'kills: 5'],
    [b.id, 'processes', '2 of 30', '7', '0', '1/2', '-', '1.3', 'ok', 'kills: 5'],
    [c.id, c.kind, `0 of ${c.cases.full}`, '-', '-', '-', '-', '-', 'not run', '-'],
  ]);
  expect(rowsOf(readPart(page, 'controls'))).toEqual([[control.title, control.test, '4 lost']]);
  expect(readPart(page, 'tests')).not.toContain('to replace');

  // Later only one of them is run again.
  const later = written(page, [runOf(10, [resultOf(b.id, 5)])], [a, b, c], [control]);
  expect(readPart(later, 'runs').split('\n')).toHaveLength(4 + 1);
  expect(rowsOf(readPart(later, 'results')).map(([id, , , , lost]) => [id, lost])).toEqual([
    [a.id, '0'],
    [b.id, '5'],
    [c.id, '-'],
  ]);
  expect(readPart(later, 'controls')).toBe(readPart(page, 'controls'));
});

test('a page without one of the parts is not written', () => {
  expect(() => written('<!-- tests -->\n\n<!-- /tests -->', [], [], [])).toThrow('infra/trust.md has no part runs');
});

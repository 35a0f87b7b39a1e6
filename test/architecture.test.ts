import { expect, test } from 'vitest';
import { brokenImports, importsOf, withoutComments } from './support/import-rule.ts';
import { planted } from './support/planted-sources.ts';
import { readTree, type SourceTree } from './support/source-tree.ts';

const src = readTree('src/**/*.ts');
const all = readTree('src/**/*.ts', 'test/**/*.ts', 'infra/**/*.ts', '*.ts');

/** Lines of code, comments left out, that `pattern` is found in. */
function linesWith(tree: SourceTree, pattern: RegExp, isAllowed: (path: string) => boolean = () => false): string[] {
  return [...tree].flatMap(([path, text]) =>
    isAllowed(path)
      ? []
      : withoutComments(text)
          .split('\n')
          .filter((line) => pattern.test(line))
          .map((line) => `${path}: ${line.trim()}`),
  );
}

/** The files that import one another in a circle, by values, and inside the outbox and the relay by types too. */
function circles(tree: SourceTree): string[] {
  let left = [...tree].flatMap(([path, text]) =>
    importsOf(path, text).filter(({ typesOnly }) => !typesOnly || /^src\/(outbox|relay)\//.test(path)),
  );
  for (;;) {
    const inside = left.filter(
      ({ from, what }) => left.some((one) => one.from === what) && left.some((one) => one.what === from),
    );
    if (inside.length === left.length) return [...new Set(left.map(({ from }) => from))];
    left = inside;
  }
}

/** The rules, each a function from the sources to what breaks it. */
const rules = {
  imports: brokenImports,
  circles,
  names: (tree: SourceTree) =>
    [...tree.keys()].filter((path) => /(^|\/)(utils?|lib|common|helpers?|shared|types)(\/|\.ts$)/.test(path)),
  length: (tree: SourceTree) =>
    [...tree].filter(([, text]) => text.trimEnd().split('\n').length > 400).map(([path]) => path),
  state: (tree: SourceTree) =>
    linesWith(
      tree,
      /^(export )?(let|var)\b|^(export )?const \w+(: (?!Readonly|readonly)[^=]+)? = (new (Map|Set|WeakMap|WeakSet)(<.*>)?\(\)|\[\]|\{\});/,
    ),
  wire: (tree: SourceTree) =>
    linesWith(tree, /\b(DocumentIncarnation|NotBefore|TimeGenerated)\b/, (path) =>
      /^src\/(imds\/document|sinks\/[^/]+\/encode)\.ts$|^src\/(azure-simulator|recording)\//.test(path),
    ),
  exit: (tree: SourceTree) =>
    linesWith(
      tree,
      /\bprocess\.(exit|reallyExit|abort)\b|\bprocess\.exitCode\s*=/,
      (path) => path === 'src/cli/run-process.ts',
    ),
  console: (tree: SourceTree) => linesWith(tree, /\bconsole\./),
} as const;

test('the import rule is kept', () => {
  expect([...src.values()].join('').length).toBeGreaterThan(10_000);
  expect(rules.imports(src)).toEqual([]);
});

test('no files import one another in a circle', () => {
  expect(rules.circles(src)).toEqual([]);
  const text = (name: string): string => `import type { A } from './${name}.ts';`;
  const planted = new Map(['a', 'b', 'c'].map((name, i) => [`src/outbox/${name}.ts`, text('bca'[i] ?? '')]));
  expect(rules.circles(planted)).toHaveLength(3);
});

test('no folder and no file has a meaningless name', () => {
  expect(rules.names(all)).toEqual([]);
});

test('no file is longer than 400 lines', () => {
  expect(rules.length(all)).toEqual([]);
});

test('no module keeps state', () => {
  expect(rules.state(src)).toEqual([]);
});

test('the names of the wire are spelled only where documents are parsed and records are encoded', () => {
  expect(rules.wire(src)).toEqual([]);
});

test('only run-process.ts ends the process, and nothing prints past the log', () => {
  expect(rules.exit(src)).toEqual([]);
  expect(rules.console(src)).toEqual([]);
});

test('no check of types or style is switched off, and nothing is left to do', () => {
  const words = ['biome-' + 'ignore', '@ts-' + 'ignore', '@ts-' + 'nocheck', 'TO' + 'DO', 'FIX' + 'ME'];
  const found = [...all].filter(([, text]) => words.some((word) => text.includes(word))).map(([path]) => path);
  expect(found).toEqual([]);
});

test.for(planted)('the rules see what was planted: $name', ({ rule, path, text, breaks }) => {
  expect(rules[rule](new Map([[path, text]]))).toHaveLength(breaks ? 1 : 0);
});

test('imports are found in every form', () => {
  const text = `
    import pino, { type Log } from 'pino';
    import { type A, type B } from './a.ts';
    import type { C } from '../c.ts';
    export * from './d.ts';
    export type { E } from './e.ts';
    import manifest from '../../package.json' with { type: 'json' };
    const f = () => import('./f.ts');
  `;
  expect(importsOf('src/cli/x.ts', text)).toEqual(
    [
      ['pino', false],
      ['src/cli/a.ts', true],
      ['src/c.ts', true],
      ['src/cli/d.ts', false],
      ['src/cli/e.ts', true],
      ['package.json', false],
      ['src/cli/f.ts', false],
    ].map(([what, typesOnly]) => ({ from: 'src/cli/x.ts', what, typesOnly })),
  );
});

/**
 * Names of tests as written in the source: `test('…'`, and of tables `test.for(…)('…'`. Where rows name themselves
 * (`$name`), their names count instead.
 */
function testNames(tree: SourceTree): string[] {
  const pattern = /(?:\b(?:test|it)|\)(?=\(\s*['"`][^\n]*,\s*(?:\{|async|\(|$)))\(\s*(['"`])((?:\\.|(?!\1).)*)\1\s*,/gm;
  return [...tree.values()].flatMap((text) => {
    const names = [...text.matchAll(pattern)].map(([, , name = '']) => name);
    const rows = names.includes('$name') ? [...text.matchAll(/\bname: (['"`])((?:(?!\1).)* (?:(?!\1).)*)\1/g)] : [];
    return [...names.filter((name) => name !== '$name'), ...rows.map(([, , name = '']) => name)];
  });
}

test('no two tests in the repository have the same name', () => {
  const names = testNames(readTree('test/**/*.ts'));
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
});

test('names of tests are found in plain tests and in tables', () => {
  const text = `test('one', () => {});\ntest.for([1])('two %d', (n) => {});\n  it("three", async () => {});\ntest.for([\n  1,\n] as const)(\n  'four',\n  async () => {},\n);`;
  expect(testNames(new Map([['test/x.test.ts', text]]))).toEqual(['one', 'two %d', 'three', 'four']);
  const table = `test.for([{ name: 'a row' }, { name: 'web_0' }])('$name', () => {});`;
  expect(testNames(new Map([['test/y.test.ts', table]]))).toEqual(['a row']);
});

import { expect, test } from 'vitest';
import { evaluateFile } from './evaluate.ts';
import { bicepFiles, textOf } from './files.ts';
import { createProject } from './project.ts';
import { readFile } from './read-file.ts';
import { createSecondReader } from './second-reader.ts';

const one = (path: string, text: string) =>
  evaluateFile(
    createProject((asked) => (asked === path ? text : null), null),
    path,
    {},
  );

test.for([
  ['1 + 2 * 3', 7],
  ['(1 + 2) * 3', 9],
  ['-2 + 5', 3],
  ['7 / 2 % 2', 1],
  ['!false && 1 < 2', true],
  ["'B' =~ 'b' || false", true],
  ['true ? 1 : false ? 2 : 3', 1],
  ['true\n  ? 1\n  : 2', 1],
  ['null ?? 4', 4],
  ['{ a: { b: [1, 2] } }.a.b[1]', 2],
  ['{ a: 1 }.?b', null],
  [`'it\\'s \${1 + 1} of \\\${x} \\u{41}'`, `it's 2 of \${x} A`],
  ["'https://x//y#z'", 'https://x//y#z'],
  ["'''\nas 'it' stands\\n'''", "as 'it' stands\\n"],
  ['[for (x, n) in [5, 6]: x * n]', [0, 6]],
  [`map([1, 2], x => 'v\${x}')`, ['v1', 'v2']],
  ['filter([{ a: 1 }, { a: 2 }], x => x.a > 0 && x.a != 2)', [{ a: 1 }]],
  ["toObject(['a'], k => k, k => { is: k })", { a: { is: 'a' } }],
  ['reduce([1, 2, 3], 0, (sum, x) => sum + x)', 6],
  ['union({ a: { b: 1 } }, { a: { c: 2 } })', { a: { b: 1, c: 2 } }],
  [
    'items({ b: 2, a: 1 })',
    [
      { key: 'a', value: 1 },
      { key: 'b', value: 2 },
    ],
  ],
  ['resourceGroup().location', '«resourceGroup().location»'],
] as const)('%s is read and computed as Bicep does', ([text, value]) => {
  expect(one('x.bicep', `var x = ${text}\n`).value('x')).toEqual(value);
});

test.for([
  ['var x = 1 +\n', 'an expression expected, found the end of the line'],
  ["var x = 'a\n", 'a text that is not closed'],
  ["var x = 'a\\d'\n", "\\d is no escape: n r t ' \\ $ and u{…} are"],
  ["var x = ';'\nvar y = ;\n", '";" means nothing here'],
  ['var x = {\n  a: 1 b: 2\n}\n', 'a new line, a comma or } expected, found b'],
  ['var x = [1, 2\n', 'an expression expected, found the end of the file'],
  ["vra x = 'a'\n", 'a declaration expected, found vra'],
  ["param x string = 'a' 'b'\n", 'the end of the line expected, found a text'],
  ['/* no end\n', 'a comment that is not closed'],
  ['#disable x\n', '#disable is not used here: #disable-next-line CODE // reason'],
  [`module x 'a\${1}.bicep' = {}\n`, 'the path of a module without interpolation expected, found ='],
] as const)('%j is no Bicep', ([text, what]) => {
  expect(readFile('x.bicep', text).errors.map((error) => error.what)).toEqual([what]);
});

test('both readers read every file', async () => {
  const second = await createSecondReader();
  for (const path of bicepFiles()) {
    const text = textOf(path) ?? '';
    expect({ path, ours: readFile(path, text).errors, second: second.errors(text) }).toEqual({
      path,
      ours: [],
      second: [],
    });
  }
});

test('the second reader sees an error where there is one', async () => {
  const second = await createSecondReader();
  expect(second.errors("var x = {\n  a: 'b\n}\n")).not.toEqual([]);
  expect(second.errors("using 'x.bicep'\n\nparam a = 'b'\n")).toEqual([]);
});

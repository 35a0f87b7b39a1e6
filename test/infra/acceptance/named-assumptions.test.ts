import { matchesGlob } from 'node:path';
import { expect, test } from 'vitest';
import { type Assumption, assumptionsFile, readAssumptions } from '../../../infra/acceptance/assumptions.ts';
import { readTree, type SourceTree } from '../../support/source-tree.ts';

const id = '[a-z][a-z0-9]*(?:-[a-z0-9]+)+';
const mention = new RegExp(`\\bassumption: (${id}(?:, ${id})*)`, 'g');

/** The ids that comments of a file name: `assumption: <id>`, several with commas between them. */
const namedIn = (text: string): readonly string[] =>
  [...text.matchAll(mention)].flatMap(([, ids = '']) => ids.split(', '));

/** JSON has no comments: of such a file another one speaks. */
const canName = (path: string): boolean => !path.endsWith('.json');

/** Where files and register disagree, each a sentence. */
function disagreements(assumptions: readonly Pick<Assumption, 'id' | 'where'>[], tree: SourceTree): readonly string[] {
  const named = new Map([...tree].map(([path, text]) => [path, new Set(namedIn(text))]));
  const rows = new Map(assumptions.map((one) => [one.id, one.where]));
  const unknown = [...named].flatMap(([path, ids]) =>
    [...ids].flatMap((one) => {
      const where = rows.get(one);
      if (where === undefined) return [`${path} names ${one}, which has no row`];
      return where.some((pattern) => matchesGlob(path, pattern))
        ? []
        : [`${path} names ${one}, whose row does not list it`];
    }),
  );
  const unnamed = assumptions.flatMap(({ id: one, where }) => {
    const isNamed = (pattern: string) => [...named].some(([path, ids]) => matchesGlob(path, pattern) && ids.has(one));
    const nameable = where.filter(canName);
    return nameable.length === 0
      ? [`${one} lists no file that could name it`]
      : nameable.filter((pattern) => !isNamed(pattern)).map((pattern) => `${pattern} does not name ${one}`);
  });
  return [...unknown, ...unnamed];
}

test('every id that a comment names has a row, and the files of every row name its id', () => {
  const files = '**/*.{ts,md,bicep,yaml,yml,kql,c,h,cmd,sh,py,go,java,asaql,service}';
  const tree = readTree('README.md', 'Dockerfile', `{src,infra,bicep,test/wine}/${files}`);
  const sources = new Map([...tree].filter(([path]) => path !== assumptionsFile && path !== 'infra/untried.md'));
  expect([...sources.values()].flatMap(namedIn).length).toBeGreaterThan(200);
  expect(disagreements(readAssumptions(), sources)).toEqual([]);
});

const row = { id: 'imds-etag', where: ['src/imds/*.ts', 'infra/policy/rule.json'] };

test.for<readonly [text: string, path: string, expected: readonly string[]]>([
  ['// assumption: imds-etag', 'src/imds/client.ts', []],
  ['text <!-- assumption: imds-etag -->', 'src/imds/client.ts', []],
  [
    '# assumption: imds-etags',
    'src/imds/client.ts',
    ['src/imds/client.ts names imds-etags, which has no row', 'src/imds/*.ts does not name imds-etag'],
  ],
  ['assumption: imds-etag, hub-order', 'src/imds/client.ts', ['src/imds/client.ts names hub-order, which has no row']],
  [
    '/* assumption: imds-etag */',
    'src/bridge.ts',
    ['src/bridge.ts names imds-etag, whose row does not list it', 'src/imds/*.ts does not name imds-etag'],
  ],
  ["report({ assumption: 'imds-etag' })", 'src/imds/client.ts', ['src/imds/*.ts does not name imds-etag']],
])('of %j in %s it says %j', ([text, path, expected]) => {
  expect(disagreements([row], new Map([[path, text]]))).toEqual(expected);
});

test('a row whose files are all JSON is named nowhere', () => {
  expect(disagreements([{ id: 'policy-new-vm', where: ['infra/policy/rule.json'] }], new Map())).toEqual([
    'policy-new-vm lists no file that could name it',
  ]);
});

import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import { importsOf } from './support/import-rule.ts';
import { readTree } from './support/source-tree.ts';

/** Files inside of packages that are imported by their path, each with what the package exports by name. */
const privatePaths: readonly { path: string; package: string; name: string }[] = [
  { path: 'undici/lib/dispatcher/client.js', package: 'undici', name: 'Client' },
  { path: 'prom-client/lib/registry.js', package: 'prom-client', name: 'Registry' },
  { path: 'prom-client/lib/gauge.js', package: 'prom-client', name: 'Gauge' },
  { path: 'prom-client/lib/counter.js', package: 'prom-client', name: 'Counter' },
  { path: 'prom-client/lib/histogram.js', package: 'prom-client', name: 'Histogram' },
];

test.for(privatePaths)('$path is the $name that $package exports', ({ path, package: name, name: exported }) => {
  const require = createRequire(import.meta.url);
  expect(require(path)).toBe(require(name)[exported]);
});

/** Documented by their packages. */
const publicPaths = [
  '@stryker-mutator/api/check',
  '@stryker-mutator/api/core',
  '@stryker-mutator/api/plugin',
  'ajv/dist/2020.js',
  'vitest/config',
  'vitest/node',
];

test('no other file inside of a package is imported by its path', () => {
  const sources = readTree('{src,test,infra}/**/*.{ts,mjs}', '*.ts');
  const packages = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
  const deep = [...sources]
    .flatMap(([path, text]) => importsOf(path, text))
    .map(({ what }) => what)
    .filter((what) => packages.some((name) => what.startsWith(`${name}/`)));
  expect([...new Set(deep)].filter((what) => !publicPaths.includes(what)).toSorted()).toEqual(
    privatePaths.map(({ path }) => path).toSorted(),
  );
});

import { createRequire } from 'node:module';
import { expect, test } from 'vitest';

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

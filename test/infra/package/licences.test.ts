import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Bundled, BundledPackage } from '../../../infra/package/bundled.ts';
import { root } from '../../../infra/package/contents.ts';
import { textBeside, thirdPartyLicences } from '../../../infra/package/licences.ts';
import { newFolder, programHere } from './harness.ts';

const node = { version: '24.0.1', licence: 'The text of Node' };
let bundled: Bundled;
beforeAll(async () => {
  ({ bundled } = await programHere());
});

/** Packages in a folder of their own, each with these files. */
function installed(...packages: readonly { name: string; licence: string | null; files?: Record<string, string> }[]) {
  const folder = newFolder();
  const made = packages.map(({ name, licence, files = {} }): BundledPackage => {
    const path = `node_modules/${name}`;
    mkdirSync(join(folder, path), { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, path, file), text);
    return { name, version: '1.0.0', licence, author: null, path, integrity: null, imports: [] };
  });
  return () => thirdPartyLicences(made, { root: folder, node });
}

test('the libraries in the bundle are those listed, without build tools', () => {
  const names = bundled.packages.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(['@azure/event-hubs', '@azure/identity', 'commander', 'rhea', 'undici']),
  );
  expect(names.filter((name) => /^(esbuild|typescript|vitest|@types\/|@biomejs\/|@vitest\/)/.test(name))).toEqual([]);
  expect(bundled.importedByUs).toContain('node_modules/commander');
});

test('two versions of one library are both listed', () => {
  const paths = bundled.packages.map(({ path }) => path);
  const twice = bundled.packages.filter(({ name }) => name === 'sonic-boom').map(({ version }) => version);
  expect(paths.length).toBe(new Set(paths).size);
  expect(new Set(twice).size).toBe(twice.length);
});

test('everything in the bundle may be passed on, and the texts that go with it are there', () => {
  const text = thirdPartyLicences(bundled.packages, { root, node });
  for (const { name, version, licence } of bundled.packages) expect(text).toContain(`${name} ${version} (${licence})`);
  expect(text).toContain('The text of Node');
});

test('a library whose licence text is next to another one still needs its own', () => {
  for (const name of Object.keys(textBeside)) {
    const files = bundled.packages.find((one) => one.name === name);
    expect(files, `${name} is not in the bundle any more`).toBeDefined();
  }
});

test('equal texts are included once', () => {
  const files = { LICENSE: 'Do as you like.' };
  const text = installed({ name: 'one', licence: 'MIT', files }, { name: '@a/two', licence: 'ISC', files })();
  expect(text.split('Do as you like.').length).toBe(2);
  expect(text).toContain('one 1.0.0 (MIT)\n@a/two 1.0.0 (ISC)\n');
});

test('notices go with the licence', () => {
  const text = installed({ name: 'one', licence: 'Apache-2.0', files: { LICENSE: 'Apache', 'NOTICE.md': 'By one' } })();
  expect(text).toContain('Apache\n\nBy one');
});

const refused = [
  { name: 'no licence', licence: null, files: { LICENSE: 'Some text' }, message: 'bad 1.0.0 says no licence' },
  {
    name: 'an unknown licence',
    licence: 'GPL-3.0-only',
    files: { LICENSE: 'Some text' },
    message: 'bad 1.0.0 is under GPL-3.0-only',
  },
  {
    name: 'no text',
    licence: 'MIT',
    files: { 'README.md': 'MIT' },
    message: 'bad 1.0.0 brings no text of its licence',
  },
  {
    name: 'an empty text',
    licence: 'MIT',
    files: { LICENSE: '\n' },
    message: 'bad 1.0.0 brings no text of its licence',
  },
];

test.each(refused)('a library with $name stops the packaging', ({ licence, files, message }) => {
  const good = { name: 'good', licence: 'MIT', files: { LICENSE: 'Some text' } };
  expect(installed(good, { name: 'bad', licence, files })).toThrow(`cannot be passed on: ${message}. Allowed are`);
});

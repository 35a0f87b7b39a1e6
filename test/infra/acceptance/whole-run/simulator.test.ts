import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Report } from '../../../../infra/acceptance/report.ts';
import { temporaryDirectory } from '../../../support/bridge-process.ts';
import { root } from '../../../support/source-tree.ts';

test('a run against the simulator plays every scenario twice and finds no difference', {
  timeout: 600_000,
}, async () => {
  using folder = temporaryDirectory('acceptance');
  const begun = performance.now();
  const args = [join(root, 'infra/acceptance/main.ts'), '--against', 'simulator', '--folder', folder.path];
  const run = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  run.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const exitCode = await new Promise((resolve) => run.once('close', resolve));
  const [name = ''] = readdirSync(folder.path);
  const report: Report = JSON.parse(readFileSync(join(folder.path, name, 'acceptance.json'), 'utf8'));
  const failed = report.steps.filter(({ outcome }) => outcome?.result !== 'succeeded');
  expect({ exitCode, failed, printed }).toEqual({ exitCode: 0, failed: [], printed });
  expect(report.differences).toEqual([]);
  const files = readdirSync(join(folder.path, name, 'scenarios'));
  expect(files).toContain('restart.simulator.jsonl');
  console.log(`  the whole run took ${((performance.now() - begun) / 1000).toFixed(0)} s`);
});

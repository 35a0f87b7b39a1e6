import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { lockHere, makeProgram } from '../../../infra/package/make-packages.ts';
import {
  readmeOfSimulator,
  simulatorPackageName,
  writeSimulatorPackage,
} from '../../../infra/package/npm-simulator.ts';
import { temporaryDirectory } from '../../support/bridge-process.ts';
import { blocksOf } from '../../support/documented-commands.ts';
import { builtFile, cleanEnvironment } from '../../support/program.ts';
import { root } from '../../support/source-tree.ts';
import { until } from '../../support/until.ts';

const directory = temporaryDirectory('npm-simulator');
const made = join(directory.path, 'made');
/** Another user's project. */
const project = join(directory.path, 'project');
const installed = join(project, 'node_modules', simulatorPackageName);
const offline = { npm_config_offline: 'true', npm_config_update_notifier: 'false' };
const inProject = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, { cwd: project, encoding: 'utf8', env: { ...process.env, ...offline } });

beforeAll(async () => {
  const simulator = await makeProgram('scheduled-events-simulator', lockHere());
  // The bridge as this run of the tests has built it: its libraries are among those of the simulator.
  const bridge = { ...simulator, bundle: readFileSync(builtFile('scheduled-events-bridge')) };
  writeSimulatorPackage({ bridge, simulator }, made);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{ "name": "project", "version": "1.0.0" }');
  const [{ filename = '' } = {}] = JSON.parse(inProject('npm', 'pack', made, '--json')) as { filename?: string }[];
  inProject('npm', 'install', '--no-audit', `./${filename}`);
  // The clients of Azure, as they are here.
  symlinkSync(join(root, 'node_modules/@azure'), join(project, 'node_modules/@azure'));
});
afterAll(() => directory[Symbol.dispose]());

test('the package of the simulator holds two programs with licences and documents, and has no dependencies', () => {
  expect(readdirSync(installed).sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'THIRD-PARTY-LICENSES.txt',
    'package.json',
    'scheduled-events-bridge.cjs',
    'scheduled-events-simulator.cjs',
  ]);
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(Object.keys(manifest).filter((key) => /dependencies|scripts/i.test(key))).toEqual([]);
  const licences = readFileSync(join(installed, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
  for (const name of ['@azure/event-hubs', 'jose', 'rhea']) expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'));
  expect(licences).not.toContain('Node.js as its makers built it');
});

test('its README has an example for each language, and no link that leads out of the package', () => {
  const readme = readmeOfSimulator();
  for (const language of ['js', 'python', 'go', 'java', 'rust']) expect(readme).toContain(`\`\`\`${language}\n`);
  expect([...readme.matchAll(/\]\((?!https:)[^)]*\)/g)].map(([link]) => link)).toEqual([]);
});

test('npx runs the installed simulator, and the reader of the README reads the records of a scenario', async () => {
  expect(inProject('npx', 'scheduled-events-simulator', 'simulate', '--list')).toMatch(/^SCENARIO/);
  const start = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const options = { cwd: project, env: { ...cleanEnvironment(), ...env } };
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    const output = { text: '' };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output.text += chunk));
    const closed = new Promise((resolve) => child.once('close', resolve));
    onTestFinished(async () => {
      child.kill('SIGTERM');
      await closed;
    });
    return output;
  };
  const commands = join(project, 'node_modules/.bin');
  const simulate = ['simulate', 'freeze', '--write-config', 'local-azure', '--port', '0', '--speed', '200'];
  const simulator = start(join(commands, 'scheduled-events-simulator'), simulate);
  await until(() => simulator.text.includes('first poll'), { what: `the simulator; ${simulator.text}` });
  expect(simulator.text).toContain('  npx scheduled-events-bridge run --config local-azure/bridge.json\n');
  expect(simulator.text).toContain(`Clients in other languages: ${join(installed, 'README.md')}\n`);
  start(join(commands, 'scheduled-events-bridge'), ['run', '--config', 'local-azure/bridge.json']);
  const code = blocksOf('infra/npm/simulator.md').find(({ language }) => language === 'js')?.text ?? '';
  writeFileSync(join(project, 'reader.mjs'), code);
  const reader = start('sh', ['-c', `. local-azure/variables.sh; exec '${process.execPath}' reader.mjs`]);
  await until(() => /^Completed Freeze \[ 'web_0' \]$/m.test(reader.text), {
    timeoutMs: 50_000,
    what: `the end of the event; ${reader.text}; ${simulator.text}`,
  });
  expect(reader.text).toMatch(/^Scheduled Freeze \[ 'web_0' \]\nStarted Freeze \[ 'web_0' \]\nCompleted/m);
});

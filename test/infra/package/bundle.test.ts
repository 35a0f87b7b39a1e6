import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundle, type ProgramName } from '../../../infra/package/bundle.ts';
import { version } from '../../../src/process/version.ts';
import { olderNode } from '../../support/older-node.ts';
import { builtFile, metafileOf } from '../../support/program.ts';

const directory = mkdtempSync(join(tmpdir(), 'bundle-'));
const file = join(directory, 'scheduled-events-bridge.cjs');
/** Bundled before all tests: bundling takes a second of CPU. */
const metafileOfTests = (program: ProgramName): Metafile => JSON.parse(readFileSync(metafileOf(program), 'utf8'));
const metafile = metafileOfTests('scheduled-events-bridge');
beforeAll(() => copyFileSync(builtFile('scheduled-events-bridge'), file));
afterAll(() => rmSync(directory, { recursive: true }));

/** What is evaluated as soon as `entry` is, that is without what is imported only when it is needed. */
function evaluatedWith(entry: string): Set<string> {
  const reached = new Set<string>();
  const visit = (path: string): void => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const { path: next, kind } of metafile.inputs[path]?.imports ?? []) if (kind !== 'dynamic-import') visit(next);
  };
  visit(entry);
  return reached;
}

test('the bundle is one file that runs without other files', () => {
  expect(readdirSync(directory)).toEqual(['scheduled-events-bridge.cjs']);
  const out = execFileSync(process.execPath, [file, 'version'], { cwd: directory, env: {}, encoding: 'utf8' });
  expect(out).toMatch(`scheduled-events-bridge ${version} `);
});

test('the bundle imports nothing but modules of Node, since others would be searched in folders that any user of Windows can create', () => {
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  expect(imported).toContain('node:fs');
  expect(imported.filter((path) => !isBuiltin(path))).toEqual([]);
});

test('the bundle holds nothing but ASCII, which Node keeps in a byte per character', () => {
  expect(readFileSync(file).findIndex((byte) => byte > 0x7f)).toBe(-1);
});

test('the bundle does not make Node load its own undici by the global class of forms', () => {
  const free = /\btypeof FormData\b/;
  expect(readFileSync('node_modules/@typespec/ts-http-runtime/dist/esm/formData.js', 'utf8')).toMatch(free);
  expect(readFileSync(file, 'utf8')).not.toMatch(free);
});

test('the bundle of the product does not name the simulator of package.json', () => {
  expect(readFileSync(file, 'utf8')).not.toContain('dist/scheduled-events-simulator');
});

test('the bundle can be run as a program', { skip: process.platform === 'win32' }, () => {
  expect(execFileSync(file, ['--version'], { encoding: 'utf8' })).toBe(`${version}\n`);
});

const { node: older, whyNot } = olderNode();

test.skipIf(older === null)(`an older Node is refused by every command, run included${whyNot}`, () => {
  for (const command of ['run', 'version', 'check']) {
    const { status, stdout, stderr } = spawnSync(older?.path ?? '', [file, command], { encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({
      status: 69,
      stdout: '',
      stderr: `scheduled-events-bridge needs Node.js 24.12 or newer, but ${older?.path} is ${older?.version}: run it with a newer one, or install a package, which brings its own.\n`,
    });
  }
});

const lowest = [
  { found: '9.11.2', status: 69 },
  { found: '24.9.0', status: 69 },
  { found: '24.11.1', status: 69 },
  { found: '24.12.0', status: 0 },
  { found: '25.0.0', status: 0 },
];

test.for(lowest)('on Node $found the bundle ends with $status', ({ found, status }) => {
  const pretence = join(directory, 'pretence.cjs');
  writeFileSync(pretence, `Object.defineProperty(process.versions, 'node', { value: '${found}' });`);
  expect(spawnSync(process.execPath, ['--require', pretence, file, 'version']).status).toBe(status);
  rmSync(pretence);
});

test('the bundle is in strict mode, despite the code before it', async () => {
  const probe = join(directory, 'probe.cjs');
  const contents = 'console.log((function () { return this; })() === undefined);';
  await bundle(probe, { entryPoints: [], stdin: { contents, resolveDir: import.meta.dirname } });
  expect(execFileSync(process.execPath, [probe], { encoding: 'utf8' })).toBe('true\n');
  rmSync(probe);
});

test('the name by which a library identifies an AMQP error is kept', async () => {
  const probe = join(directory, 'probe.cjs');
  const contents = `import rhea from 'rhea';
    const Composite = rhea.types.define_composite({ name: 'probe', code: 1, fields: [] });
    console.log(new Composite([]).constructor.name);`;
  await bundle(probe, { entryPoints: [], stdin: { contents, resolveDir: import.meta.dirname } });
  const out = execFileSync(process.execPath, [probe], { encoding: 'utf8' });
  rmSync(probe);
  expect(out).toBe('c\n');
});

test('nothing that only some commands need is evaluated by all of them', () => {
  const evaluated = [...evaluatedWith('src/main.ts')];
  const needless = /node_modules\/(@azure|rhea|selfsigned|jose|pino-pretty|undici)\//;
  expect(evaluated.length).toBeGreaterThan(10);
  expect(evaluated.filter((path) => needless.test(path))).toEqual([]);
});

test('to fetch tokens, only the credential for managed identities is evaluated', () => {
  const evaluated = [...evaluatedWith('src/azure/token-source.ts')].filter((path) => path.includes('@azure/identity'));
  expect(evaluated).toContainEqual(expect.stringContaining('managedIdentityCredential/index.js'));
  expect(evaluated.filter((path) => /dist\/esm\/index\.js|[dD]efaultAzureCredential/.test(path))).toEqual([]);
});

/** What no VM needs: the simulator with its demo, and packages that only they import. */
const ofSimulator = /azure-simulator|node_modules\/(jose|selfsigned|ws)\//;
const filesIn = ({ outputs }: Metafile): string[] =>
  Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));

test('the installed bridge contains nothing of the simulator', () => {
  expect(filesIn(metafile).filter((path) => ofSimulator.test(path))).toEqual([]);
  const importers = Object.entries(metafile.inputs).filter(([, { imports }]) =>
    imports.some(({ path }) => /node_modules\/rhea\//.test(path)),
  );
  expect(importers.filter(([path]) => !/node_modules\/rhea(-promise)?\//.test(path))).toEqual([]);
  const simulator = join(directory, 'scheduled-events-simulator.cjs');
  copyFileSync(builtFile('scheduled-events-simulator'), simulator);
  const { inputs } = metafileOfTests('scheduled-events-simulator');
  for (const path of ['src/azure-simulator/index.ts', 'src/azure-simulator/demo/command.ts']) {
    expect(Object.keys(inputs)).toContain(path);
  }
  const commandsOf = (program: string): string[] => {
    const help = execFileSync(process.execPath, [program, '--help'], { cwd: directory, env: {}, encoding: 'utf8' });
    const [, commands = ''] = /^Commands:\n([\s\S]*?)\n\n/m.exec(help) ?? [];
    return [...commands.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name);
  };
  expect(commandsOf(file)).toContain('run');
  expect(commandsOf(file)).not.toEqual(expect.arrayContaining(['simulate']));
  expect(commandsOf(file)).not.toEqual(expect.arrayContaining(['demo']));
  expect(commandsOf(simulator)).toEqual(['simulate', 'demo', 'version']);
  rmSync(simulator);
});

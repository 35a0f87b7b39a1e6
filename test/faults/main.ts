import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundle } from '../../infra/package/bundle.ts';
import { root } from '../support/source-tree.ts';
import { applyControl, controls } from './controls.ts';
import { runTests } from './runner.ts';
import { markdownTable, textTable } from './table.ts';
import { faultTests } from './tests.ts';
import { type Result, verdictOf } from './verdict.ts';

const usage = `npm run faults -- [options]

Injects faults into the bridge and counts what is lost. Prints a table; exits with 1 if a test failed, 2 if the
command line is wrong.

  --full            all cases; without it a part of them, in a few minutes
  --only <ids>      only these tests, separated by commas
  --seed <number>   seed of all that is random (default: drawn, and printed)
  --json <file>     write the results there
  --markdown        print the table as Markdown
  --controls        instead, test bridges with a planted error, each of which has to fail its test
  --list            list the tests and the controls
`;

const options = {
  full: { type: 'boolean', default: false },
  only: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'string' },
  markdown: { type: 'boolean', default: false },
  controls: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function fail(message: string): never {
  process.stderr.write(`${message}\n\n${usage}`);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return fail((error as Error).message);
  }
}

const values = readArguments();
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
if (values.list) {
  for (const { id, title } of [...faultTests, ...controls]) process.stdout.write(`${id}: ${title}\n`);
  process.exit(0);
}

const all: readonly { readonly id: string }[] = values.controls ? controls : faultTests;
const wanted = values.only?.split(',') ?? all.map(({ id }) => id);
const unknown = wanted.filter((id) => !all.some((one) => one.id === id));
if (unknown.length > 0)
  fail(`There is no ${values.controls ? 'control' : 'test'} ${unknown.join(', ')}; --list lists them.`);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
if (!Number.isSafeInteger(seed) || seed < 0) fail(`--seed ${values.seed} is not a whole number.`);

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
const folder = mkdtempSync(join(tmpdir(), 'faults-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const amount = values.full ? 'full' : 'quick';
const common = {
  amount,
  seed,
  signal: stop.signal,
  minutesEach: values.full ? 240 : 5,
  say: (line: string) => process.stderr.write(`${line}\n`),
} as const;

/** @returns the results, and whether all is as it should be. */
async function runFaultTests(): Promise<readonly [results: readonly Result[], isGood: boolean]> {
  // Bundled, a bridge starts in a third of the time.
  const program = join(folder, 'scheduled-events-bridge.cjs');
  await bundle(program);
  const tests = faultTests.filter(({ id }) => wanted.includes(id));
  const results = await runTests({ ...common, tests, program, sources: join(root, 'src') });
  return [results, results.every((result) => verdictOf(result) !== 'failed')];
}

/** The results are those of the controls, under their ids: each has to be `failed` by an outcome. */
async function runControls(): Promise<readonly [results: readonly Result[], isGood: boolean]> {
  const results: Result[] = [];
  for (const control of controls.filter(({ id }) => wanted.includes(id))) {
    const copy = join(folder, control.id);
    const tests = faultTests.filter(({ id }) => id === control.test);
    const own = await runTests({ ...common, tests, ...(await applyControl(control, copy)) });
    results.push(...own.map((result) => ({ ...result, test: { ...result.test, id: control.id } })));
  }
  return [results, results.every((result) => result.ended.how === 'outcome' && verdictOf(result) === 'failed')];
}

const [results, isGood] = await (values.controls ? runControls() : runFaultTests());
if (values.json) {
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism(), kernel: release() };
  const head = { at: new Date().toISOString(), node: process.version, ...machine, seed, full: values.full };
  writeFileSync(values.json, `${JSON.stringify({ ...head, results }, null, 2)}\n`);
}
process.stdout.write(values.markdown ? `${markdownTable(results)}\n` : textTable(results));
if (values.controls)
  process.stdout.write(
    `${isGood ? 'Every control failed its test, as it has to.' : 'A control did not fail its test.'}\n`,
  );
process.exit(isGood && !stop.signal.aborted ? 0 : 1);

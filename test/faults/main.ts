import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../../infra/package/bundle.ts';
import { readCommandLine, refuse } from '../support/command-line.ts';
import { root } from '../support/source-tree.ts';
import { applyControl, controls } from './controls.ts';
import type { FaultTest } from './fault-test.ts';
import { runInOwnProcess } from './own-process.ts';
import { runTests } from './runner.ts';
import { markdownTable, textTable } from './table.ts';
import { faultTests } from './tests.ts';
import { verdictOf } from './verdict.ts';

const usage = `npm run faults -- [options]

Injects faults into the bridge and counts what is lost. Prints a table; exits with 1 if a test failed, 2 if the
command line is wrong.

  --full            all cases; without it a part of them, in a few minutes
  --only <ids>      only these tests, separated by commas
  --processors <n>  how many processors the tests may use together (default: those of this machine); 0: one test at a time
  --seed <number>   seed of all that is random (default: drawn, and printed)
  --json <file>     write the results there
  --markdown        print the table as Markdown
  --controls        instead, test bridges with a planted error, each of which has to fail its test
  --list            list the tests and the controls
`;

const options = {
  full: { type: 'boolean', default: false },
  only: { type: 'string' },
  processors: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'string' },
  markdown: { type: 'boolean', default: false },
  controls: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function fail(message: string): never {
  return refuse(usage, message);
}

const { values } = readCommandLine(usage, { options });
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

function wholeNumber(name: 'seed' | 'processors', otherwise: number): number {
  const value = values[name];
  const number = value === undefined ? otherwise : Number(value);
  if (!Number.isSafeInteger(number) || number < 0) fail(`--${name} ${value} is not a whole number.`);
  return number;
}
const seed = wholeNumber('seed', Math.floor(Math.random() * 2 ** 31));
const processors = wholeNumber('processors', availableParallelism());

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
const folder = mkdtempSync(join(tmpdir(), 'faults-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

interface Tested {
  readonly program: string;
  readonly sources: string;
}

/** Runs these tests, each with the bridge that `bridgeOf` makes for it, under the id of the test that is played. */
const run = (tests: readonly FaultTest[], played: (id: string) => string, bridgeOf: (id: string) => Promise<Tested>) =>
  runTests({
    tests,
    amount: values.full ? 'full' : 'quick',
    seed,
    processors,
    signal: stop.signal,
    minutesEach: values.full ? 240 : 10,
    say: (line) => process.stderr.write(`${line}\n`),
    async execute({ id }, { signal, say, ...context }) {
      const module = join(import.meta.dirname, 'tests.ts');
      return runInOwnProcess({ ...context, ...(await bridgeOf(id)), module, id: played(id) }, { signal, say });
    },
  });

/** @returns the results, and whether all is as it should be. */
async function runFaultTests() {
  // Bundled, a bridge starts in a third of the time.
  const program = join(folder, 'scheduled-events-bridge.cjs');
  await bundle(program);
  const tests = faultTests.filter(({ id }) => wanted.includes(id));
  const results = await run(
    tests,
    (id) => id,
    async () => ({ program, sources: join(root, 'src') }),
  );
  return [
    results,
    results.length === tests.length && results.every((result) => verdictOf(result) !== 'failed'),
  ] as const;
}

/** The results are those of the controls, under their ids: each has to be `failed` by an outcome. */
async function runControls() {
  const chosen = new Map(controls.filter(({ id }) => wanted.includes(id)).map((control) => [control.id, control]));
  const controlOf = (id: string) => chosen.get(id) ?? fail(`There is no control ${id}.`);
  const tests = [...chosen.values()].flatMap(({ id, test }) =>
    faultTests.filter((one) => one.id === test).map((one) => ({ ...one, id })),
  );
  const results = await run(
    tests,
    (id) => controlOf(id).test,
    (id) => applyControl(controlOf(id), join(folder, id)),
  );
  const isFound = results.every((result) => result.ended.how === 'outcome' && verdictOf(result) === 'failed');
  return [results, results.length === tests.length && isFound] as const;
}

process.stderr.write(`seed ${seed}, ${wanted.length} ${values.controls ? 'controls' : 'tests'}\n`);
const began = performance.now();
const [results, isGood] = await (values.controls ? runControls() : runFaultTests());
if (values.json) {
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism(), kernel: release() };
  const seconds = (performance.now() - began) / 1000;
  const head = { at: new Date().toISOString(), node: process.version, ...machine, seed, full: values.full, seconds };
  writeFileSync(values.json, `${JSON.stringify({ ...head, results }, null, 2)}\n`);
}
process.stdout.write(values.markdown ? `${markdownTable(results)}\n` : textTable(results));
if (values.controls)
  process.stdout.write(
    `${isGood ? 'Every control failed its test, as it has to.' : 'A control did not fail its test.'}\n`,
  );
process.exit(isGood && !stop.signal.aborted ? 0 : 1);

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MutantResult } from '@stryker-mutator/api/core';
import { Stryker } from '@stryker-mutator/core';
import { readCommandLine, refuse } from '../support/command-line.ts';
import { root } from '../support/source-tree.ts';
import { equivalents, isListed } from './equivalents.ts';
import { type Area, areas, filesOf, keyOf, listMutants, type MutantAt, sample } from './mutants.ts';
import { sampleVariable } from './sample-checker.ts';

const usage = `npm run mutation -- [options]

Changes one expression or statement of src/lifecycle, src/outbox or src/relay at a time (a mutant), and runs the unit
tests of that folder that execute it: one of them has to fail. Prints the share of killed mutants of each folder, and
the survivors. Exits with 1 if a folder is below 85 %, with 2 if the command line is wrong.

  --area <names>    only these folders, separated by commas: ${areas.join(', ')}
  --file <path>     only the mutants of this file
  --line <number>   only those that begin in this line of it
  --sample <number> mutants of each folder (default 200; 0: all of them, for hours)
  --seed <number>   seed of the sample (default 1)
  --workers <n>     processes that run tests (default 1)
  --json <file>     write the results there
`;

/** Percent of the mutants of a folder. */
const minScore = 85;

const options = {
  area: { type: 'string', default: areas.join(',') },
  file: { type: 'string' },
  line: { type: 'string' },
  sample: { type: 'string', default: '200' },
  seed: { type: 'string', default: '1' },
  workers: { type: 'string', default: '1' },
  json: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

function fail(message: string): never {
  return refuse(usage, message);
}

function wholeNumber(name: 'sample' | 'seed' | 'workers' | 'line'): number {
  const value = Number(values[name]);
  return Number.isSafeInteger(value) && value >= 0 ? value : fail(`--${name} ${values[name]} is not a whole number.`);
}

const { values } = readCommandLine(usage, { options });
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}
const wanted = values.area.split(',');
const unknown = wanted.filter((name) => !areas.some((area) => area === name));
if (unknown.length > 0) fail(`There is no area ${unknown.join(', ')}; there are ${areas.join(', ')}.`);
const count = wholeNumber('sample') || Number.POSITIVE_INFINITY;
const seed = wholeNumber('seed');
const workers = Math.max(1, wholeNumber('workers'));
const onlyLine = values.line === undefined ? null : wholeNumber('line');

interface Tested extends MutantAt {
  readonly status: MutantResult['status'];
  /** How many tests execute it; null where it is executed before the tests, so that all have to run. */
  readonly tests: number | null;
  /** Why no test can see the difference; undefined where one should. */
  readonly equivalent: string | undefined;
}

const folder = mkdtempSync(join(tmpdir(), 'mutation-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

async function testArea(area: Area, files: readonly string[]): Promise<Tested[]> {
  const listed = await listMutants(files);
  const keys = [...listed].flatMap(([key, { line }]) => (onlyLine === null || line === onlyLine ? [key] : []));
  const chosen = sample(keys, count, seed);
  const sampleFile = join(folder, `${area}.json`);
  writeFileSync(sampleFile, JSON.stringify(chosen));
  process.env[sampleVariable] = sampleFile;
  process.env.MUTATION_AREA = area;
  const results = await new Stryker({
    mutate: [...files],
    plugins: ['@stryker-mutator/vitest-runner', join(import.meta.dirname, 'sample-checker.ts')],
    testRunner: 'vitest',
    checkers: ['sample'],
    coverageAnalysis: 'perTest',
    concurrency: workers,
    reporters: ['progress-append-only'],
    tempDirName: join(folder, area),
    // Stryker rewrites this file with the API of TypeScript 6, which version 7 no longer has. Vite needs no change of it.
    tsconfigFile: 'none.json',
    disableTypeChecks: false,
    // Beyond 1.5 times what the tests of a mutant take without it. A time-out counts as killed: on a busy machine a short one flatters.
    timeoutMS: 10_000,
    allowConsoleColors: false,
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false, pool: 'threads' },
  } as ConstructorParameters<typeof Stryker>[0]).runMutationTest();
  const resultOf = new Map(results.map((result) => [keyOf(result, root, 1), result]));
  return chosen.flatMap((key) => {
    const mutant = listed.get(key);
    const result = resultOf.get(key);
    if (!mutant || !result) throw new Error(`Stryker did not report ${key}.`);
    const equivalent = equivalents.find((each) => isListed(each, mutant))?.reason;
    const tests = result.static ? null : (result.coveredBy?.length ?? 0);
    return [{ ...mutant, status: result.status, tests, equivalent }];
  });
}

const of = (tested: readonly Tested[], ...statuses: readonly Tested['status'][]): Tested[] =>
  tested.filter(({ status }) => statuses.includes(status));

const results: Record<string, unknown>[] = [];
let isGood = true;
for (const area of areas.filter((each) => wanted.includes(each))) {
  const files = filesOf(area).filter((file) => !values.file || file === values.file);
  if (files.length === 0) continue;
  const tested = await testArea(area, files);
  const alive = of(tested, 'Survived', 'NoCoverage');
  const survivors = alive.filter(({ equivalent }) => equivalent === undefined);
  const killed = of(tested, 'Killed', 'Timeout', 'RuntimeError').length;
  const score = (100 * killed) / Math.max(1, killed + survivors.length);
  isGood &&= score >= minScore;
  results.push({
    area,
    mutants: tested.length,
    killed: of(tested, 'Killed', 'RuntimeError').length,
    timedOut: of(tested, 'Timeout').length,
    survived: of(survivors, 'Survived').length,
    notExecuted: of(survivors, 'NoCoverage').length,
    equivalent: alive.length - survivors.length,
    score: Math.round(score * 10) / 10,
  });
  for (const { file, line, mutator, original, replacement, status } of survivors) {
    const change = `- ${original}\n+ ${replacement}`.replaceAll('\n', '\n    ');
    process.stdout.write(`${file}:${line} ${status} ${mutator}\n    ${change}\n`);
  }
  if (values.json) {
    const head = { at: new Date().toISOString(), seed, sample: values.sample };
    writeFileSync(`${values.json}`, `${JSON.stringify({ ...head, results, [area]: tested }, null, 2)}\n`);
  }
}
console.table(results);
process.exit(isGood ? 0 : 1);

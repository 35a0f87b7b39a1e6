import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../../../infra/package/bundle.ts';
import { readCommandLine, refuse } from '../../support/command-line.ts';
import { root } from '../../support/source-tree.ts';
import { faultsOf } from '../verdict.ts';
import { reportText } from './report.ts';
import { soak } from './soak.ts';

const usage = `npm run soak -- [options]

Runs two bridges against a simulated Azure with one fault a minute, and reports what was lost and what grows.
Exits with 1 if a promise was broken, 2 if the command line is wrong. Linux only.

  --hours <number>  how long (default: 1); the heap is judged from one hour on, resident memory from three
  --seed <number>   seed of all that is random (default: drawn, and printed)
  --json <file>     write all samples there
`;

const options = {
  hours: { type: 'string', default: '1' },
  seed: { type: 'string' },
  json: { type: 'string' },
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
const minutes = Math.round(Number(values.hours) * 60);
if (!(minutes >= 1)) fail(`--hours ${values.hours} is not a number of hours of at least one minute (0.02).`);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
if (!Number.isSafeInteger(seed) || seed < 0) fail(`--seed ${values.seed} is not a whole number.`);
if (process.platform !== 'linux') fail('The soak reads /proc, which only Linux has.');

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
const directory = mkdtempSync(join(tmpdir(), 'soak-'));
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
const program = join(directory, 'scheduled-events-bridge.cjs');
await bundle(program);
process.stderr.write(`${minutes} minutes, seed ${seed}\n`);
const report = await soak({
  cases: minutes,
  seed,
  directory,
  program,
  sources: join(root, 'src'),
  signal: stop.signal,
  say: (line) => process.stderr.write(`${line}\n`),
});
if (values.json) {
  const machine = { cpu: cpus()[0]?.model ?? 'unknown', cores: availableParallelism(), kernel: release() };
  const head = { at: new Date().toISOString(), node: process.version, ...machine, seed };
  writeFileSync(values.json, `${JSON.stringify({ ...head, ...report }, null, 2)}\n`);
}
process.stdout.write(reportText(report));
process.exit(faultsOf(report.outcome).length === 0 ? 0 : 1);

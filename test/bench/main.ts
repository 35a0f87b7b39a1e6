import { readCommandLine, refuse } from '../support/command-line.ts';
import { decide } from './decide.ts';
import { drain } from './drain.ts';
import { fleet } from './fleet/fleet.ts';
import { footprint } from './footprint/footprint.ts';
import { latency } from './latency.ts';
import { packageSizes } from './package/package.ts';
import { page } from './page.ts';
import { start } from './start/start.ts';

const usage = `npm run bench -- <name> [options]

Measures the bridge on this machine, beside what would be used instead of it. Prints a table; nothing is asserted. Exits with 2 if the
command line is wrong. Defaults are in parentheses.

  footprint  [--starts <number>] (9) [--seconds <number>] (60)
  start, page  [--starts <number>] (9)
  package, decide
  latency  [--events <number>] (200) [--starts <number>] (9) [--json <file>]
  drain    [--runs <number>] (5) [--records <number>] (200000) [--per-event <numbers>] (4,700) [--to <hub,table,both>]
           [--node-options <options of Node.js, such as --cpu-prof>] [--json <file>]
  fleet    [--vms <numbers>] (1000,10000) [--shards <number>] (1) [--only <rolling,zone,reboot,spot>] [--rules] [--seed <numbers>] (1)
           [--svg <file>]
           simulates fleets of VMs. One simulation takes about 4 s of CPU for each 1,000 VMs of the scenarios rolling
           and reboot, a third of that for zone, a tenth for spot: 100,000 VMs up to 13 min and 6 GB. --rules compares
           rules for the connection to the event hub.
`;

function fail(message: string): never {
  return refuse(usage, message);
}

const options = {
  starts: { type: 'string', default: '9' },
  seconds: { type: 'string', default: '60' },
  vms: { type: 'string', default: '1000,10000' },
  only: { type: 'string', default: '' },
  svg: { type: 'string' },
  seed: { type: 'string', default: '1' },
  shards: { type: 'string', default: '1' },
  rules: { type: 'boolean', default: false },
  runs: { type: 'string', default: '5' },
  events: { type: 'string', default: '200' },
  records: { type: 'string', default: '200000' },
  'per-event': { type: 'string', default: '4,700' },
  to: { type: 'string', default: 'hub,table,both' },
  json: { type: 'string' },
  'node-options': { type: 'string', default: '' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const { positionals, values } = readCommandLine(usage, { allowPositionals: true, options });
const json = values.json ?? null;

const words = (option: 'only' | 'to'): string[] => values[option].split(',').filter(Boolean);
function numbers(option: 'vms' | 'seed' | 'per-event'): number[] {
  const found = values[option].split(',').map(Number);
  if (!found.every((one) => Number.isSafeInteger(one) && one > 0))
    fail(`--${option} ${values[option]}: whole numbers above 0 are expected, separated by commas.`);
  return found;
}
function number(option: 'starts' | 'seconds' | 'shards' | 'runs' | 'events' | 'records'): number {
  const found = Number(values[option]);
  if (!Number.isSafeInteger(found) || found < 1) fail(`--${option} ${values[option]} is not a whole number above 0.`);
  return found;
}

interface Benchmark {
  readonly run: () => Promise<void>;
  readonly takes: readonly (keyof typeof options)[];
}

const benchmarks: Readonly<Record<string, Benchmark>> = {
  footprint: {
    takes: ['starts', 'seconds'],
    run: () => footprint({ starts: number('starts'), seconds: number('seconds') }),
  },
  start: { takes: ['starts'], run: () => start({ starts: number('starts') }) },
  package: { takes: [], run: packageSizes },
  page: { takes: ['starts'], run: () => page({ starts: number('starts') }) },
  decide: { takes: [], run: decide },
  latency: {
    takes: ['events', 'starts', 'json'],
    run: () => latency({ events: number('events'), starts: number('starts'), json }),
  },
  drain: {
    takes: ['runs', 'records', 'per-event', 'to', 'json', 'node-options'],
    run: () =>
      drain({
        runs: number('runs'),
        records: number('records'),
        perEvent: numbers('per-event'),
        to: words('to'),
        json,
        nodeOptions: values['node-options'],
      }),
  },
  fleet: {
    takes: ['vms', 'shards', 'only', 'svg', 'seed', 'rules'],
    run: () =>
      fleet({
        vms: numbers('vms'),
        shards: number('shards'),
        only: words('only'),
        svg: values.svg ?? null,
        seeds: numbers('seed'),
        compareRules: values.rules,
      }),
  },
};

if (values.help) process.stdout.write(usage);
else {
  const [name = ''] = positionals;
  const { run, takes } = benchmarks[name] ?? fail(name === '' ? 'Which one?' : `There is no ${name}.`);
  const given = process.argv.slice(2).map((word) => /^--([^=]+)/.exec(word)?.[1] ?? '');
  const ignored = Object.keys(options).find((option) => given.includes(option) && !takes.some((one) => one === option));
  if (ignored !== undefined) fail(`${name} does not take --${ignored}.`);
  await run();
}
process.exit(0);

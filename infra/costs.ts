/** What a fleet costs, from record sizes that are measured as this runs. The tables are in `costs.md`. */
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { exitCodes } from '../src/cli/exit-codes.ts';
import { print } from '../src/cli/print.ts';
import { describeUsageError } from '../src/cli/usage-error.ts';
import { alertRulesIn, readAlertsText } from './costs-alerts.ts';
import {
  type Assumptions,
  assumptions,
  type Estimate,
  estimate,
  limits,
  prices,
  pricesAsOf,
  valuesOf,
} from './costs-model.ts';
import { alertReadsIn, readPerDay } from './costs-reads.ts';
import { measureSizes, type Sizes, sampleRows } from './costs-sizes.ts';

/** Names of assumptions and prices, with the number to use instead. */
export type Changes = Readonly<Record<string, number>>;

const fleets = [1_000, 10_000, 100_000] as const;
const heartbeats = [60, 15, 5] as const;

const withChanges = <T extends Readonly<Record<string, number>>>(values: T, changes: Changes): T =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, changes[name] ?? value])) as T;

const exact = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 3 });
const whole = (value: number): string => Math.ceil(value).toLocaleString('en-US');
const gigabytes = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: value < 1 ? 2 : value < 10 ? 1 : 0 });
const dollars = (value: number): string =>
  value === 0 ? '0' : value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 1 : 0 });

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');

/** All tables, as Markdown. */
export function costTables({
  vms = fleets,
  changes = {},
  alerts,
}: {
  readonly vms?: readonly number[];
  readonly changes?: Changes;
  /** The text of `alerts.yaml`. */
  readonly alerts: string;
}): string {
  const sizes = measureSizes();
  const rules = alertRulesIn(alerts);
  const assumed = withChanges(valuesOf(assumptions), changes);
  const price = withChanges(valuesOf(prices), changes);
  const estimates = vms.map((fleet) => estimate(fleet, sizes, rules, assumed, price));
  const byHeartbeat = heartbeats.map((heartbeatMinutes) => ({
    heartbeatMinutes,
    fleets: vms.map((fleet) => estimate(fleet, sizes, rules, { ...assumed, heartbeatMinutes }, price)),
  }));
  const busyShare = exact(assumed.busyShare * 100);
  const line = (what: string, shown: (one: Estimate) => string): string[] => [what, ...estimates.map(shown)];
  const fleetTable = table(
    ['', ...vms.map((fleet) => `${exact(fleet)} VMs`)],
    [
      line('records a month', (one) => whole(one.recordsPerMonth)),
      line('GB a month into `VmLifecycle_CL`', (one) => gigabytes(one.recordGb)),
      line(
        `GB a month into \`VmLifecycleBridge_CL\`, a heartbeat every ${exact(assumed.heartbeatMinutes)} min`,
        (one) => gigabytes(one.heartbeatGb),
      ),
      line(`GB kept after ${exact(assumed.totalRetentionDays)} days`, (one) => gigabytes(one.keptGb)),
      line('heartbeat requests a minute', (one) => whole(one.heartbeatRequestsPerMinute)),
      line(
        `requests in a busy minute (${busyShare} % of the VMs); limit of a rule: ${exact(limits.requestsPerMinute)}`,
        (one) => whole(one.busy.requestsPerMinute),
      ),
      line('connections on average', (one) => whole(one.connectionsOnAverage)),
      line(
        `connections in a busy minute without \`connectJitterSeconds\`; limit of a Standard namespace: ${exact(limits.connections)}`,
        (one) => whole(one.busy.connections),
      ),
      line('shards needed', (one) => whole(one.shards)),
      line('throughput units, of all shards', (one) => whole(one.throughputUnits)),
      line('$ a month: ingestion', (one) => dollars(one.dollars.ingestion)),
      line('$ a month: retention', (one) => dollars(one.dollars.retention)),
      line('$ a month: Event Hubs', (one) => dollars(one.dollars.eventHubs)),
      line(`$ a month: ${rules.length} enabled alert ${rules.length === 1 ? 'rule' : 'rules'}`, (one) =>
        dollars(one.dollars.alerts),
      ),
      line('**$ a month**', (one) => `**${dollars(one.dollars.total)}**`),
    ],
  );
  return [
    sizeTable(sizes),
    fleetTable,
    `The heartbeat interval has the largest effect on the cost. GB a month and requests a minute by \`heartbeat.everyMinutes\`:`,
    table(
      ['', ...vms.map((fleet) => `${exact(fleet)} VMs`)],
      byHeartbeat.map(({ heartbeatMinutes, fleets: each }) => [
        `${heartbeatMinutes} min`,
        ...each.map((one) => `${gigabytes(one.heartbeatGb)} GB, ${whole(one.heartbeatRequestsPerMinute)}`),
      ]),
    ),
    readsText,
    readsTable(alerts, vms, assumed),
    `Assumptions, and prices in US dollars. The prices were noted on ${pricesAsOf} and not taken from a current price list: **verify them** for your region and agreement.`,
    figureTable({ ...assumptions, ...prices }, { ...assumed, ...price }),
  ].join('\n\n');
}

const readsText =
  'Rows that log alerts read a day, and GB of the columns that they name, before compression. Reading is free on the plan Analytics, but takes time. So an alert that runs more often than hourly reads only a few hours of heartbeats.';

const daysPerMonth = 30.4;

/** A row for each log alert, the largest first. */
function readsTable(alerts: string, vms: readonly number[], assumed: Assumptions): string {
  const rows = sampleRows();
  const observers = 1 + assumed.witnessRate * (assumed.groupSize - 1);
  const figures = alertReadsIn(alerts, rows).map((alert) => ({
    alert,
    fleets: vms.map((fleet) => {
      const recordsPerMonth = fleet * assumed.eventsPerVmMonth * assumed.recordsPerEvent * observers;
      const recordsPerMinute = recordsPerMonth / daysPerMonth / 1440;
      return readPerDay(alert, rows, { vms: fleet, recordsPerMinute, assumed });
    }),
  }));
  const shown = (read: { readonly rows: number; readonly gigabytes: number }): string =>
    `${rounded(read.rows)}, ${gigabytes(read.gigabytes)} GB`;
  const total = vms.map((_, n) =>
    figures.reduce(
      (sum, { fleets: each }) => ({
        rows: sum.rows + (each[n]?.rows ?? 0),
        gigabytes: sum.gigabytes + (each[n]?.gigabytes ?? 0),
      }),
      { rows: 0, gigabytes: 0 },
    ),
  );
  return table(
    ['', 'every', ...vms.map((fleet) => `${exact(fleet)} VMs`)],
    [
      ...figures
        .toSorted((a, b) => (b.fleets.at(-1)?.rows ?? 0) - (a.fleets.at(-1)?.rows ?? 0))
        .map(({ alert, fleets: each }) => [alert.name, `${alert.everyMinutes} min`, ...each.map(shown)]),
      ['all', '', ...total.map(shown)],
    ],
  );
}

/** Two digits: the assumptions are no more precise. */
const rounded = (value: number): string => Number(value.toPrecision(2)).toLocaleString('en-US');

function sizeTable({ record, heartbeat }: Sizes): string {
  return table(
    ['bytes, measured', 'record', 'heartbeat'],
    [
      ['message on Event Hubs', exact(record.message), '-'],
      ['row as uploaded, before compression', exact(record.row), exact(heartbeat.row)],
      ['row as billed: values without column names', exact(record.billed), exact(heartbeat.billed)],
    ],
  );
}

function figureTable(
  figures: Readonly<Record<string, { readonly unit: string; readonly meaning: string }>>,
  values: Changes,
): string {
  const rows = Object.entries(figures).map(([name, { unit, meaning }]) => [
    `\`${name}\``,
    exact(values[name] ?? Number.NaN),
    unit,
    meaning,
  ]);
  return table(['figure', 'value', 'unit', 'meaning'], rows);
}

function fleetSizes(text: string): number[] {
  const numbers = text.split(',').map((one) => Number(one.trim() || Number.NaN));
  if (!numbers.every((one) => Number.isSafeInteger(one) && one > 0)) {
    throw new InvalidArgumentError('expected whole numbers above 0, such as 500,20000.');
  }
  return numbers;
}

function change(text: string, before: Changes): Changes {
  const [, name = '', number = ''] = /^\s*(\w+)\s*=\s*(.+)$/.exec(text) ?? [];
  const known = [...Object.keys(assumptions), ...Object.keys(prices)];
  if (!known.includes(name)) {
    throw new InvalidArgumentError(`expected name=number with one of these names: ${known.join(', ')}.`);
  }
  const value = Number(number);
  if (!(Number.isFinite(value) && value >= 0))
    throw new InvalidArgumentError(`expected a number from 0 on for ${name}.`);
  return { ...before, [name]: value };
}

/** Runs the command line; returns the exit code. */
export function printCosts(
  args: readonly string[],
  { print, say }: { readonly print: (text: string) => void; readonly say: (text: string) => void },
): number {
  const program = new Command('costs')
    .description(
      'Estimates what a fleet needs and costs, from the sizes of the records of this version, and prints it as Markdown.',
    )
    .option('--vms <numbers>', 'fleet sizes to estimate, separated by commas', fleetSizes, [...fleets])
    .option('--set <name=number>', 'another value for an assumption or a price; may be given several times', change, {})
    .addHelpText(
      'after',
      `
Example:
  npm run costs -- --vms 2500 --set logsPerGb=2.76 --set heartbeatMinutes=15

Exit codes:
  ${exitCodes.ok.code}   done
  ${exitCodes.usage.code}   ${exitCodes.usage.meaning}
`,
    )
    .configureOutput({ writeOut: print, writeErr: () => {} })
    .exitOverride()
    .action((options: { vms: number[]; set: Changes }) => {
      print(`${costTables({ vms: options.vms, changes: options.set, alerts: readAlertsText() })}\n`);
    });
  try {
    program.parse([...args], { from: 'user' });
    return exitCodes.ok.code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return exitCodes.ok.code;
    say(`${describeUsageError(error.message)}\n`);
    return exitCodes.usage.code;
  }
}

if (import.meta.main) {
  process.exitCode = printCosts(process.argv.slice(2), {
    print,
    say: (text) => void process.stderr.write(text),
  });
}

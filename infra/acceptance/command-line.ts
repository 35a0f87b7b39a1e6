import { Command, InvalidArgumentError, Option } from 'commander';
import { assumedHours } from './azure/prices.ts';
import { listAccounts, shown } from './commands.ts';
import { exitCodes, Failure } from './exit-codes.ts';

/** What the command line asks for. */
export interface Order {
  readonly verb: 'run' | 'plan' | 'clean-up';
  readonly against: 'azure' | 'simulator';
  /** Id or name; null where none is needed. */
  readonly subscription: string | null;
  readonly location: string | null;
  readonly only: readonly string[] | undefined;
  readonly without: readonly string[];
  readonly keep: boolean;
  readonly windows: boolean;
  /** Run to clean up; null for the only one whose folder is here. */
  readonly runId: string | null;
  /** Folder in which each run has one of its own. */
  readonly folder: string;
  /** Null: the default. */
  readonly timeLimitMinutes: number | null;
}

/** Folder of the runs, from the root of the clone. */
export const defaultFolder = 'acceptance-runs';

interface Options {
  readonly subscription?: string;
  readonly location?: string;
  readonly plan?: true;
  readonly only?: readonly string[];
  readonly without?: readonly string[];
  readonly keep?: true;
  readonly windows?: true;
  readonly cleanUp?: string | true;
  readonly against: 'azure' | 'simulator';
  readonly folder: string;
  readonly timeLimit?: number;
}

const help = `
Examples:
  npm run acceptance -- --plan
  npm run acceptance -- --subscription SUBSCRIPTION --location westeurope
  npm run acceptance -- --subscription SUBSCRIPTION --clean-up RUN
  npm run acceptance -- --against simulator

Ctrl-C ends the step that is running, removes what was created and writes the report; a second Ctrl-C ends at once.

Exit codes:
${Object.values(exitCodes)
  .map(({ code, meaning }) => `  ${String(code).padEnd(9)}${meaning}`)
  .join('\n')}
  129, 130, 143, 149  interrupted by a signal; what was created has been removed
`;

/**
 * Reads the command line.
 * @throws CommanderError, also when the help was printed; Failure (usage) for options that do not fit together
 */
export function readCommandLine(args: readonly string[], print: (text: string) => void): Order {
  const program = new Command('acceptance')
    .description(
      'Deploys a small platform and a few VMs into a subscription, makes real events, and reports which assumptions about Azure hold. Uses the Azure CLI with the account that is logged in, and removes everything in the end.',
    )
    .option('--subscription <name or id>', 'subscription to use')
    .option('--location <region>', 'region to use, such as westeurope')
    .option('--plan', 'print the steps with their costs and rights, and change nothing')
    .option('--only <steps>', 'carry out only these steps and those that they need, separated by commas', stepIds)
    .option('--without <steps>', 'leave out these steps and those that need them, separated by commas', stepIds)
    .option('--windows', 'also with a Windows VM')
    .option('--keep', 'leave everything in the subscription in the end; it costs money until you remove it')
    .option(
      '--clean-up [run]',
      'remove what a run has left; without an id: the last run in the folder that left something',
    )
    .addOption(
      new Option('--against <what>', 'where to carry out the scenarios; the simulator proves nothing about Azure')
        .choices(['azure', 'simulator'])
        .default('azure'),
    )
    .option('--folder <folder>', 'folder for the journal, the evidence and the report of each run', defaultFolder)
    .option(
      '--time-limit <minutes>',
      `end the run and clean up after that (default: ${assumedHours} hours, for which the cost is calculated)`,
      minutes,
    )
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', help)
    .allowExcessArguments(false)
    .configureOutput({ writeOut: print, writeErr: () => {}, outputError: () => {} })
    .exitOverride();
  program.parse([...args], { from: 'user' });
  return orderOf(program.opts<Options>());
}

function orderOf(options: Options): Order {
  const { subscription, location, plan, only, without, keep, windows, cleanUp, against, folder, timeLimit } = options;
  const verb = cleanUp !== undefined ? 'clean-up' : plan ? 'plan' : 'run';
  const refuse = (sentence: string): never => {
    throw new Failure('usage', sentence);
  };
  if (verb === 'clean-up') {
    const other = Object.entries({ '--plan': plan, '--only': only, '--without': without, '--keep': keep }).find(
      ([, value]) => value !== undefined,
    );
    if (other) refuse(`--clean-up cannot be used with ${other[0]}: leave out one of them.`);
    if (against === 'simulator') refuse('A run against the simulator leaves nothing to clean up.');
  }
  if (verb === 'run' && against === 'azure') {
    if (subscription === undefined) {
      refuse(`--subscription is missing: name the subscription to use (${shown(listAccounts())}), or see --plan.`);
    }
    if (location === undefined) refuse('--location is missing: name a region, such as westeurope.');
  }
  if (against === 'simulator' && (subscription ?? location) !== undefined) {
    refuse('--against simulator uses no subscription: leave out --subscription and --location.');
  }
  return {
    verb,
    against,
    subscription: subscription ?? null,
    location: location?.toLowerCase().replaceAll(' ', '') ?? null,
    only,
    without: without ?? [],
    keep: keep ?? false,
    windows: windows ?? false,
    runId: typeof cleanUp === 'string' ? cleanUp : null,
    folder,
    timeLimitMinutes: timeLimit ?? null,
  };
}

function stepIds(text: string): readonly string[] {
  const ids = text.split(',').map((id) => id.trim());
  if (ids.some((id) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id))) {
    throw new InvalidArgumentError('expected ids of steps, separated by commas; --plan lists them.');
  }
  return ids;
}

function minutes(text: string): number {
  const value = Number(text);
  if (!(Number.isInteger(value) && value >= 1 && value <= 24 * 60)) {
    throw new InvalidArgumentError('expected a whole number of minutes from 1 to 1440.');
  }
  return value;
}

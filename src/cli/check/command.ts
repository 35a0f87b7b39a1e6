import { type CommandContext, configFileOption, describeVerb, type Verb } from '../command-context.ts';
import { Failure, sinkReasons } from '../exit-codes.ts';
import { helpText } from '../wrap.ts';
import type { CheckOptions } from './run-checks.ts';

const form = `
A line is "ok" (verified), "WARNING" (works, review it), "PROBLEM" (does not work until fixed) or "not proven", with its
reason; below it, after $, the command that fixes it or shows more, for bash or PowerShell. The exit code is that of the first
problem; warnings and findings that are not proven end with 0. It runs beside the service and changes nothing, except that polling
Scheduled Events turns them on for this VM and its whole scale set or availability set, as the service does.

--json prints one object: reportVersion (2), bridgeVersion, at, offline, verdict (ok, warning, problem), exitCode, counts, and
findings: a list of what, verdict (ok, warning, problem, not-proven), message, and remedy (a command or null).
`;

/** `check`: verifies what the service needs, and reports problems and how to fix them. */
export const addCheck: Verb = (program, commandContext) => {
  const command = program
    .command('check')
    .description(
      'verify configuration, disk, metadata service, identity and sinks; report problems and how to fix them',
    )
    .option(...configFileOption)
    .option('--json', 'print one JSON object instead of lines')
    .option('--offline', 'skip checks that need the network')
    .option('--write', 'also send a test record to each sink, marked isTest')
    .addHelpText('after', helpText(form));
  describeVerb(
    command,
    'imdsFailed',
    'identityFailed',
    ...sinkReasons,
    'diskFailed',
    'clockFailed',
    'actionRequired',
    'newerOutbox',
    'configuration',
    'interrupted',
  ).action((options: CheckOptions) => check(options, commandContext));
};

/** Rejects with a {@link Failure}, without a message where there is a problem: stdout has said it all. */
async function check(options: CheckOptions, commandContext: CommandContext): Promise<void> {
  if (options.write && options.offline) throw new Failure('usage', '--write needs the network: leave out --offline.');
  const { runChecks } = await import('./run-checks.ts');
  const judgement = await runChecks(options, commandContext);
  if (judgement === null) throw new Failure('interrupted', 'Interrupted before the end: the result is incomplete.');
  if (judgement.first !== null) throw new Failure(judgement.exit, '');
}

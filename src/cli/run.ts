import { realpathSync } from 'node:fs';
import { systemClock } from '../clock.ts';
import { dispenseWithOptimizer } from '../process/process-wide.ts';
import { version } from '../process/version.ts';
import { type CommandContext, configFileOption, describeVerb, type Verb } from './command-context.ts';
import { Failure } from './exit-codes.ts';
import { start } from './start.ts';

/** `run`: watches and delivers until stopped. */
export const addRun: Verb = (program, commandContext) => {
  const command = program
    .command('run')
    .description('watch Scheduled Events and send a record of each step to the configured sinks, until stopped')
    .option(...configFileOption);
  describeVerb(command, 'nodeTooOld', 'alreadyRunning', 'newerOutbox', 'configuration').action(
    (options: { readonly config?: string }) => run(options, commandContext),
  );
};

async function run(options: { readonly config?: string }, commandContext: CommandContext): Promise<void> {
  dispenseWithOptimizer();
  const { config, log } = await start(options, commandContext);
  const { runBridge } = await import('../bridge.ts');
  const { inProcesses } = await import('../sender/senders.ts');
  const { OutboxInUse, OutboxTooNew } = await import('../outbox/store/errors.ts');
  try {
    // Where a link leads now: an update may turn it to another version while this one runs.
    const program = realpathSync(process.argv[1] ?? '');
    const openSenders = inProcesses(program, version);
    await runBridge({ config, clock: systemClock, log, stop: commandContext.stop, openSenders });
  } catch (error) {
    if (error instanceof OutboxInUse) throw new Failure('alreadyRunning', error.message);
    if (error instanceof OutboxTooNew) throw new Failure('newerOutbox', error.message);
    throw error;
  }
}

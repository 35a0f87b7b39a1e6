import { realpathSync } from 'node:fs';
import { systemClock } from '../clock.ts';
import { version } from '../version.ts';
import { Failure } from './exit-codes.ts';
import { start } from './start.ts';
import { describeVerb, type Surroundings, type Verb } from './surroundings.ts';

/** `run`: watches and delivers until stopped. */
export const addRun: Verb = (program, surroundings) => {
  const command = program
    .command('run')
    .description('watch Scheduled Events and deliver what happened, until stopped')
    .option(
      '-c, --config <file>',
      'configuration file (default: SCHEDULED_EVENTS_BRIDGE_CONFIG, else the platform’s own)',
    );
  describeVerb(command, 'nodeTooOld', 'alreadyRunning', 'newerOutbox', 'configuration').action(
    (options: { readonly config?: string }) => run(options, surroundings),
  );
};

async function run(options: { readonly config?: string }, surroundings: Surroundings): Promise<void> {
  const { config, log } = await start(options, surroundings);
  const { runBridge } = await import('./run-bridge.ts');
  const { inProcesses } = await import('../sender/senders.ts');
  const { OutboxInUse, OutboxTooNew } = await import('../outbox/errors.ts');
  try {
    // Where a link leads now: an update may turn it to another version while this one runs.
    const program = realpathSync(process.argv[1] ?? '');
    const openSenders = inProcesses(program, version);
    await runBridge({ config, clock: systemClock, log, stop: surroundings.stop, openSenders });
  } catch (error) {
    if (error instanceof OutboxInUse) throw new Failure('alreadyRunning', error.message);
    if (error instanceof OutboxTooNew) throw new Failure('newerOutbox', error.message);
    throw error;
  }
}

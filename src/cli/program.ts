import { Command } from 'commander';
import { addSimulate } from '../azure-simulator/cli/command.ts';
import { addDemo } from '../azure-simulator/demo/command.ts';
import { version } from '../process/version.ts';
import { addApprove } from './approve.ts';
import { addCheck } from './check/command.ts';
import { type CommandContext, describeVerb, type Verb } from './command-context.ts';
import { addEmitTest } from './emit-test.ts';
import { addOutbox } from './outbox/command.ts';
import { addRecord } from './record.ts';
import { addRun } from './run.ts';
import { addService } from './service/command.ts';
import { addStatus } from './status/command.ts';
import { addVersion } from './version.ts';

const verbs: readonly Verb[] = [
  addRun,
  addCheck,
  addStatus,
  addService,
  addOutbox,
  addApprove,
  addEmitTest,
  addRecord,
  addSimulate,
  addDemo,
  addVersion,
];

/** The whole command line. It throws instead of ending the process. */
export function createProgram(commandContext: CommandContext): Command {
  const program = new Command('scheduled-events-bridge')
    .description(
      'Watches the Scheduled Events of the Azure VM it runs on and delivers what happened to Event Hubs and Log Analytics.',
    )
    .version(version, '-V, --version', 'print the version')
    .helpCommand(false)
    .configureOutput({ writeOut: commandContext.print, outputError: () => {} })
    .exitOverride();
  describeVerb(program, 'nodeTooOld', 'alreadyRunning', 'newerOutbox', 'configuration');
  for (const add of verbs) add(program, commandContext);
  for (const command of program.commands) command.copyInheritedSettings(program);
  return program;
}

import { Command } from 'commander';
import { version } from '../process/version.ts';
import { type CommandContext, describeVerb, type Verb } from './command-context.ts';
import type { ExitReason } from './exit-codes.ts';

export interface CommandLine {
  readonly name: string;
  readonly description: string;
  readonly verbs: readonly Verb[];
  /** Exit codes of the program besides 0, 1 and 2. */
  readonly exitReasons: readonly ExitReason[];
}

/** A program's whole command line. It throws instead of ending the process. */
export function createCommandLine(
  { name, description, verbs, exitReasons }: CommandLine,
  commandContext: CommandContext,
): Command {
  const program = new Command(name)
    .description(description)
    .version(version, '-V, --version', 'print the version')
    .helpCommand(false)
    .configureOutput({ writeOut: commandContext.print, outputError: () => {} })
    .exitOverride();
  describeVerb(program, ...exitReasons);
  // Help is printed before an unknown command would be refused.
  program.addHelpText('beforeAll', ({ command }) => {
    const [name] = command.args;
    if (command.commands.length > 0 && name !== undefined && !name.startsWith('-'))
      command.error(`error: unknown command '${name}'`, { code: 'commander.unknownCommand' });
    return '';
  });
  for (const add of verbs) add(program, commandContext);
  for (const command of program.commands) command.copyInheritedSettings(program);
  return program;
}

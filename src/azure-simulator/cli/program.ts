import type { Command } from 'commander';
import type { CommandContext } from '../../cli/command-context.ts';
import { createCommandLine } from '../../cli/command-line.ts';
import { addVersion } from '../../cli/version.ts';
import { addDemo } from '../demo/command.ts';
import { addSimulate } from './command.ts';

/** The command line of the simulator. */
export const createProgram = (commandContext: CommandContext): Command =>
  createCommandLine(
    {
      name: 'scheduled-events-simulator',
      description:
        'Simulates the parts of Azure that the bridge uses: instance metadata, Event Hubs and Logs Ingestion.',
      verbs: [addSimulate, addDemo, addVersion],
      exitReasons: ['nodeTooOld', 'notDone'],
    },
    commandContext,
  );

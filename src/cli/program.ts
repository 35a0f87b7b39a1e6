import type { Command } from 'commander';
import { addApprove } from './approve.ts';
import { addCheck } from './check/command.ts';
import type { CommandContext, Verb } from './command-context.ts';
import { createCommandLine } from './command-line.ts';
import { addConfig } from './config.ts';
import { addEmitTest } from './emit-test.ts';
import { addExtension } from './extension/command.ts';
import { addOutbox } from './outbox/command.ts';
import { addRecord } from './record.ts';
import { addRun } from './run.ts';
import { addService } from './service/command.ts';
import { addStatus } from './status/command.ts';
import { addTail } from './tail/command.ts';
import { addVersion } from './version.ts';

const verbs: readonly Verb[] = [
  addRun,
  addCheck,
  addStatus,
  addConfig,
  addService,
  addOutbox,
  addApprove,
  addEmitTest,
  addRecord,
  addTail,
  addExtension,
  addVersion,
];

/** The command line of the bridge. */
export const createProgram = (commandContext: CommandContext): Command =>
  createCommandLine(
    {
      name: 'scheduled-events-bridge',
      description:
        'Watches the Scheduled Events of the Azure VM it runs on and sends a record of each step to the configured sinks.',
      verbs,
      exitReasons: ['nodeTooOld', 'alreadyRunning', 'newerOutbox', 'configuration'],
    },
    commandContext,
  );

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { type CommandContext, describeVerb, type Verb } from '../../cli/command-context.ts';
import { hangup } from '../cli/hangup.ts';

interface Options {
  readonly fleet?: number;
  readonly fleetPart?: string;
}

/** `demo`: a local Azure and a bridge, without a subscription. */
export const addDemo: Verb = (program, commandContext) => {
  const command = program
    .command('demo')
    .description('run a bridge on a local Azure for half a minute, and compare its records with the events')
    .option(
      '--fleet <vms>',
      'use a scale set of 2 to 500 VMs, each with its own bridge; takes up to a minute',
      fleetSize,
    )
    // Internal: the demo starts itself with it, for a part of the fleet.
    .addOption(new Option('--fleet-part <file>').hideHelp());
  describeVerb(command, 'notDone').action((options: Options) => runDemo(options, commandContext));
};

async function runDemo({ fleet, fleetPart }: Options, commandContext: CommandContext): Promise<void> {
  if (fleetPart !== undefined) return (await import('./fleet-part.ts')).runPart(fleetPart, commandContext);
  const directory = mkdtempSync(join(tmpdir(), 'scheduled-events-bridge-demo-'));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  // Also when the process is ended early.
  process.once('exit', remove);
  const options = {
    ...commandContext,
    stop: AbortSignal.any([commandContext.stop, hangup()]),
    directory,
    entry: process.argv[1] ?? '',
  };
  try {
    const { demo, fleetOf, oneVm } = await import('./shows.ts');
    await demo(fleet === undefined ? oneVm : fleetOf(fleet), options);
  } finally {
    process.off('exit', remove);
    remove();
  }
}

function fleetSize(text: string): number {
  const size = Number(text);
  if (!Number.isInteger(size) || size < 2 || size > 500) {
    throw new InvalidArgumentError('expected a whole number from 2 to 500.');
  }
  return size;
}

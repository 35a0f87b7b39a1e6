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

/** `demo`: a local Azure and a bridge in one, without anything of Azure's. */
export const addDemo: Verb = (program, commandContext) => {
  const command = program
    .command('demo')
    .description('see it work in half a minute: a local Azure and a bridge; ends by itself')
    .option(
      '--fleet <vms>',
      'with a scale set of so many VMs, 2 to 500, each with a bridge of its own; takes up to a minute',
      fleetSize,
    )
    // With it the demo starts itself, for a part of the fleet.
    .addOption(new Option('--fleet-part <file>').hideHelp());
  describeVerb(command, 'notDone').action((options: Options) => demo(options, commandContext));
};

async function demo({ fleet, fleetPart }: Options, commandContext: CommandContext): Promise<void> {
  if (fleetPart !== undefined) return (await import('./fleet/part.ts')).runPart(fleetPart, commandContext);
  const directory = mkdtempSync(join(tmpdir(), 'scheduled-events-bridge-demo-'));
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  // Also when the process is ended before its time.
  process.once('exit', remove);
  const options = {
    ...commandContext,
    stop: AbortSignal.any([commandContext.stop, hangup()]),
    directory,
    entry: process.argv[1] ?? '',
  };
  try {
    if (fleet === undefined) await (await import('./one-vm.ts')).demoOneVm(options);
    else await (await import('./fleet/fleet.ts')).demoFleet(options, fleet);
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

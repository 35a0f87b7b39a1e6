import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import { type CommandContext, describeVerb, type Verb } from '../../cli/command-context.ts';
import { Failure } from '../../cli/exit-codes.ts';
import { webPort } from '../../cli/tail/page.ts';
import { hangup } from '../cli/hangup.ts';

interface Options {
  readonly fleet?: number;
  readonly fleetPart?: string;
  /** Port of the page. */
  readonly web?: number;
  readonly speed?: number;
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
    .addOption(
      new Option(
        '--web [port]',
        'instead show maintenance of 200 simulated VMs on the page of tail --web, on this port of 127.0.0.1 (default: any free one)',
      )
        .preset('0')
        .argParser(webPort)
        .conflicts('fleet'),
    )
    .addOption(
      new Option(
        '--speed <factor>',
        `with --web: how many times as fast as Azure (default: ${defaultSpeed})`,
      ).argParser(speedOf),
    )
    // Internal: the demo starts itself with it, for a part of the fleet.
    .addOption(new Option('--fleet-part <file>').hideHelp());
  describeVerb(command, 'notDone').action((options: Options) => runDemo(options, commandContext));
};

const defaultSpeed = 60;

async function runDemo({ fleet, fleetPart, web, speed }: Options, commandContext: CommandContext): Promise<void> {
  if (fleetPart !== undefined) return (await import('./fleet-part.ts')).runPart(fleetPart, commandContext);
  if (speed !== undefined && web === undefined) throw new Failure('usage', '--speed needs --web.');
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
    if (web !== undefined) {
      const { webDemo } = await import('./web/show.ts');
      return await webDemo({ ...options, port: web, speed: speed ?? defaultSpeed });
    }
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

function speedOf(text: string): number {
  const factor = text.trim() === '' ? Number.NaN : Number(text);
  if (!(factor >= 1 && factor <= 100_000)) throw new InvalidArgumentError('expected a number from 1 to 100000.');
  return factor;
}

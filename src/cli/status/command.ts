import { systemClock } from '../../clock.ts';
import { mayColour } from '../../process/text-format.ts';
import { type CommandContext, describeVerb, type Verb } from '../command-context.ts';
import { Failure } from '../exit-codes.ts';
import { canRedraw, stopOrReaderGone } from '../live-output.ts';
import { addStateDirOptions, type StateDirOptions, stateDirectoryOf } from '../outbox/state-directory.ts';
import type { Status } from './status.ts';

/** The version of the JSON; it grows when a field is removed. */
const statusVersion = 1;

interface StatusOptions extends StateDirOptions {
  readonly json?: true;
  readonly watch?: true;
}

/** `status`: the problems of the bridge and how to fix them, from the service itself, else from its state directory. */
export const addStatus: Verb = (program, commandContext) => {
  const { env, print } = commandContext;
  const command = addStateDirOptions(
    program
      .command('status')
      .description('show the health of the bridge, its problems and how to fix them; also after it stopped'),
  )
    .option('--json', 'print everything as one JSON document')
    .option('--watch', 'repeat it every second on a terminal; elsewhere print a line for each change');
  describeVerb(command, 'actionRequired', 'noOutbox', 'notDone', 'newerOutbox', 'configuration').action(
    async (options: StatusOptions) => {
      const { directory, maxMegabytes } = stateDirectoryOf(options, env);
      const { readStatus } = await import('./status.ts');
      const read = () => readStatus(directory, { clock: systemClock, maxMegabytes });
      if (options.watch) return watch(read, options.json === true, commandContext);
      const status = await read();
      if (options.json) print(`${JSON.stringify({ statusVersion, ...status }, null, 2)}\n`);
      else {
        const { statusPage } = await import('./page.ts');
        print(statusPage(status));
      }
      if (status.verdict.actionRequired) throw new Failure('actionRequired', '');
    },
  );
};

async function watch(
  read: () => Promise<Status>,
  isJson: boolean,
  { env, print, stop }: CommandContext,
): Promise<void> {
  const { watchStatus, drawStatus, printChanges, printJsonChanges } = await import('./watch.ts');
  const { createScreen } = await import('../../terminal/screen.ts');
  const options = { read, clock: systemClock, stop: stopOrReaderGone(stop) };
  const { stdout } = process;
  if (isJson || !canRedraw(stdout, env)) {
    const show = isJson ? printJsonChanges(print, statusVersion) : printChanges(print);
    return await watchStatus({ ...options, show });
  }
  const screen = createScreen(print, mayColour(stdout, env), () => stdout.columns);
  process.once('exit', () => screen.close());
  await watchStatus({ ...options, show: drawStatus(screen, () => stdout.rows) });
}

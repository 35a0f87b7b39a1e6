import { systemClock } from '../../clock.ts';
import { describeVerb, type Verb } from '../command-context.ts';
import { Failure } from '../exit-codes.ts';
import { addStateDirOptions, type StateDirOptions, stateDirectoryOf } from '../outbox/state-directory.ts';

/** The version of the JSON; it grows when a field is removed. */
const statusVersion = 1;

/** `status`: the problems of the bridge and how to fix them, from the service itself, else from its state directory. */
export const addStatus: Verb = (program, { env, print }) => {
  const command = addStateDirOptions(
    program
      .command('status')
      .description('show the health of the bridge, its problems and how to fix them; also after it stopped'),
  ).option('--json', 'print everything as one JSON document');
  describeVerb(command, 'actionRequired', 'noOutbox', 'notDone', 'newerOutbox', 'configuration').action(
    async (options: StateDirOptions & { readonly json?: true }) => {
      const { directory, maxMegabytes } = stateDirectoryOf(options, env);
      const { readStatus } = await import('./status.ts');
      const status = await readStatus(directory, { clock: systemClock, maxMegabytes });
      if (options.json) print(`${JSON.stringify({ statusVersion, ...status }, null, 2)}\n`);
      else {
        const { statusPage } = await import('./page.ts');
        print(statusPage(status));
      }
      if (status.verdict.actionRequired) throw new Failure('actionRequired', '');
    },
  );
};

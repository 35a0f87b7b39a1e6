import { systemClock } from '../../clock.ts';
import { Failure } from '../exit-codes.ts';
import { addWhereabouts, stateDirectoryOf, type Whereabouts } from '../outbox/state-directory.ts';
import { describeVerb, type Verb } from '../surroundings.ts';

/** `status`: what is wrong with the bridge and what mends it, from its state directory, whether it runs or not. */
export const addStatus: Verb = (program, { env, print }) => {
  const command = addWhereabouts(
    program
      .command('status')
      .description('tell how the bridge is, what is wrong and what mends it; while it runs and after it stopped'),
  ).option('--json', 'print everything as one JSON document');
  describeVerb(command, 'needsPerson', 'noOutbox', 'notDone', 'newerOutbox', 'configuration').action(
    async (options: Whereabouts & { readonly json?: true }) => {
      const { directory, maxMegabytes } = stateDirectoryOf(options, env);
      const { readStatus } = await import('./status.ts');
      const status = readStatus(directory, { now: systemClock.now(), maxMegabytes });
      if (options.json) print(`${JSON.stringify(status, null, 2)}\n`);
      else {
        const { statusPage } = await import('./page.ts');
        print(statusPage(status));
      }
      if (status.verdict.needsPerson) throw new Failure('needsPerson', '');
    },
  );
};

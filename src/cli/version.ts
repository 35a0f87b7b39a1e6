import { version } from '../process/version.ts';
import { describeVerb, type Verb } from './command-context.ts';

/** `version`: the bridge's, and that of the Node it runs on. */
export const addVersion: Verb = (program, { print }) => {
  describeVerb(program.command('version').description('print the version of the bridge and of Node')).action(() =>
    print(`scheduled-events-bridge ${version} (Node ${process.versions.node}, ${process.platform}-${process.arch})\n`),
  );
};

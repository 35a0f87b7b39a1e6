import { version } from '../process/version.ts';
import { describeVerb, type Verb } from './command-context.ts';

/** `version`: the program's, and that of the Node it runs on. */
export const addVersion: Verb = (program, { print }) => {
  describeVerb(program.command('version').description('print the version of the program and of Node')).action(() =>
    print(`${program.name()} ${version} (Node ${process.versions.node}, ${process.platform}-${process.arch})\n`),
  );
};

import { type ParseArgsConfig, parseArgs } from 'node:util';

/** Ends a program of `test/` with 2, after one message and its usage. */
export function refuse(usage: string, message: string): never {
  process.stderr.write(`${message}\n\n${usage}`);
  process.exit(2);
}

/** The command line of a program of `test/`. Ends the program with 2 where it is wrong. */
export function readCommandLine<const T extends ParseArgsConfig>(
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    return refuse(usage, (error as Error).message);
  }
}

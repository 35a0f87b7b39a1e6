import { readFileSync, statSync } from 'node:fs';
import { messageOf } from '../log.ts';
import type { Machine } from './machine.ts';
import { Refusal } from './refusals.ts';

/** A configuration that is in no file, as the settings of an extension, and was checked already. */
export interface CheckedContent {
  readonly content: Buffer;
  /** Completes "in …". */
  readonly source: string;
  /** What it makes of that option. */
  readonly stateDirectory: string;
}

/**
 * Reads and checks a configuration as the service would; changes nothing.
 * @returns its content, ready to be written. @throws Refusal with all that is wrong with it.
 */
export function candidateIn(
  given: string | CheckedContent,
  machine: Pick<Machine, 'system' | 'checkConfiguration'>,
): Buffer {
  const { content, source, stateDirectory } = typeof given === 'string' ? checkedIn(given, machine) : given;
  const { system } = machine;
  const writable = system.named(system.places.state);
  if (stateDirectory === writable) return content;
  throw new Refusal(
    'badConfiguration',
    `The configuration in ${source} is wrong: stateDirectory is ${JSON.stringify(stateDirectory)}, and the service may write to ${writable} only. Leave it out; to have the state on another disk, mount that there.`,
  );
}

function checkedIn(file: string, { checkConfiguration }: Pick<Machine, 'checkConfiguration'>): CheckedContent {
  const content = contentOf(file);
  const checked = checkConfiguration(file);
  if (checked.problems !== undefined) throw new Refusal('badConfiguration', describeProblems(checked.problems, file));
  // It was read twice: what is written is what was checked.
  if (!contentOf(file).equals(content)) {
    throw new Refusal('badConfiguration', `The configuration ${file} was changed while it was read: try again.`);
  }
  return { content, source: file, stateDirectory: checked.stateDirectory };
}

function contentOf(file: string): Buffer {
  const unreadable = (why: string): Refusal =>
    new Refusal('badConfiguration', `The configuration ${file} cannot be read: ${why}. Name another with --config.`);
  try {
    const kind = statSync(file, { throwIfNoEntry: false });
    if (kind === undefined) throw unreadable('there is no such file');
    // A pipe can be read once only.
    if (!kind.isFile()) throw unreadable(`it is ${kind.isDirectory() ? 'a directory' : 'no regular file'}`);
    return readFileSync(file);
  } catch (error) {
    throw error instanceof Refusal ? error : unreadable(messageOf(error));
  }
}

/** One who fixes these gets the others with the next attempt. */
const mostShown = 20;

/** The problems of a configuration as one message. `source`: completes "in …"; left out where each problem names its file. */
export function describeProblems(problems: readonly string[], source?: string): string {
  const configuration = source === undefined ? 'The configuration' : `The configuration in ${source}`;
  const [first = '', ...others] = problems;
  if (others.length === 0) return `${configuration} is wrong: ${first}`;
  const left = problems.length - mostShown;
  const shown = left > 0 ? [...others.slice(0, mostShown - 1), `and ${left} more`] : others;
  // The first line alone is what some portals show.
  return `${configuration} has ${problems.length} problems: ${first}\n${shown
    .map((problem) => `  - ${problem}`)
    .join('\n')}`;
}

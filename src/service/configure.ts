import { readFileSync, statSync } from 'node:fs';
import { messageOf } from '../log.ts';
import type { Machine } from './machine.ts';
import { Refusal } from './refusals.ts';

/**
 * Reads and checks a configuration as the service would; changes nothing.
 * @returns its content, ready to be written. @throws Refusal with all that is wrong with it.
 */
export function candidateIn(
  file: string,
  { system, checkConfiguration }: Pick<Machine, 'system' | 'checkConfiguration'>,
): Buffer {
  const content = contentOf(file);
  const checked = checkConfiguration(file);
  if (checked.problems !== undefined) throw new Refusal('badConfiguration', describe(file, checked.problems));
  // It was read twice: what is written is what was checked.
  if (!contentOf(file).equals(content)) {
    throw new Refusal('badConfiguration', `The configuration ${file} was changed while it was read: try again.`);
  }
  const writable = system.named(system.places.state);
  if (checked.stateDirectory !== writable) {
    throw new Refusal(
      'badConfiguration',
      `The configuration in ${file} is wrong: stateDirectory is ${JSON.stringify(checked.stateDirectory)}, and the service may write to ${writable} only. Leave it out; to have the state on another disk, mount that there.`,
    );
  }
  return content;
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

function describe(file: string, problems: readonly string[]): string {
  const [first = ''] = problems;
  if (problems.length === 1) return `The configuration in ${file} is wrong: ${first}`;
  // The first line alone is what some portals show.
  return `The configuration in ${file} has ${problems.length} problems: ${first}\n${problems
    .slice(1)
    .map((problem) => `  - ${problem}`)
    .join('\n')}`;
}

import { appendFileSync, closeSync, fsyncSync, openSync } from 'node:fs';
import type { CommandContext } from '../../cli/command-context.ts';
import { Failure } from '../../cli/exit-codes.ts';
import { describeSeen } from '../recording/describe.ts';
import { openEndpoint } from '../recording/endpoint.ts';
import { record } from '../recording/record.ts';

/** `simulate --record`: writes down what an endpoint answers, until stopped. */
export async function recordTo(file: string, url: string, { print, stop }: CommandContext): Promise<void> {
  const fd = openNew(file);
  const endpoint = openEndpoint(url);
  const tell = (text: string): void => print(`${new Date().toISOString()}  ${text}\n`);
  print(`Recording ${url} to ${file}; Ctrl+C ends it.\n\n`);
  try {
    const changes = await record({
      endpoint,
      url,
      write: (line) => keep(fd, line, file),
      signal: stop,
      begun: ({ vm }) => tell(vm ? `VM ${vm.name}` : 'The endpoint does not tell which VM it belongs to.'),
      changed: ({ seen }) => tell(describeSeen(seen)),
    });
    const what = changes === 1 ? '1 change is' : `${changes} changes are`;
    print(`\n${what} in ${file}; simulate --replay ${file} shows ${changes === 1 ? 'it' : 'them'} again.\n`);
  } finally {
    await endpoint.close();
    closeSync(fd);
  }
}

function keep(fd: number, line: string, file: string): void {
  try {
    appendFileSync(fd, line);
    fsyncSync(fd);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Failure('unexpected', `The recording ends here: ${file} takes no more (${code ?? message}).`);
  }
}

/** Only the owner may read it: documents name VMs and subscriptions. */
function openNew(file: string): number {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') {
      throw new Failure('usage', `${file} exists and is not overwritten: name a new file, or remove this one.`);
    }
    throw new Failure('usage', `The file ${file} cannot be written (${code ?? message}): name another one.`);
  }
}

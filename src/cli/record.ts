import { appendFileSync, closeSync, fsyncSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { type CommandContext, describeVerb, type Verb } from './command-context.ts';
import { Failure } from './exit-codes.ts';
import { openNew } from './new-file.ts';

const metadataService = 'http://169.254.169.254';

/** `record`: a recording of a metadata service, which the simulator can replay elsewhere. */
export const addRecord: Verb = (program, commandContext) => {
  const command = program
    .command('record')
    .description(
      'record the responses of the metadata service until stopped, for scheduled-events-simulator simulate --replay',
    )
    .argument('<file>', 'a new file, for one line of JSON per change')
    .addOption(
      new Option('--endpoint <url>', 'poll this URL, once a second').default(metadataService).argParser(endpointUrl),
    );
  describeVerb(command).action((file: string, { endpoint }: { readonly endpoint: string }) =>
    recordTo(file, endpoint, commandContext),
  );
};

function endpointUrl(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' && url.search === '' && url.hash === '') return text.replace(/\/+$/, '');
  throw new InvalidArgumentError('expected an http:// URL, perhaps with a path prefix.');
}

async function recordTo(file: string, url: string, { print, stop }: CommandContext): Promise<void> {
  const [{ describePoll }, { openEndpoint }, { record }] = await Promise.all([
    import('../recording/describe.ts'),
    import('../recording/endpoint.ts'),
    import('../recording/record.ts'),
  ]);
  // Only the owner may read it: documents name VMs and subscriptions.
  const fd = openNew(file, 0o600);
  const endpoint = openEndpoint(url);
  const log = (text: string): void => print(`${new Date().toISOString()}  ${text}\n`);
  print(`Recording ${url} to ${file}; Ctrl+C stops it.\n\n`);
  try {
    const changes = await record({
      endpoint,
      url,
      write: (line) => append(fd, line, file),
      signal: stop,
      onHeader: ({ vm }) => log(vm ? `VM ${vm.name}` : "The VM's metadata cannot be read."),
      onChange: ({ seen }) => log(describePoll(seen)),
    });
    print(
      `\n${changes} ${changes === 1 ? 'change' : 'changes'} recorded; replay with: scheduled-events-simulator simulate --replay ${file}\n`,
    );
  } finally {
    await endpoint.close();
    closeSync(fd);
  }
}

function append(fd: number, line: string, file: string): void {
  try {
    appendFileSync(fd, line);
    fsyncSync(fd);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Failure('unexpected', `The recording ends here: ${file} cannot be written (${code ?? message}).`);
  }
}

import type { FailureOf } from '../../extension/enable.ts';
import type { Handler } from '../../extension/handler.ts';
import { messageOf } from '../../log.ts';
import { type CommandContext, describeVerb, type Verb } from '../command-context.ts';
import { type ExitReason, exitCodes, Failure } from '../exit-codes.ts';
import { failureFor, orFail } from '../service/refused.ts';

const reasons: readonly ExitReason[] = ['notDone', 'unsupported', 'missing', 'badConfiguration', 'unreachable', 'busy'];

/** Opens what a command of the guest agent works on: the handler in this folder. */
type OpenHandler = (folder: string, commandContext: CommandContext) => Promise<Handler>;

/** `extension`: the commands of a VM extension's handler, which Azure's guest agent runs. */
export const addExtension: Verb = (program, commandContext) =>
  addExtensionOf(async (...around) => (await import('./open-handler.ts')).openHandler(...around))(
    program,
    commandContext,
  );

/** The same for another handler than this machine's. */
export const addExtensionOf =
  (open: OpenHandler): Verb =>
  (program, commandContext) => {
    const extension = program
      .command('extension')
      .description('the commands of the VM extension; Azure runs them, people use "service"')
      .helpCommand(false);
    describeVerb(extension, ...reasons);
    for (const [name, description, run] of commands) {
      describeVerb(extension.command(name).description(description), ...reasons)
        .option('--folder <folder>', 'the folder of the extension, with HandlerManifest.json', '.')
        .action(async ({ folder }: { folder: string }) => {
          await runCommand(name, run, await open(folder, commandContext), commandContext);
        });
    }
  };

/** Does it. @returns one sentence about the result. */
type Run = (handler: Handler) => Promise<string>;

const commands: readonly (readonly [name: string, description: string, run: Run])[] = [
  [
    'install',
    'check whether the package can run on this machine; changes nothing',
    async (handler) => (await import('../../extension/commands.ts')).installHandler(handler),
  ],
  ['enable', 'install the package with the settings of the extension, start it and report its status', enable],
  [
    'disable',
    'stop the service, and do not start it at boot',
    async (handler) => (await import('../../extension/commands.ts')).disableHandler(handler),
  ],
  [
    'update',
    'update the service to another version of the extension; rolls back if it does not become ready',
    async (handler) => (await import('../../extension/commands.ts')).updateHandler(handler, failureOf),
  ],
  [
    'uninstall',
    'remove the service, its state and its configuration, unless an update has handed them to another version',
    async (handler) => (await import('../../extension/commands.ts')).uninstallHandler(handler),
  ],
];

const failureOf: FailureOf = (error) => {
  const failure = failureFor(error);
  return failure === null
    ? { code: exitCodes.unexpected.code, message: `Unexpected error: ${messageOf(error)}` }
    : { code: exitCodes[failure.reason].code, message: failure.message };
};

async function enable(handler: Handler): Promise<string> {
  const { enableHandler } = await import('../../extension/enable.ts');
  const { sentence, unreached } = await enableHandler(handler, failureOf);
  if (unreached) throw new Failure('unreachable', sentence);
  return sentence;
}

// assumption: extension-status-shown
/** Azure shows 3,200 characters of stdout and stderr together. */
const mostCharacters = 2_500;

async function runCommand(name: string, run: Run, handler: Handler, { print }: CommandContext): Promise<void> {
  const { log, env } = handler;
  const { AZURE_GUEST_AGENT_EXTENSION_VERSION: version = 'unknown', ConfigSequenceNumber: number = 'none' } = env;
  log.write(`${name} begins: version ${version} of the extension, settings ${number}.`);
  try {
    const sentence = await orFail(() => run(handler));
    log.write(`${name} ends: ${sentence}`);
    print(`${sentence}\n`);
  } catch (error) {
    if (!(error instanceof Failure)) {
      log.write(`${name} ends with an internal error: ${error instanceof Error ? error.stack : String(error)}`);
      throw error;
    }
    log.write(`${name} ends with ${exitCodes[error.reason].code}: ${error.message}`);
    const { shortened } = await import('../../extension/status-file.ts');
    throw new Failure(error.reason, shortened(error.message, mostCharacters));
  }
}

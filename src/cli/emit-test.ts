import { systemClock } from '../clock.ts';
import { thisSystem } from '../operating-system.ts';
import { type EmitTestAnswer, emitTestRequest } from '../requests/emit-test.ts';
import { sinks } from '../sinks/registry.ts';
import { type CommandContext, describeVerb, type Verb } from './command-context.ts';
import { Failure } from './exit-codes.ts';
import { addStateDirOptions, type StateDirOptions, stateDirectoryOf } from './outbox/state-directory.ts';

const answerMs = 15_000;

/** `emit-test`: one record, marked as a test, through everything that a record goes through. */
export const addEmitTest: Verb = (program, commandContext) => {
  const command = program
    .command(emitTestRequest)
    .description(
      'have the running service send one record that is marked as a test, to try sinks, dashboards and alerts',
    )
    .option('--json', 'print the ids as one JSON object');
  describeVerb(addStateDirOptions(command), 'noOutbox', 'notDone', 'newerOutbox', 'configuration').action(
    (options: StateDirOptions & { readonly json?: boolean }) => emitTest(options, commandContext),
  );
};

async function emitTest(
  options: StateDirOptions & { readonly json?: boolean },
  { env, stop, print }: CommandContext,
): Promise<void> {
  const { directory } = stateDirectoryOf(options, env);
  const answer = await ask(directory, stop);
  if (!answer.ok) throw new Failure('notDone', answer.message);
  // The service repeats the sentence as `says`, for a command of 0.1.0.
  print(options.json ? `${JSON.stringify({ ...answer, says: undefined })}\n` : whereToFind(answer));
}

async function ask(directory: string, signal: AbortSignal): Promise<EmitTestAnswer> {
  const { askService } = await import('../outbox/control/client.ts');
  const { explainUnread, foundIn } = await import('./outbox/read.ts');
  try {
    const asked = await askService(directory, emitTestRequest, {}, { timeoutMs: answerMs, signal, clock: systemClock });
    if (asked.answered) return asked.answer as EmitTestAnswer;
    // It says which of both it is: none there, or none that this user may see.
    if (asked.why === 'no-outbox') return foundIn<never>(directory, () => null);
    throw new Failure('notDone', unanswered[asked.why](directory));
  } catch (error) {
    throw explainUnread(error, directory);
  }
}

const unanswered = {
  'no-service': (directory: string): string =>
    `No service is running with the state directory ${directory}. Start it (${thisSystem.startService}), then try again.`,
  'no-answer': (directory: string): string =>
    `The service with the state directory ${directory} did not answer within ${answerMs / 1000} s, so it is not known whether a test record was created: status shows its health, for instance a full disk.`,
};

function whereToFind({ message, eventId, recordId, sinks: names }: Extract<EmitTestAnswer, { ok: true }>): string {
  const configured = sinks.filter(({ name }) => names?.includes(name) ?? true);
  return `${message}
  event id          ${eventId}
  record id         ${recordId}
${configured.map(({ label, find }) => `  ${label.padEnd(18)}${find({ eventId, recordId })}\n`).join('')}`;
}

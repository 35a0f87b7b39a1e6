import { systemClock } from '../../clock.ts';
import { type Asked, askService } from '../../outbox/control/client.ts';
import { outboxHandlers } from '../../outbox/control/handlers.ts';
import { openOutbox } from '../../outbox/durable-outbox.ts';
import type { PurgeSelection, Selection } from '../../outbox/outbox.ts';
import { readOutbox } from '../../outbox/reader.ts';
import { OutboxInUse } from '../../outbox/store/errors.ts';
import { openLog } from '../../process/open-log.ts';
import { version } from '../../process/version.ts';
import { asOwner } from '../as-owner.ts';
import { Failure } from '../exit-codes.ts';
import { explainUnread, foundIn, noOutboxIn } from './read.ts';

/** A change that an operator requests. */
export type ChangeRequest =
  | { readonly verb: 'retry'; readonly argument: Selection }
  | { readonly verb: 'purge'; readonly argument: PurgeSelection };

/** The service reads requests once a second; a large purge takes seconds. */
const timeoutMs = 20_000;

/**
 * Has the service change its outbox; where none runs, does it here, as the owner of the directory.
 * @returns a sentence for the operator.
 * @throws Failure where it was not.
 */
export async function changeOutbox(directory: string, wish: ChangeRequest, stop: AbortSignal): Promise<string> {
  try {
    for (let tries = 0; ; tries += 1) {
      const answered = await submitChange(directory, wish, stop);
      if (answered !== null) return answered;
      const done = await asOwner(directory, () => changeHere(directory, wish));
      if (done !== null) return accepted(done);
      // A service started in between: it gets the request.
      if (tries === 2) throw unanswered('no-answer', directory, stop);
    }
  } catch (error) {
    throw explainUnread(error, directory);
  }
}

/** Has the service that runs do it. Null: none runs. @throws Failure where the request failed. */
export async function changeByService(
  directory: string,
  wish: { readonly verb: string; readonly argument: unknown },
  stop: AbortSignal,
): Promise<string | null> {
  try {
    return await submitChange(directory, wish, stop);
  } catch (error) {
    throw explainUnread(error, directory);
  }
}

async function submitChange(
  directory: string,
  { verb, argument }: { readonly verb: string; readonly argument: unknown },
  stop: AbortSignal,
): Promise<string | null> {
  foundIn(directory, readOutbox);
  const asked = await askService(directory, verb, argument, { timeoutMs, signal: stop, clock: systemClock });
  if (asked.answered) return accepted(asked.answer);
  if (asked.why === 'no-service') return null;
  throw unanswered(asked.why, directory, stop);
}

/** Null: a service has the outbox by now. */
async function changeHere(directory: string, { verb, argument }: ChangeRequest): Promise<unknown> {
  // Those that the service had: with any others the outbox would abandon what is pending.
  const sinks = foundIn(directory, readOutbox).sinks.filter(({ configured }) => configured);
  try {
    const outbox = openOutbox({
      directory,
      sinks: sinks.map(({ name }) => name),
      maxMegabytes: ampleMegabytes,
      clock: systemClock,
      // What it finds at its start, the service will not find again.
      log: await openLog('warn'),
      version,
    });
    try {
      return await outboxHandlers(outbox)[verb](argument);
    } finally {
      outbox.close();
    }
  } catch (error) {
    if (error instanceof OutboxInUse) return null;
    throw error;
  }
}

/** Only the service applies the bound: nothing may be discarded for it here. */
const ampleMegabytes = 65_536;

function accepted(answer: unknown): string {
  const { ok, message } = (typeof answer === 'object' && answer !== null ? answer : {}) as Record<string, unknown>;
  if (ok === true && typeof message === 'string') return message;
  throw new Failure('notDone', typeof message === 'string' ? message : 'The service returned an unknown answer.');
}

function unanswered(why: Extract<Asked, { answered: false }>['why'], directory: string, stop: AbortSignal): Failure {
  if (why === 'no-outbox') return new Failure('noOutbox', noOutboxIn(directory));
  const when = stop.aborted ? 'yet' : `in ${timeoutMs / 1000} s`;
  return new Failure(
    'notDone',
    `The service runs, but has not answered ${when}; the request was withdrawn. See status, and the log of the service.`,
  );
}

import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { FiledRequest, Outbox } from '../outbox.ts';

/** Every answer says whether the request was executed, with a sentence for the operator. */
export interface Answer {
  readonly ok: boolean;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** By verb. An argument is JSON of unknown origin. What a handler returns or resolves with is written as JSON. */
export type Handlers = Readonly<Record<string, (argument: unknown) => unknown>>;

const everyMs = 5_000;
/** The command that filed it has ended long since: a service that was down must not do now what was wanted then. */
const staleMs = 5 * 60_000;
/** How long requests in progress may take at the end. */
const lingerMs = 2_000;

/** Executes, in the service, the requests that other processes file in the outbox. */
export function createControlQueue({
  outbox,
  handlers,
  clock,
  log,
}: {
  readonly outbox: Pick<Outbox, 'requests' | 'answer'>;
  readonly handlers: Handlers;
  readonly clock: Clock;
  readonly log: Log;
}) {
  const inProgress = new Map<number, Promise<void>>();
  const part = 'requests';

  const answerOf = async ({ verb, argument, requestedAt }: FiledRequest): Promise<unknown> => {
    // Either way: a clock that was set back hides how long ago it was.
    if (!(Math.abs(clock.now().getTime() - Date.parse(requestedAt)) <= staleMs)) {
      return refusal(`The request is of ${requestedAt} and was not executed: send it again.`);
    }
    const handler = Object.hasOwn(handlers, verb) ? handlers[verb] : undefined;
    if (!handler) {
      return refusal(`The running service does not know "${verb}": it is of another version than this command.`);
    }
    try {
      return await handler(argument);
    } catch (error) {
      log.error({ part, verb, error }, `A request to ${verb} failed.`);
      const reason = error instanceof Error ? error.message : String(error);
      return refusal(`The service failed: ${reason}. See its log.`);
    }
  };

  const execute = async (request: FiledRequest): Promise<void> => {
    const { number, verb, argument } = request;
    const answer = await answerOf(request);
    outbox.answer(number, withSays(answer));
    log.info({ part, verb, argument, answer }, `A command requested ${verb}.`);
  };

  const executeNew = (): void => {
    for (const request of outbox.requests()) {
      const { number } = request;
      if (inProgress.has(number)) continue;
      inProgress.set(
        number,
        execute(request).finally(() => inProgress.delete(number)),
      );
    }
  };

  return {
    /** Begins to execute new requests. For after each poll: a separate timer once a second would cost a third of a poll. */
    executeNew,
    /** Executes new requests also while polls take long, until `stop` is aborted; then waits a moment for those in progress. Never rejects. */
    async run(stop: AbortSignal): Promise<void> {
      while (!stop.aborted) {
        executeNew();
        await clock.sleep(everyMs, stop);
      }
      const done = new AbortController();
      const all = Promise.all(inProgress.values()).then(() => done.abort());
      await Promise.race([all, clock.sleep(lingerMs, done.signal)]);
      done.abort();
    },
  };
}

const refusal = (message: string): Answer => ({ ok: false, message });

/** A command of 0.1.0 reads the sentence from `says`. */
const withSays = (answer: unknown): unknown =>
  typeof answer === 'object' && answer !== null && 'message' in answer ? { ...answer, says: answer.message } : answer;

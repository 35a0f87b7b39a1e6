import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { FiledRequest, Outbox } from '../outbox.ts';

/** What every answer holds: whether it was done, and a sentence for the person who asked. */
export interface Answer {
  readonly ok: boolean;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** By verb. An argument is JSON of anybody's making. What a handler answers or resolves with is written as JSON. */
export type Handlers = Readonly<Record<string, (argument: unknown) => unknown>>;

/** Carries out, in the service, what other processes ask by way of the outbox. */
export interface ControlQueue {
  /** Begins with what was asked meanwhile. For after each turn: a timer of its own once a second would be a third of what a poll costs. */
  look(): void;
  /** Looks also while turns take long, until `stop` is aborted; then waits a moment for what is under way. Never rejects. */
  run(stop: AbortSignal): Promise<void>;
}

const everyMs = 5_000;
/** Whoever filed it has gone long since: a service that was down must not do now what was wanted then. */
const staleMs = 5 * 60_000;
/** What is under way at the end has so long. */
const lingerMs = 2_000;

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
}): ControlQueue {
  const underWay = new Map<number, Promise<void>>();
  const part = 'requests';

  const answerOf = async ({ verb, argument, requestedAt }: FiledRequest): Promise<unknown> => {
    // Either way: a clock that was set back hides how long ago it was.
    if (!(Math.abs(clock.now().getTime() - Date.parse(requestedAt)) <= staleMs)) {
      return refusal(`The request is of ${requestedAt} and was not carried out: ask again.`);
    }
    const handler = Object.hasOwn(handlers, verb) ? handlers[verb] : undefined;
    if (!handler) {
      return refusal(`The service that runs does not know "${verb}": it is of another version than this command.`);
    }
    try {
      return await handler(argument);
    } catch (error) {
      log.error({ part, verb, error }, `A request to ${verb} failed.`);
      const reason = error instanceof Error ? error.message : String(error);
      return refusal(`The service failed at it: ${reason}. Its log tells more.`);
    }
  };

  const carryOut = async (request: FiledRequest): Promise<void> => {
    const answer = await answerOf(request);
    outbox.answer(request.number, withSays(answer));
    log.info(
      { part, verb: request.verb, argument: request.argument, answer },
      `Asked to ${request.verb} by a command.`,
    );
  };

  const look = (): void => {
    for (const request of outbox.requests()) {
      if (underWay.has(request.number)) continue;
      underWay.set(
        request.number,
        carryOut(request).finally(() => underWay.delete(request.number)),
      );
    }
  };

  return {
    look,
    async run(stop) {
      while (!stop.aborted) {
        look();
        await clock.sleep(everyMs, stop);
      }
      const done = new AbortController();
      const all = Promise.all(underWay.values()).then(() => done.abort());
      await Promise.race([all, clock.sleep(lingerMs, done.signal)]);
      done.abort();
    },
  };
}

const refusal = (message: string): Answer => ({ ok: false, message });

/** A command of 0.1.0 reads the sentence from `says`. */
const withSays = (answer: unknown): unknown =>
  typeof answer === 'object' && answer !== null && 'message' in answer ? { ...answer, says: answer.message } : answer;

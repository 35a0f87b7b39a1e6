import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Outbox, PurgeSelection, Selection } from '../outbox.ts';

/** What a request about the outbox is answered with. */
export interface OutboxAnswer {
  readonly ok: boolean;
  /** For the person who asked. */
  readonly message: string;
  /** Deliveries that were changed: one record for two sinks is two. */
  readonly deliveries: number;
}

/** So many in one transaction, so that polling goes on in between. */
const atOnce = 2_000;

/**
 * `retry` and `purge`, as they are asked for: arguments are JSON of anybody's making.
 * @param onChange after something was changed: the relays have to look at the whole backlog again.
 */
export function outboxHandlers(
  outbox: Pick<Outbox, 'retryDeadLetters' | 'purge' | 'storage' | 'backlog'>,
  onChange: () => void = () => {},
): { readonly [Verb in 'retry' | 'purge']: (argument: unknown) => Promise<OutboxAnswer> } {
  const carryOut = async (
    argument: unknown,
    work: (asked: Selection) => number | Promise<number>,
    done: (deliveries: number, asked: Selection) => string,
  ): Promise<OutboxAnswer> => {
    const asked = understood(argument);
    if (!asked) return refusal('The request is not understood: the service is of another version than this command.');
    const sinks = outbox.backlog().map(({ sink }) => sink);
    if (asked.sink !== undefined && !sinks.includes(asked.sink)) {
      return refusal(`There is no destination "${asked.sink}"; there is ${sinks.join(' and ') || 'none'}.`);
    }
    const deliveries = await work(asked);
    if (deliveries > 0) onChange();
    const { trouble } = outbox.storage;
    if (trouble)
      return { ...refusal(`The disk takes no writes, so nothing can be changed: ${trouble.reason}`), deliveries };
    return { ok: true, message: done(deliveries, asked), deliveries };
  };

  return {
    retry: (argument) =>
      carryOut(
        argument,
        (asked) => outbox.retryDeadLetters(asked),
        (n, asked) =>
          n === 0
            ? noDeadLetter(outbox.backlog(), asked)
            : `${counted(n, 'dead letter')} will be sent again, with the same ${n === 1 ? 'id' : 'ids'}.`,
      ),
    purge: async (argument) => {
      const state = stateOf(argument);
      if (!state) return refusal('A purge has to say which state it means, dead or pending.');
      return carryOut(
        argument,
        (asked) => inParts((limit) => outbox.purge({ ...asked, state, limit })),
        (n) => (n === 0 ? 'There was nothing to give up; nothing is changed.' : `${counted(n, 'delivery')} given up.`),
      );
    },
  };
}

/** Whoever asks for dead letters may mean what waits. */
function noDeadLetter(backlog: ReturnType<Outbox['backlog']>, { sink, position }: Selection): string {
  const none = position === undefined ? 'No dead letters.' : `No dead letter at position ${position}.`;
  const waiting = backlog
    .filter((one) => sink === undefined || one.sink === sink)
    .reduce((n, { pending }) => n + pending, 0);
  if (waiting === 0) return none;
  return `${none} ${counted(waiting, 'delivery')} waiting: outbox retry --now tries at once.`;
}

async function inParts(purge: (limit: number) => number): Promise<number> {
  for (let sum = 0; ; await nextTurn()) {
    const purged = purge(atOnce);
    sum += purged;
    if (purged < atOnce) return sum;
  }
}

function understood(argument: unknown): Selection | null {
  if (typeof argument !== 'object' || argument === null) return null;
  const { sink, position } = argument as Record<string, unknown>;
  if (sink !== undefined && typeof sink !== 'string') return null;
  if (position !== undefined && !(typeof position === 'number' && Number.isSafeInteger(position))) return null;
  return { sink, position };
}

function stateOf(argument: unknown): PurgeSelection['state'] | null {
  const state = typeof argument === 'object' && argument !== null && 'state' in argument ? argument.state : null;
  return state === 'dead' || state === 'pending' ? state : null;
}

const counted = (n: number, what: string): string => {
  const many = what.endsWith('y') ? `${what.slice(0, -1)}ies` : `${what}s`;
  return `${n} ${n === 1 ? what : many}`;
};

const refusal = (message: string): OutboxAnswer => ({ ok: false, message, deliveries: 0 });

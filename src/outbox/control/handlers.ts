import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Outbox, PurgeSelection, Selection } from '../outbox.ts';
import type { Answer } from './queue.ts';

interface OutboxAnswer extends Answer {
  /** Deliveries that were changed: one record for two sinks is two. */
  readonly deliveries: number;
}

/** The batch size of a transaction, so that polling continues in between. */
const atOnce = 2_000;

/**
 * The requests `retry` and `purge`; arguments are JSON of unknown origin.
 * @param onChange after something was changed: the relays have to compare the whole backlog.
 */
export function outboxHandlers(
  outbox: Pick<Outbox, 'retryDeadLetters' | 'purge' | 'storage' | 'backlog'>,
  onChange: () => void = () => {},
): { readonly [Verb in 'retry' | 'purge']: (argument: unknown) => Promise<OutboxAnswer> } {
  const execute = async (
    argument: unknown,
    work: (selection: Selection) => number | Promise<number>,
    message: (deliveries: number, selection: Selection) => string,
  ): Promise<OutboxAnswer> => {
    const selection = selectionOf(argument);
    if (!selection)
      return refusal('The request is not understood: the service is of another version than this command.');
    const sinks = outbox.backlog().map(({ sink }) => sink);
    if (selection.sink !== undefined && !sinks.includes(selection.sink)) {
      return refusal(`There is no destination "${selection.sink}"; there is ${sinks.join(' and ') || 'none'}.`);
    }
    const deliveries = await work(selection);
    if (deliveries > 0) onChange();
    const { fault } = outbox.storage;
    const reason = `The disk takes no writes, so nothing can be changed: ${fault?.reason}`;
    if (fault) return { ...refusal(reason), deliveries };
    return { ok: true, message: message(deliveries, selection), deliveries };
  };

  return {
    retry: (argument) =>
      execute(
        argument,
        (selection) => outbox.retryDeadLetters(selection),
        (n, selection) =>
          n === 0
            ? noDeadLetter(outbox.backlog(), selection)
            : `${counted(n, 'dead letter')} will be sent again, with the same ${n === 1 ? 'id' : 'ids'}.`,
      ),
    purge: async (argument) => {
      const state = fieldsOf(argument)?.state;
      if (state !== 'dead' && state !== 'pending') {
        return refusal('A purge has to say which state it means, dead or pending.');
      }
      return execute(
        argument,
        (selection) => purgeAll(outbox, { ...selection, state }),
        (n) => (n === 0 ? 'No matching deliveries; nothing was changed.' : `${counted(n, 'delivery')} discarded.`),
      );
    },
  };
}

/** Pending deliveries may be meant, which need no retry. */
function noDeadLetter(backlog: ReturnType<Outbox['backlog']>, { sink, position }: Selection): string {
  const none = position === undefined ? 'No dead letters.' : `No dead letter at position ${position}.`;
  const selected = backlog.filter((one) => sink === undefined || one.sink === sink);
  const pending = selected.reduce((sum, one) => sum + one.pending, 0);
  const whose = position === undefined ? '' : ' of all records';
  return pending === 0 ? none : `${none} Pending deliveries${whose}: ${pending} (outbox retry --now sends them now).`;
}

async function purgeAll(outbox: Pick<Outbox, 'purge'>, selection: PurgeSelection): Promise<number> {
  for (let sum = 0; ; await nextTurn()) {
    const purged = outbox.purge({ ...selection, limit: atOnce });
    sum += purged;
    if (purged < atOnce) return sum;
  }
}

const fieldsOf = (argument: unknown): Readonly<Record<string, unknown>> | null =>
  typeof argument === 'object' ? (argument as Record<string, unknown> | null) : null;

function selectionOf(argument: unknown): Selection | null {
  const fields = fieldsOf(argument);
  if (!fields) return null;
  const { sink, position } = fields;
  if (sink !== undefined && typeof sink !== 'string') return null;
  if (position !== undefined && !(typeof position === 'number' && Number.isSafeInteger(position))) return null;
  return { sink, position };
}

const counted = (n: number, what: string): string =>
  `${n} ${n === 1 ? what : what.endsWith('y') ? `${what.slice(0, -1)}ies` : `${what}s`}`;

const refusal = (message: string): OutboxAnswer => ({ ok: false, message, deliveries: 0 });

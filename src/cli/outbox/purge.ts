import { countDeliveries } from '../../outbox/list-deliveries.ts';
import type { PurgeSelection } from '../../outbox/outbox.ts';
import type { CommandContext } from '../command-context.ts';
import { Failure } from '../exit-codes.ts';
import { changeOutbox } from './change.ts';
import { confirmed, type Terminal } from './confirm.ts';
import { sinkName } from './plain.ts';
import { foundIn } from './read.ts';

/** Shows what will be lost, asks for confirmation unless `yes`, and discards it. */
export async function purgeOutbox(
  directory: string,
  { yes, ...argument }: PurgeSelection & { readonly yes: boolean },
  { print, stop }: Pick<CommandContext, 'print' | 'stop'>,
  terminal: Terminal = { input: process.stdin, output: process.stderr },
): Promise<void> {
  const { state, sink, position } = argument;
  const counts = foundIn(directory, () => countDeliveries(directory, { states: [state], sink, position }));
  if (counts.size === 0) {
    const none = state === 'dead' ? 'dead letters' : 'pending records';
    const noneThere = state === 'dead' ? 'dead letter' : 'pending delivery';
    print(position === undefined ? `No ${none} to discard.\n` : `No ${noneThere} at position ${position}.\n`);
    return;
  }
  if (!yes && !(await confirmed(whatIsLost(counts, argument), terminal, stop))) {
    throw new Failure('notDone', 'Nothing was discarded.');
  }
  print(`${await changeOutbox(directory, { verb: 'purge', argument }, stop)}\n`);
}

function whatIsLost(counts: ReadonlyMap<string, number>, { state, sink }: PurgeSelection): string {
  const of = [...counts].map(([name, n]) => `${counted(n, state)} ${sinkName(name)}`).join(' and ');
  const only = sink === undefined ? '' : ` --sink ${sink}`;
  return `${of} will be discarded permanently; outbox export --state ${state}${only} saves them first.`;
}

function counted(n: number, state: PurgeSelection['state']): string {
  const [one, many] = state === 'dead' ? ['dead letter', 'dead letters'] : ['record', 'records'];
  return `${n} ${n === 1 ? one : many} ${state === 'dead' ? 'of' : n === 1 ? 'that waits for' : 'that wait for'}`;
}

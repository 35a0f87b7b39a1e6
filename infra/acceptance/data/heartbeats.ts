import type { PlayedOperation } from '../events/steps.ts';
import type { Finding, StepContext } from '../step.ts';
import type { Operation, QueryResult } from '../target.ts';
import { deliveredRecords, ingestionMinutes } from './bridge.ts';
import { reportOfAzure } from './step-parts.ts';
import { waitFor } from './wait-for.ts';

/** Every VM that can be reached has sent a heartbeat; those that were stopped have sent a last one. */
export async function checkHeartbeats(context: StepContext): Promise<void> {
  const { target, found, say, save } = context;
  const { streams } = await deliveredRecords(context);
  const query =
    'VmLifecycleBridge_CL | where TimeGenerated > ago(1d) | project VmName, StreamId, State, TimeGenerated | order by TimeGenerated asc';
  const rows = await waitFor(
    context,
    { what: 'The first heartbeat of every VM', minutes: ingestionMinutes },
    async (): Promise<QueryResult['rows'] | null> => {
      const result = await target.query(query);
      const known = new Set(result.rows.map(({ StreamId }) => StreamId));
      return streams.every(({ streamId }) => known.has(streamId)) ? result.rows : null;
    },
  );
  say(`${rows.length} heartbeats of ${new Set(rows.map(({ StreamId }) => StreamId)).size} streams`);
  const played = [...found]
    .filter(([step]) => step.startsWith('scenario-'))
    .map(([, operation]) => operation as PlayedOperation);
  const stops = rows.filter(({ State }) => State === 'stopping');
  const judged = stopsOf(
    played,
    stops.map(({ VmName, TimeGenerated }) => ({ vmName: String(VmName), at: String(TimeGenerated) })),
  );
  if (judged === null) return;
  reportOfAzure(context, {
    assumption: 'host-stops-orderly',
    ...judged,
    file: save('heartbeats.json', JSON.stringify({ played, rows }, null, 1)),
  });
}

/** A last heartbeat, as the table has it. */
interface Stop {
  readonly vmName: string;
  readonly at: string;
}

/** Those after which a guest is to be shut down in order. */
const shutDowns: readonly Operation[] = ['restart', 'deallocate', 'evict', 'delete-instance'];
/** The clocks of this machine and of a VM may differ by so much. */
const clocksMs = 60_000;

/** Whether each kind of operation was followed by a last heartbeat of its VM, before the next operation on it; null if none was played. */
export function stopsOf(
  played: readonly PlayedOperation[],
  stops: readonly Stop[],
): Pick<Finding, 'verdict' | 'evidence'> | null {
  const isSeen = ({ machine, requestedAt }: PlayedOperation): boolean => {
    const from = Date.parse(requestedAt) - clocksMs;
    const later = played.filter((one) => one.machine === machine).map((one) => Date.parse(one.requestedAt));
    const until = Math.min(...later.filter((at) => at > Date.parse(requestedAt)));
    return stops.some(({ vmName, at }) => {
      const time = Date.parse(at);
      return vmName.toLowerCase() === machine.toLowerCase() && time >= from && time < until;
    });
  };
  const judged = played.filter(({ operation }) => shutDowns.includes(operation));
  if (judged.length === 0) return null;
  const without = judged.filter((one) => !isSeen(one));
  const named = (all: readonly PlayedOperation[]): string =>
    all.map(({ operation, machine }) => `${operation} of ${machine}`).join(', ');
  return without.length === 0
    ? { verdict: 'proven', evidence: `A heartbeat with the state stopping arrived after ${named(judged)}.` }
    : { verdict: 'refuted', evidence: `No heartbeat with the state stopping arrived after ${named(without)}.` };
}

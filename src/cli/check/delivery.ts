import { ok, problem, warning } from '../../check/finding.ts';
import { formatDuration } from '../../clock.ts';
import type { OperatingSystem } from '../../operating-system.ts';
import { Failure } from '../exit-codes.ts';
import { plain, sinkName } from '../outbox/plain.ts';
import type { StatusSink } from '../status/facts.ts';
import type { Status } from '../status/status.ts';
import { deadLetters, undelivered } from '../status/verdict.ts';
import type { CheckContext } from './context.ts';
import type { Finding } from './finding.ts';

/** After the destinations themselves: where one of them can be reached now, only this says that its records wait all the same. */
export async function checkDelivery(context: CheckContext): Promise<readonly Finding[]> {
  const status = await context.status();
  return status instanceof Failure ? [] : [deliveryFinding(status, context.system)];
}

/** One line for all destinations: the worst of them first. */
export function deliveryFinding(
  { sinks, at, running }: Pick<Status, 'sinks' | 'at' | 'running'>,
  { bridge }: Pick<OperatingSystem, 'bridge'>,
): Finding {
  const what = 'delivery.backlog';
  const configured = sinks.filter(({ state }) => state !== 'not-configured');
  const held = configured.flatMap((sink) => undelivered(sink, { at, running }) ?? []);
  if (held.length > 0 && running !== false) {
    return { ...problem(what, held.join(' '), bridge('outbox retry --now')), exit: 'actionRequired' };
  }
  const dead = configured.flatMap((sink) => deadLetters(sink) ?? []);
  if (dead.length > 0) return warning(what, dead.join(' '), bridge('outbox list --state dead'));
  const waiting = configured.filter(({ waiting: count }) => count > 0);
  if (waiting.length === 0) return ok(what, 'No records wait for a destination.');
  const message = waiting.map((sink) => waits(sink)).join(' ');
  const isUnderWay = waiting.every(({ state }) => state === 'delivering');
  return isUnderWay ? ok(what, message) : warning(what, message);
}

function waits({ name, waiting, state, oldestAgeSeconds, lastError }: StatusSink): string {
  const records = waiting === 1 ? '1 record waits' : `${waiting} records wait`;
  const why = state === 'retrying' && lastError !== null ? `: ${plain(lastError.reason)}` : '.';
  return `${records} for ${sinkName(name)} (${state}), the oldest for ${formatDuration(oldestAgeSeconds ?? 0)}${why}`;
}

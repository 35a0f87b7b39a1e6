import type { StepContext } from '../step.ts';
import type { Machine, Target } from '../target.ts';
import type { WrittenStream } from './check-hub.ts';
import { waitFor } from './wait-for.ts';

/** What is used of `emit-test --json`. */
export interface EmittedRecord {
  readonly machine: Machine;
  readonly emittedAt: Date;
  readonly recordId: string;
  readonly eventId: string;
  readonly streamId: string;
  readonly position: number;
}

/** What is used of a sink in `status --json`. */
export interface SinkStatus {
  readonly name: string;
  readonly state: string;
  readonly waiting: number;
  readonly deadLetters: number;
  readonly lastError: null | { readonly at: string | null; readonly code: string; readonly reason: string };
}

/** Has the bridge on a VM send a test record. */
export async function emitTest(target: Target, machine: Machine): Promise<EmittedRecord> {
  const emittedAt = new Date();
  const answer = await json<Omit<EmittedRecord, 'machine' | 'emittedAt'>>(target, machine, ['emit-test', '--json']);
  return { ...answer, machine, emittedAt };
}

/** Names of the sinks that have delivered a record. */
export async function deliveredTo(
  target: Target,
  { machine, position }: Pick<EmittedRecord, 'machine' | 'position'>,
): Promise<readonly string[]> {
  const args = ['outbox', 'show', String(position)];
  const { deliveries } = await json<{
    readonly deliveries: readonly { readonly sink: string; readonly state: string }[];
  }>(target, machine, args);
  return deliveries.filter(({ state }) => state === 'delivered').map(({ sink }) => sink);
}

/** What is used of `status --json`. */
interface Status {
  readonly outbox: { readonly streamId: string; readonly position: number };
  readonly sinks: readonly SinkStatus[];
}

export async function sinkStatus(target: Target, machine: Machine, sink: string): Promise<SinkStatus> {
  const { sinks } = await json<Status>(target, machine, ['status', '--json']);
  const found = sinks.find(({ name }) => name === sink);
  if (found === undefined) throw new Error(`The bridge on ${machine.name} has no sink ${sink}.`);
  return found;
}

/** The records of each VM that can be reached, when all of them were delivered; null while one waits. */
export async function writtenStreams(target: Target): Promise<readonly WrittenStream[] | null> {
  const streams: WrittenStream[] = [];
  for (const machine of await target.machines()) {
    const status = await json<Status>(target, machine, ['status', '--json']).catch(() => null);
    if (status === null) continue;
    if (status.sinks.some(({ waiting }) => waiting > 0)) return null;
    streams.push({ machine: machine.name, ...status.outbox });
  }
  if (streams.length === 0) throw new Error('The bridge answers on no VM.');
  return streams;
}

/** First rows of a new table take up to 15 minutes. https://learn.microsoft.com/azure/azure-monitor/logs/data-ingestion-time */
export const ingestionMinutes = 20;
/** Before the first VM of a run. */
export const longAgo = new Date(0);

/** All records, when those of every VM that can be reached are in the hub. */
export async function deliveredRecords(context: Pick<StepContext, 'target' | 'signal'>) {
  const streams = await waitFor(context, { what: 'The delivery of all records', minutes: 15 }, () =>
    writtenStreams(context.target),
  );
  return { streams, messages: await context.target.readHub(longAgo) };
}

/** A VM with a running bridge, if possible one outside of a scale set. Starts it if no VM answers. */
export async function oneMachine(target: Target): Promise<Machine> {
  const machines = await target.machines();
  const ordered = [
    ...machines.filter(({ role }) => role === 'single'),
    ...machines.filter(({ role }) => role !== 'single'),
  ];
  for (const machine of ordered) {
    const answers = await json<Status>(target, machine, ['status', '--json']).then(
      () => true,
      () => false,
    );
    if (answers) return machine;
  }
  const [first] = ordered;
  if (first === undefined) throw new Error('There is no VM with a bridge.');
  await target.request('start', first);
  return first;
}

async function json<T>(target: Target, machine: Machine, args: readonly string[]): Promise<T> {
  const { exitCode, stdout } = await target.runBridge(machine, args);
  try {
    return JSON.parse(stdout) as T;
  } catch {
    throw new Error(
      `${args.join(' ')} on ${machine.name} ended with ${exitCode} and printed no JSON: ${stdout.slice(0, 200)}`,
    );
  }
}

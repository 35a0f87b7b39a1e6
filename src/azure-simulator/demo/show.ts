import type { LifecycleRecord } from '../../lifecycle/record.ts';
import { readOutbox } from '../../outbox/reader.ts';
import type { AzureSimulator } from '../index.ts';
import type { BridgeProcess } from './bridge-process.ts';
import { beginning, fold, type Show } from './model.ts';
import type { Happening } from './moment.ts';
import { type Audience, perform } from './perform.ts';
import { playScript } from './script.ts';
import { compare, type Held, type Verdict } from './verdict.ts';

export interface ShowOptions extends Audience<Show, Happening> {
  readonly azure: AzureSimulator;
  readonly vm: string;
  readonly bridge: BridgeProcess;
  readonly stateDirectory: string;
}

/**
 * The whole show with one VM, from the start of the bridge until everything has arrived or patience is over. Null: it was stopped.
 * @throws a `Failure` when it cannot go on.
 */
export async function runShow(options: ShowOptions): Promise<{ verdict: Verdict; show: Show } | null> {
  const { azure, stateDirectory } = options;
  const verdictOn = (read: readonly LifecycleRecord[]): Verdict =>
    compare(azure.imds.issued, read, azure.logAnalytics.rows().map(heldRow));
  const ended = await perform<Show, Happening>(azure, options, { beginning, fold }, (performance) => {
    const { read, waits, show, tell, since } = performance;
    const told = { issued: 0, rows: 0 };
    return {
      look() {
        const { issued } = azure.imds;
        for (const { at, eventId, eventType, step, incarnation } of issued.slice(told.issued)) {
          tell({ kind: 'azure', eventId, eventType, step, incarnation }, at.getTime());
        }
        const rows = azure.logAnalytics.rows();
        for (const row of rows.slice(told.rows)) tell({ kind: 'table', row: heldRow(row) });
        told.issued = issued.length;
        told.rows = rows.length;
        const isDown = show().outages.some(({ until }) => until === null);
        if (!isDown && show().waiting === 0) return;
        const records = waitingIn(stateDirectory);
        if (records !== show().waiting) tell({ kind: 'waiting', records });
      },
      received(record) {
        const notBefore = record.notBefore === null ? null : since(Date.parse(record.notBefore));
        return { kind: 'hub', record, notBefore };
      },
      async play() {
        const wasRead = (eventType: string, phase: string): boolean =>
          read.some((record) => record.eventType === eventType && record.phase === phase);
        await playScript({ ...options, ...waits, tell, wasRead, waiting: () => show().waiting });
        await waits.patiently(() => verdictOn(read).complaints.length === 0);
      },
    };
  });
  return ended && { verdict: verdictOn(ended.read), show: ended.show };
}

/** What the verdict asks of a row. */
function heldRow(row: Readonly<Record<string, unknown>>): Held {
  const { RecordId, EventId, EventType, Phase } = row;
  return {
    recordId: String(RecordId),
    eventId: String(EventId),
    eventType: String(EventType),
    phase: Phase as Held['phase'],
  };
}

/** What the bridge keeps for the event hub; 0 while its outbox cannot be read. */
function waitingIn(stateDirectory: string): number {
  try {
    const sinks = readOutbox(stateDirectory)?.sinks ?? [];
    return sinks.find(({ name }) => name === 'event-hubs')?.counters.pending ?? 0;
  } catch {
    return 0;
  }
}

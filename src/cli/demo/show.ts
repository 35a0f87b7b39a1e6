import type { AzureSimulator } from '../../azure-simulator/index.ts';
import { systemClock } from '../../clock.ts';
import type { LifecycleRecord } from '../../lifecycle/record.ts';
import { readOutbox } from '../../outbox/reader.ts';
import type { BridgeProcess } from './bridge-process.ts';
import { beginning, fold, type Show } from './model.ts';
import type { Happening, Moment } from './moment.ts';
import { readBack } from './read-back.ts';
import { playScript } from './script.ts';
import { compare, type Held, type Verdict } from './verdict.ts';
import { createWaits } from './waits.ts';

export interface ShowOptions {
  readonly azure: AzureSimulator;
  readonly vm: string;
  readonly bridge: BridgeProcess;
  readonly stateDirectory: string;
  /** Ends the show, with a failure if that is its reason. */
  readonly stop: AbortSignal;
  /** Told of each moment as it happens, with the show as it was before. */
  readonly happened: (moment: Moment, before: Show) => void;
  /** Ten times a second; `now` as seconds since the show began. */
  readonly tick: (show: Show, now: number) => void;
  /** How long one thing may be waited for, and what has not arrived at the end. Default 20 s. */
  readonly patienceMs?: number;
}

const tickMs = 100;

/**
 * The whole show with one VM, from the start of the bridge until everything has arrived or patience is over. Null: it was stopped.
 * @throws a `Failure` when it cannot go on.
 */
export async function runShow(options: ShowOptions): Promise<{ verdict: Verdict; show: Show } | null> {
  const { azure, stop, stateDirectory, happened, tick } = options;
  const waits = createWaits(stop, options.patienceMs);
  const began = Date.now();
  const read: LifecycleRecord[] = [];
  let show = beginning;

  const since = (time: number): number => (time - began) / 1000;
  const tell = (happening: Happening, time = Date.now()): void => {
    const moment = { at: since(time), ...happening };
    happened(moment, show);
    show = fold(show, moment);
  };
  const verdict = (): Verdict => compare(azure.imds.issued, read, azure.logAnalytics.rows().map(heldRow));

  /** What nobody tells is looked at. */
  const told = { issued: 0, rows: 0 };
  const look = (): void => {
    const { issued } = azure.imds;
    for (const { at, eventId, eventType, step, incarnation } of issued.slice(told.issued)) {
      tell({ kind: 'azure', eventId, eventType, step, incarnation }, at.getTime());
    }
    const rows = azure.logAnalytics.rows();
    for (const row of rows.slice(told.rows)) tell({ kind: 'table', row: heldRow(row) });
    told.issued = issued.length;
    told.rows = rows.length;
    const isDown = show.outages.some(({ until }) => until === null);
    if (!isDown && show.waiting === 0) return;
    const records = waitingIn(stateDirectory);
    if (records !== show.waiting) tell({ kind: 'waiting', records });
  };
  const watch = async (): Promise<void> => {
    for (;;) {
      look();
      tick(show, since(Date.now()));
      await waits.pause(tickMs);
    }
  };
  const play = async (): Promise<void> => {
    const wasRead = (eventType: string, phase: string): boolean =>
      read.some((record) => record.eventType === eventType && record.phase === phase);
    await playScript({ ...options, ...waits, tell, wasRead, waiting: () => show.waiting });
    await waits.patiently(() => verdict().complaints.length === 0);
  };

  const reader = await readBack(azure.eventHubs, (record) => {
    read.push(record);
    const notBefore = record.notBefore === null ? null : since(Date.parse(record.notBefore));
    tell({ kind: 'hub', record, notBefore });
  });
  try {
    await Promise.race([play(), watch(), waits.over()]);
    look();
    tick(show, since(Date.now()));
  } finally {
    waits.end();
    await Promise.race([reader.close(), systemClock.sleep(2000)]);
  }
  return stop.aborted ? null : { verdict: verdict(), show };
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

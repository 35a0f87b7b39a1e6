import { Failure } from '../../cli/exit-codes.ts';
import { systemClock } from '../../clock.ts';
import type { LifecycleRecord } from '../../lifecycle/record.ts';
import { readOutbox } from '../../outbox/reader.ts';
import { columnOf } from '../../sinks/log-analytics/encode.ts';
import type { AzureSimulator, EventHubsSimulator } from '../index.ts';
import { fold, type Happening, type Moment, type SentRecord, type Show } from './model.ts';
import { compare, type Verdict } from './verdict.ts';

export interface PerformOptions {
  readonly azure: AzureSimulator;
  /** The show before anything happened. */
  readonly beginning: Show;
  /** Of the bridge whose pending records are shown; absent for a fleet. */
  readonly stateDirectory?: string;
  /** Ends the show, with a {@link Failure} if that is its reason. */
  readonly stop: AbortSignal;
  /** Called with each moment as it happens, and with the show before it. */
  readonly onMoment: (moment: Moment, before: Show) => void;
  /** Ten times a second; `now` as seconds since the show began. */
  readonly onTick: (show: Show, now: number) => void;
  /** For each thing that is waited for, and for what has not arrived at the end. */
  readonly timeoutMs: number;
  /** Resolves when everything has been played. */
  readonly play: (scene: Scene) => Promise<void>;
}

/** What a script works with. */
export interface Scene extends Waits {
  readonly azure: AzureSimulator;
  readonly show: () => Show;
  readonly report: (happening: Happening) => void;
}

const tickMs = 100;
/** When nothing has arrived for so long, a VM that has not reported a step never will. */
const quietMs = 5000;

/**
 * Performs a show until everything was played and has arrived, or the time-out has passed. @returns null: it was stopped.
 * @throws a {@link Failure} when it cannot continue.
 */
export async function perform(options: PerformOptions): Promise<{ verdict: Verdict; show: Show } | null> {
  const { azure, beginning, stateDirectory, stop, onMoment, onTick, timeoutMs, play } = options;
  const { imds, logAnalytics } = azure;
  const waits = createWaits(stop, timeoutMs);
  const began = Date.now();
  const read: LifecycleRecord[] = [];
  const reported = { issued: 0, rows: 0, arrivedAt: began };
  let show = beginning;

  const since = (time: number): number => (time - began) / 1000;
  const report = (happening: Happening, time = Date.now()): void => {
    const moment = { at: since(time), ...happening };
    onMoment(moment, show);
    show = fold(show, moment);
  };
  const verdict = (): Verdict => compare(imds.issued, read, logAnalytics.rows().map(recordOf));
  const observe = (): void => {
    const polling = Object.keys(imds.polls).length;
    if (polling > show.polling) report({ kind: 'polling', vms: polling });
    for (const { at, ...step } of imds.issued.slice(reported.issued)) report({ kind: 'azure', ...step }, at.getTime());
    reported.issued = imds.issued.length;
    const rows = logAnalytics.rows();
    for (const row of rows.slice(reported.rows)) report({ kind: 'table', row: recordOf(row) });
    if (rows.length > reported.rows) reported.arrivedAt = Date.now();
    reported.rows = rows.length;
    const isDown = show.outages.some(({ until }) => until === null);
    if (stateDirectory === undefined || (!isDown && show.pending === 0)) return;
    const records = pendingIn(stateDirectory);
    if (records !== show.pending) report({ kind: 'pending', records });
  };
  const tick = (): void => {
    observe();
    onTick(show, since(Date.now()));
  };
  const watch = async (): Promise<void> => {
    for (;;) {
      tick();
      await waits.pause(tickMs);
    }
  };
  const isOver = (): boolean => {
    const { differences, events } = verdict();
    const isComplete = events.every(({ complete, affected }) => complete === affected);
    return differences.length === 0 && (isComplete || Date.now() - reported.arrivedAt > quietMs);
  };

  const reader = await readBack(azure.eventHubs, (record) => {
    read.push(record);
    reported.arrivedAt = Date.now();
    report({ kind: 'hub', record, notBefore: record.notBefore === null ? null : since(Date.parse(record.notBefore)) });
  });
  try {
    const played = play({ ...waits, azure, show: () => show, report }).then(() => waits.until(isOver));
    await Promise.race([played, watch(), waits.over()]);
    tick();
  } finally {
    waits.end();
    await Promise.race([reader.close(), systemClock.sleep(2000)]);
  }
  return stop.aborted ? null : { verdict: verdict(), show };
}

/** A row as the record that it was made of. */
const recordOf = (row: Readonly<Record<string, unknown>>): SentRecord =>
  Object.fromEntries(Object.entries(columnOf).map(([field, column]) => [field, row[column]])) as unknown as SentRecord;

/** Records pending for the event hub; 0 while the outbox cannot be read. */
function pendingIn(stateDirectory: string): number {
  try {
    const sinks = readOutbox(stateDirectory)?.sinks ?? [];
    return sinks.find(({ name }) => name === 'event-hubs')?.counters.pending ?? 0;
  } catch {
    return 0;
  }
}

/** Reads the event hub from its beginning, as any subscriber does, copies included. */
async function readBack(
  { connectionString, eventHubName }: Pick<EventHubsSimulator, 'connectionString' | 'eventHubName'>,
  onRecord: (record: LifecycleRecord) => void,
): Promise<{ close(): Promise<void> }> {
  const { EventHubConsumerClient, earliestEventPosition } = await import('@azure/event-hubs');
  // Reconnects after an outage of the hub within half a second instead of the usual 30.
  const retryOptions = { maxRetries: 1000, retryDelayInMs: 500, maxRetryDelayInMs: 500, timeoutInMs: 3000 };
  const client = new EventHubConsumerClient('$Default', connectionString, eventHubName, { retryOptions });
  client.subscribe(
    {
      processEvents: async (events) => {
        for (const { body } of events) onRecord(body as LifecycleRecord);
      },
      // What was not read is missing in the verdict.
      processError: async () => {},
    },
    { startPosition: earliestEventPosition, maxWaitTimeInSeconds: 1 },
  );
  return { close: () => client.close() };
}

/** Waits of a show. After its end no wait resolves, so that its script stops where it is. */
export interface Waits {
  /** Aborted at the end of the show. */
  readonly signal: AbortSignal;
  pause(ms: number): Promise<void>;
  /** Resolves when `holds` does; false: it did not within the time. */
  until(holds: () => boolean): Promise<boolean>;
  /** The same, but ends the show at the time-out. */
  need(what: string, holds: () => boolean): Promise<void>;
  /** Resolves at the end of the show; rejects when it ended with a {@link Failure}. */
  over(): Promise<void>;
  end(): void;
}

const pollMs = 50;

/** `stop` ends the show, with a {@link Failure} if that is its reason. */
export function createWaits(stop: AbortSignal, timeoutMs: number): Waits {
  const ending = new AbortController();
  const signal = AbortSignal.any([stop, ending.signal]);

  const pause = async (ms: number): Promise<void> => {
    await systemClock.sleep(ms, signal);
    if (signal.aborted) await new Promise(() => {});
  };
  const until = async (holds: () => boolean): Promise<boolean> => {
    const deadline = performance.now() + timeoutMs;
    while (!holds()) {
      if (performance.now() > deadline) return false;
      await pause(pollMs);
    }
    return true;
  };
  return {
    signal,
    pause,
    until,
    async need(what, holds) {
      if (await until(holds)) return;
      ending.abort(
        new Failure('unexpected', `The demo waited ${timeoutMs / 1000} s for ${what}, which did not happen.`),
      );
      await pause(0);
    },
    over: () =>
      new Promise((resolve, reject) => {
        const end = (): void => (signal.reason instanceof Failure ? reject(signal.reason) : resolve());
        if (signal.aborted) end();
        else signal.addEventListener('abort', end, { once: true });
      }),
    end: () => ending.abort(),
  };
}

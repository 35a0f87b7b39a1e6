import { systemClock } from '../../clock.ts';
import type { LifecycleRecord } from '../../lifecycle/record.ts';
import type { AzureSimulator } from '../index.ts';
import { readBack } from './read-back.ts';
import { createWaits, type Waits } from './waits.ts';

/** Who watches a show, and how long it may last. */
export interface Audience<Show, Happening> {
  /** Ends the show, with a failure if that is its reason. */
  readonly stop: AbortSignal;
  /** Told of each moment as it happens, with the show as it was before. */
  readonly happened: (moment: At<Happening>, before: Show) => void;
  /** Ten times a second; `now` as seconds since the show began. */
  readonly tick: (show: Show, now: number) => void;
  /** How long one thing may be waited for, and what has not arrived at the end. */
  readonly patienceMs?: number;
}

/** `at`: seconds since the show began. */
export type At<Happening> = { readonly at: number } & Happening;

/** What those who play may use. */
export interface Performance<Show, Happening> {
  readonly waits: Waits;
  /** Every record that came from the event hub, copies included. */
  readonly read: readonly LifecycleRecord[];
  /** The show as it is now. */
  readonly show: () => Show;
  /** `time`: when it happened, in milliseconds of the epoch; without it: now. */
  readonly tell: (happening: Happening, time?: number) => void;
  /** Seconds since the show began. */
  readonly since: (time: number) => number;
}

/** A show: how it is told, and what goes on in it. */
export interface Play<Happening> {
  /** What nobody tells is looked at: called ten times a second. */
  look(): void;
  /** A record came from the event hub. */
  received(record: LifecycleRecord): Happening;
  /** Resolves when everything was played and has arrived. */
  play(): Promise<void>;
}

const tickMs = 100;

/**
 * Plays a show before its audience until it is over or patience is. @returns the show as it ended, and what was read; null: it was stopped.
 * @throws a `Failure` when it cannot go on.
 */
export async function perform<Show, Happening>(
  azure: Pick<AzureSimulator, 'eventHubs'>,
  { stop, happened, tick, patienceMs }: Audience<Show, Happening>,
  { beginning, fold }: { readonly beginning: Show; readonly fold: (show: Show, moment: At<Happening>) => Show },
  direct: (performance: Performance<Show, Happening>) => Play<Happening>,
): Promise<{ readonly show: Show; readonly read: readonly LifecycleRecord[] } | null> {
  const waits = createWaits(stop, patienceMs);
  const began = Date.now();
  const read: LifecycleRecord[] = [];
  let show = beginning;

  const since = (time: number): number => (time - began) / 1000;
  const tell = (happening: Happening, time = Date.now()): void => {
    const moment = { at: since(time), ...happening };
    happened(moment, show);
    show = fold(show, moment);
  };
  const { look, received, play } = direct({ waits, read, show: () => show, tell, since });
  const lookAndTick = (): void => {
    look();
    tick(show, since(Date.now()));
  };
  const watch = async (): Promise<void> => {
    for (;;) {
      lookAndTick();
      await waits.pause(tickMs);
    }
  };

  const reader = await readBack(azure.eventHubs, (record) => {
    read.push(record);
    tell(received(record));
  });
  try {
    await Promise.race([play(), watch(), waits.over()]);
    lookAndTick();
  } finally {
    waits.end();
    await Promise.race([reader.close(), systemClock.sleep(2000)]);
  }
  return stop.aborted ? null : { show, read };
}

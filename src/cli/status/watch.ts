import type { Clock } from '../../clock.ts';
import { clockTime } from '../../health/moment.ts';
import type { Screen } from '../../terminal/screen.ts';
import { span } from '../../terminal/styled-text.ts';
import { Failure } from '../exit-codes.ts';
import { plain, sinkName } from '../outbox/plain.ts';
import { statusPage } from './page.ts';
import type { Status } from './status.ts';

export interface WatchOptions {
  readonly read: () => Promise<Status>;
  /** Shows a status, or why there is none now. */
  readonly show: (status: WatchedStatus) => void;
  readonly clock: Clock;
  readonly stop: AbortSignal;
}

/** A status, or why it cannot be read: the state directory may be replaced, and the service may be starting. */
export type WatchedStatus = Status | { readonly at: string; readonly failure: string };

const intervalMs = 1_000;

/** Reads the status once a second until it is stopped. @throws Failure if the first one cannot be read. */
export async function watchStatus({ read, show, clock, stop }: WatchOptions): Promise<void> {
  show(await read());
  for (;;) {
    await clock.sleep(intervalMs, stop);
    if (stop.aborted) return;
    show(await readAgain(read, clock));
  }
}

async function readAgain(read: WatchOptions['read'], clock: Clock): Promise<WatchedStatus> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { at: clock.now().toISOString(), failure: error.message };
  }
}

/** Draws each status over the one before. @param rows of the terminal. */
export function drawStatus(screen: Screen, rows: () => number): WatchOptions['show'] {
  return (status) => {
    const text = 'failure' in status ? status.failure : statusPage(status);
    const lines = text.trimEnd().split('\n');
    const room = rows() - 3;
    const shown = lines.length > room ? [...lines.slice(0, room), '…'] : lines;
    const time = `${status.at.slice(0, 19)}Z, every second; Ctrl+C ends it.`;
    screen.draw([...shown.map((line) => [span(line)]), [], [span(time, 'quiet')]]);
  };
}

/** Prints a line for each change: of the verdict, of an event, of a destination. The first status is a change as well. */
export function printChanges(print: (text: string) => void): WatchOptions['show'] {
  let before: ReadonlyMap<string, string> = new Map();
  return (status) => {
    const after = factsIn(status);
    for (const [key, text] of after)
      if (steady(before.get(key)) !== steady(text)) print(`${status.at.slice(0, 19)}Z  ${text}\n`);
    for (const [key, text] of before)
      if (!after.has(key) && key.startsWith('event')) print(`${status.at.slice(0, 19)}Z  No longer listed: ${text}\n`);
    before = after;
  };
}

/** Prints each status that {@link printChanges} would print a line for, as one line of JSON. */
export function printJsonChanges(print: (text: string) => void, version: number): WatchOptions['show'] {
  let hasChanged = false;
  const noteChange = printChanges(() => {
    hasChanged = true;
  });
  return (status) => {
    hasChanged = false;
    noteChange(status);
    if (hasChanged) print(`${JSON.stringify({ statusVersion: version, ...status })}\n`);
  };
}

/** What is worth a line, by what it is about. */
function factsIn(status: WatchedStatus): ReadonlyMap<string, string> {
  if ('failure' in status) return new Map([['verdict', status.failure]]);
  const { verdict, events, sinks, at } = status;
  const now = new Date(at);
  return new Map([
    ['verdict', verdict.message],
    ...verdict.problems.slice(1).map((problem) => [`problem ${steady(problem)}`, problem] as const),
    ...events.map(({ eventId, eventType, phase, notBefore, affectsThisVm }) => {
      const when = notBefore === null ? '' : `, not before ${clockTime(notBefore, now)}`;
      const of = affectsThisVm ? 'this VM' : 'others';
      return [
        `event ${eventId}`,
        `${plain(eventType ?? 'Event')} of ${of}: ${phase}${when} (${plain(eventId)})`,
      ] as const;
    }),
    ...sinks
      .filter(({ state }) => state !== 'not-configured')
      .map(({ name, state, deadLetters }) => {
        const dead = deadLetters === 0 ? '' : `, ${deadLetters} dead`;
        return [`sink ${name}`, `${sinkName(name)}: ${state === 'delivering' ? 'idle' : state}${dead}`] as const;
      }),
  ]);
}

/** Without durations and counts, which change every second: they are not worth a line. */
const steady = (text: string | undefined): string | undefined =>
  text?.replace(/\b\d+(\.\d+)? (s|min|h|d|records?|deliver(y|ies))\b/g, '');

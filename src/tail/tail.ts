import type { Clock } from '../clock.ts';
import { isShown, type TransitionFilter } from './filter.ts';
import type { FleetFeed } from './fleet-feed.ts';
import { plain } from './line.ts';
import { lossesOf } from './losses.ts';
import type { TailOutput } from './output.ts';
import { isCurrent, type Transition, Transitions } from './transitions.ts';

export interface TailOptions {
  readonly feed: FleetFeed;
  readonly filter: TransitionFilter;
  /** See {@link Transitions}. */
  readonly onlyOwn: boolean;
  /** Of what the hub held at the start, print what happened from then on. Null: all steps of events that are open now. */
  readonly from: Date | null;
  readonly output: TailOutput;
  readonly clock: Clock;
  /** Ends it. */
  readonly stop: AbortSignal;
}

const refreshMs = 1_000;
/** Between two looks at what is missing, in refreshes. */
const lookEvery = 10;

/**
 * Prints each transition once, those of the history in the order in which they happened, until it is stopped.
 * @throws HubRefused if a partition is refused for good that has never been read.
 */
export async function tail({ feed, filter, onlyOwn, from, output, clock, stop }: TailOptions): Promise<void> {
  const refused = new AbortController();
  const isOver = AbortSignal.any([stop, refused.signal]);
  const transitions = new Transitions(feed.view, { onlyOwn });
  const print = (news: readonly Transition[]): void => {
    output.transitions(news.filter((transition) => isShown(filter, transition)));
    // Also for news that is filtered out: the time of an event that is shown may have changed.
    if (news.length > 0) output.refresh(clock.now());
  };
  /** Many partitions fail for one reason. */
  let lastNotice: string | null = null;
  const unsubscribe = feed.subscribe({
    onRecord(record, changed) {
      transitions.note(record);
      // A record without a change may be the first that a VM sent which the event affects.
      const ids = onlyOwn ? [record.eventId.toLowerCase(), ...changed] : changed;
      if (feed.isHistoryRead) print(transitions.news([...new Set(ids)], clock.now()));
    },
    onHistoryRead: () => printHistory(),
    onRefused: () => refused.abort(),
    onProblems([problem]) {
      if (feed.refusal !== null) return;
      const notice = problem === undefined ? 'Reading all partitions again.' : noticeOf(problem);
      if (notice !== lastNotice) output.notice(notice);
      lastNotice = notice;
    },
    onInvalid: (problem) => output.notice(`Skipped a message: ${plain(problem)}`),
  });
  function printHistory(): void {
    const now = clock.now();
    const isWanted = ({ at, event }: Transition): boolean => (from === null ? isCurrent(event, now) : at >= from);
    const news = transitions.allNews(now).filter(isWanted);
    print(news);
    // History of an empty hub is read before a partition is: it may still be refused.
    if (feed.recordCount > 0 && !news.some((one) => isShown(filter, one))) output.nothingYet(feed.recordCount);
  }
  if (feed.refusal !== null) refused.abort();
  if (feed.isHistoryRead) printHistory();
  try {
    await refresh();
    if (feed.refusal !== null) throw feed.refusal;
  } finally {
    unsubscribe();
    output.close();
  }

  async function refresh(): Promise<void> {
    let losses: string | null = null;
    for (let count = 0; !isOver.aborted; count += 1) {
      const now = clock.now();
      if (feed.isHistoryRead) print(transitions.allNews(now));
      if (feed.isHistoryRead && count % lookEvery === 0) {
        const found = lossesOf(feed.view.streams(), now);
        if (found !== losses) output.losses(found);
        losses = found;
      }
      output.refresh(now);
      await clock.sleep(refreshMs, isOver);
    }
  }
}

export const noticeOf = ({ message, remedy }: { readonly message: string; readonly remedy: string | null }): string =>
  remedy === null ? plain(message) : `${plain(message)}\n\n  ${remedy}\n`;

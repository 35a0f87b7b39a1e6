import type { View } from './endpoint.ts';
import type { Account, Recorded } from './observer.ts';
import type { Entry, PlatformEvent } from './world.ts';
import { clockErrorMs, epochMs, names, statusIs } from './world.ts';

/** Valid observations of one document without a gap, by one process. */
export interface Stretch {
  readonly view: View;
  readonly stream: number;
  readonly boot: number;
  readonly run: Account['observations'][number]['run'];
  readonly fromMs: number;
  readonly toMs: number;
  /** When the first of these answers was made. */
  readonly servedMs: number;
  /** The valid observation before it, in the same stream. */
  readonly previousMs: number | null;
  /** Between the answers of that observation and of this one. */
  readonly missedMs: number;
  /** Polls were missed before it for longer than a slow answer takes, or the machine was off. */
  readonly isAfterGap: boolean;
  /** The list may not be whole yet: the stream, or the counter of the endpoint, began less than five minutes before. */
  readonly isInWindow: boolean;
}

const gapMs = 10_000;
const windowMs = 300_000;
/** Not asked for so long, the service turns itself off; its list may be empty when it is back. */
const offAfterMs = 24 * 3_600_000;
/** Between two polls in a quiet time; see `polls.ts`. */
const playedEveryMs = 9000;

/** All valid observations of a VM, with those of the same document joined. */
export function stretchesOf({ observations, views }: Account): readonly Stretch[] {
  const stretches: { -readonly [Key in keyof Stretch]: Stretch[Key] }[] = [];
  let [windowEndsMs, lastServedMs] = [0, 0];
  for (const { view: index, atMs, servedMs, run, stream } of observations) {
    if (index === null) continue;
    const view = views[index] as View;
    const last = stretches.at(-1);
    const previous = last?.stream === stream ? last : undefined;
    // An answer that was long under way is as old as its `Date`.
    const missedMs = Math.max(atMs - (previous?.toMs ?? 0), servedMs - lastServedMs);
    lastServedMs = servedMs;
    const isAfterGap = previous !== undefined && (missedMs > gapMs || previous.boot !== run.boot);
    const isAnew = !previous || view.incarnation < previous.view.incarnation || atMs - previous.toMs > offAfterMs;
    if (isAnew) windowEndsMs = atMs + windowMs;
    const isInWindow = atMs <= windowEndsMs;
    const isSame = previous?.view === view && previous.run === run && !isAfterGap && previous.isInWindow === isInWindow;
    if (isSame) previous.toMs = atMs;
    else {
      const previousMs = previous?.toMs ?? null;
      stretches.push({
        view,
        stream,
        boot: run.boot,
        run,
        fromMs: atMs,
        toMs: atMs,
        servedMs,
        previousMs,
        missedMs,
        isAfterGap,
        isInWindow,
      });
    }
  }
  return stretches;
}

/** Less than five minutes before, the endpoint restarted unnoticed: its counter was no lower than before. */
export function isResetUnrecognized({ vm, observations, views }: Account, atMs: number): boolean {
  const incarnationOf = (observation: Account['observations'][number] | undefined): number | null =>
    observation?.view == null ? null : ((views[observation.view] as View).incarnation ?? null);
  return vm.endpoint.resets.some((reset) => {
    if (reset.atMs > atMs || atMs > reset.atMs + windowMs) return false;
    const valid = observations.filter(({ view }) => view !== null);
    const before = incarnationOf(valid.findLast((observation) => observation.atMs < reset.atMs));
    const after = incarnationOf(valid.find((observation) => observation.atMs >= reset.atMs));
    return before !== null && after !== null && after >= before;
  });
}

export type StepKind = 'appear' | 'start' | 'update' | 'back' | 'odd-status' | 'said' | 'return';

/** A change that the documents showed to this stream. */
export interface Step {
  readonly kind: StepKind;
  readonly atMs: number;
  readonly stretch: Stretch;
  readonly entry: Entry;
  /** The last one that was listed. */
  readonly notBeforeMs: number | null;
  readonly isStarted: boolean;
}

/** An event that a valid document did not list any more. */
export interface Departure {
  readonly before: Stretch;
  readonly after: Stretch;
  readonly entry: Entry;
  /** The last one that was listed. */
  readonly notBeforeMs: number | null;
  /** The observation that showed it first. */
  readonly firstMs: number;
  /** Ever seen as Started since it appeared. */
  readonly wasStarted: boolean;
  readonly isOdd: boolean;
  /** First observation that lists it again. */
  readonly backMs: number | null;
  /** Last valid observation of the stream without it. */
  readonly watchedUntilMs: number;
  /** By then it has to be said. */
  readonly dueMs: number;
  readonly record: Recorded | null;
}

/** What one stream was shown of one event, while it was in scope. */
export interface ObservedLifecycle {
  readonly steps: readonly Step[];
  readonly departures: readonly Departure[];
}

export const isKnown = (entry: Entry): boolean =>
  ['Scheduled', 'Started', 'Completed', 'Canceled'].some((status) => statusIs(entry, status));
const isStated = (entry: Entry): boolean => statusIs(entry, 'Completed') || statusIs(entry, 'Canceled');

/** What counts as another content, of what this version of the interface shows. */
function contentOf(entry: Entry, notBeforeMs: number | null, apiVersion: string): string {
  const duration = apiVersion >= '2020-07-01' ? entry.durationSeconds : null;
  return JSON.stringify([entry.type, [...entry.resources].sort(), duration, notBeforeMs]);
}

export const isEnd = ({ record }: Recorded): boolean => ['Completed', 'Canceled', 'Ended'].includes(record.phase);

interface Held {
  readonly entry: Entry;
  readonly notBeforeMs: number | null;
  readonly isStarted: boolean;
  readonly isStated: boolean;
  readonly isOdd: boolean;
}

/** Works out from the documents of one stream, read in order, which steps an observer could see. */
export function observeLifecycle(
  event: PlatformEvent,
  account: Account,
  {
    stretches,
    records,
    publishesAll,
  }: { stretches: readonly Stretch[]; records: readonly Recorded[]; publishesAll: boolean },
): ObservedLifecycle {
  const { vm } = account;
  const { apiVersion } = vm.endpoint;
  const ends = records.filter(isEnd);
  const steps: Step[] = [];
  const departures: Departure[] = [];
  let held = null as Held | null;
  let isInScope = publishesAll;
  let firstMs = 0;
  let absentSince: { readonly before: Stretch; readonly after: Stretch } | null = null;
  let lastListed: Stretch | null = null;
  /** An end that was decided when the observer was known, on documents from before, is said with their time. */
  const statedMs = ({ record, atMs, shownMs }: Recorded): number => {
    const observedMs = Date.parse(record.observedAt) - epochMs;
    const { clockOffsetSeconds: offset } = record;
    const trueMs = offset === null ? observedMs - clockErrorMs(vm, atMs) : observedMs + 1000 * offset;
    // The offset has whole seconds.
    return shownMs === null && trueMs < vm.identityMs ? trueMs + 1000 : atMs;
  };
  const depart = (backMs: number | null, watchedUntilMs: number): Recorded | null => {
    if (!(absentSince && held && isInScope) || held.isStated) return null;
    const fromMs = absentSince.after.fromMs;
    const record = ends.find((end) => statedMs(end) >= fromMs && (backMs === null || statedMs(end) < backMs)) ?? null;
    const dueMs = dueOf(absentSince, stretches, vm.identityMs);
    const { entry, notBeforeMs, isStarted: wasStarted, isOdd } = held;
    departures.push({
      ...absentSince,
      entry,
      notBeforeMs,
      firstMs,
      wasStarted,
      isOdd,
      backMs,
      watchedUntilMs,
      dueMs,
      record,
    });
    return record;
  };
  for (const stretch of stretches) {
    const entry = stretch.view.entries.get(event.id);
    const atMs = stretch.fromMs;
    if (!entry) {
      if (lastListed && !absentSince) absentSince = { before: lastListed, after: stretch };
      continue;
    }
    const wasEnded: boolean =
      absentSince !== null && (depart(atMs, stretch.previousMs ?? atMs) !== null || (held?.isStated ?? false));
    absentSince = null;
    lastListed = stretch;
    const before = held as Held | null;
    const isBlank = statusIs(entry, 'Started') || entry.notBeforeMs === null;
    const notBeforeMs: number | null = isBlank ? (before?.notBeforeMs ?? null) : entry.notBeforeMs;
    const isFirst: boolean = before === null || wasEnded;
    if (isFirst) firstMs = atMs;
    const isStarted: boolean = statusIs(entry, 'Started') || (!isFirst && (before?.isStarted ?? false));
    const isOdd: boolean = !isKnown(entry);
    held = { entry, notBeforeMs, isStarted, isStated: isStated(entry), isOdd };
    const isOurs = names(entry.resources, vm.name);
    const joins = isOurs && before !== null && !wasEnded && !names(before.entry.resources, vm.name);
    const kind = isFirst || !before ? firstKind(held, wasEnded) : kindOf(before, held, apiVersion);
    const wasInScope = isInScope;
    isInScope ||= isOurs;
    if (!isInScope) continue;
    const shown = !wasInScope && joins ? firstKind(held, false) : kind;
    if (shown !== null) steps.push({ kind: shown, atMs, stretch, entry, notBeforeMs, isStarted });
  }
  depart(null, stretches.at(-1)?.toMs ?? 0);
  return { steps, departures };
}

const firstKind = (now: Held, wasEnded: boolean): StepKind | null => {
  if (now.isStated) return wasEnded ? null : 'said';
  return wasEnded ? 'return' : 'appear';
};

function kindOf(before: Held, now: Held, apiVersion: string): StepKind | null {
  if (now.isStated) return before.isStated ? null : 'said';
  const wasStarted = statusIs(before.entry, 'Started');
  if (statusIs(now.entry, 'Started') && !wasStarted && (!before.isStarted || !before.isOdd)) return 'start';
  if (statusIs(now.entry, 'Scheduled') && wasStarted) return 'back';
  if (now.isOdd && !statusIs(before.entry, now.entry.status)) return 'odd-status';
  const isChanged =
    contentOf(before.entry, before.notBeforeMs, apiVersion) !== contentOf(now.entry, now.notBeforeMs, apiVersion);
  return isChanged ? 'update' : null;
}

/** One more document or three polls settle an absence; a window or an unreadable entry is waited out first. */
function dueOf({ after }: { readonly after: Stretch }, stretches: readonly Stretch[], identityMs: number): number {
  const plainMs = 6000;
  const unreadableMs = 15 * 60_000;
  const windowEndsMs = after.fromMs + windowMs + playedEveryMs + plainMs;
  let dueMs = Math.max(after.fromMs, identityMs) + plainMs;
  for (const { view, fromMs, toMs, previousMs, isInWindow } of stretches) {
    if (toMs < after.fromMs) continue;
    // What is due between two observations is reported at the next one.
    if (previousMs !== null && previousMs < dueMs && dueMs <= fromMs) dueMs = fromMs + plainMs;
    if (fromMs > dueMs) break;
    // A window that opens before it is decided is waited out from the first absence.
    if (isInWindow) dueMs = Math.max(dueMs, windowEndsMs);
    if (view.hasUnreadable)
      dueMs = Math.max(dueMs, Math.min(toMs, fromMs + unreadableMs) + windowMs + playedEveryMs + plainMs);
  }
  return dueMs;
}

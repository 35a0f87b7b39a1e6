import { isAmbiguous } from './ambiguity.ts';
import { lastEnd, restarts } from './judge-ends.ts';
import { say, seconds } from './judge-steps.ts';
import type { Finding, Kind } from './kinds.ts';
import { isResetUnrecognized, type ObservedLifecycle, type Step } from './observed-lifecycle.ts';
import type { Account, Recorded } from './observer.ts';
import {
  clockErrorMs,
  contains,
  entryAt,
  leftForGoodMs,
  names,
  overlaps,
  type PlatformEvent,
  type Span,
  statusIs,
  type Vm,
} from './world.ts';

/** Two polls, and the whole seconds of `Date` and notBefore. */
const twoPollsMs = 3500;
const noGapMs = 10_500;

type Add = (kind: Kind, atMs: number, text: string) => void;

/** Figures of one stream about one event. */
export function judgeFigures(
  event: PlatformEvent,
  account: Account,
  {
    lifecycle,
    records,
    others,
  }: { lifecycle: ObservedLifecycle; records: readonly Recorded[]; others: readonly PlatformEvent[] },
): Finding[] {
  const findings: Finding[] = [];
  const add: Add = (kind, atMs, text) => {
    findings.push({ kind, event: event.id, vm: account.vm.name, atMs, text });
  };
  const begins = lifecycle.steps.filter(({ kind }) => kind === 'appear' || kind === 'return');
  const [first] = begins;
  // What a second beginning measures is judged by the worlds in which there is one only.
  if (!first || begins.length > 1) return findings;
  judgeBeginning(event, account, { first, records, add });
  judgeNotice(event, account, { first, lifecycle, records, add });
  const end = lastEnd(records);
  if (!end) return findings;
  judgeStarted(event, account, { lifecycle, end, add });
  const span = { fromMs: first.atMs, toMs: end.atMs };
  judgePauses(event, account, { span, lifecycle, end, add, others });
  judgeOutages(event, account, { span, first, lifecycle, end, add, others });
  return findings;
}

/** Since when Azure had listed it for this VM without a break. */
function listedSince(event: PlatformEvent, vm: string, atMs: number, isWitness: boolean): number {
  let sinceMs = atMs;
  let wasListed = false;
  for (const { atMs: changeMs, entry } of event.listings) {
    if (changeMs > atMs) break;
    const isListed = entry !== null && (isWitness || names(entry.resources, vm));
    if (isListed && !wasListed) sinceMs = changeMs;
    wasListed = isListed;
  }
  return sinceMs;
}

interface Beginning {
  readonly first: Step;
  readonly records: readonly Recorded[];
  readonly add: Add;
}

const unknownBeginnings = new Set(['present-at-first-look', 'became-affected', 'reappeared']);

function judgeBeginning(event: PlatformEvent, account: Account, { first, records, add }: Beginning): void {
  const [record] = records;
  if (!record || record.record.evidence.some((word) => unknownBeginnings.has(word))) return;
  const { vm } = account;
  const sinceMs = listedSince(event, vm.name, first.stretch.view.atMs, !names(first.entry.resources, vm.name));
  const listedMs = first.stretch.servedMs - sinceMs;
  if (listedMs > noGapMs + twoPollsMs) {
    const wasMissing = vm.endpoint.mistakes.some(
      (mistake) => mistake.eventId === event.id && overlaps(mistake, { fromMs: sinceMs, toMs: first.atMs }),
    );
    const known = wasMissing ? 'absent-by-mistake' : 'beginning-invented';
    add(
      isResetUnrecognized(account, first.atMs) ? 'reset-not-recognized' : known,
      record.atMs,
      `${say(record)}: listed for ${seconds(listedMs)} by then`,
    );
  }
}

/** How much a slow answer leaves open about the offset of the clock. */
const slowMs = ({ vm }: Account, atMs: number): number =>
  Math.max(
    0,
    ...vm.endpoint.slow.map((span) => (overlaps(span, { fromMs: atMs - 15_000, toMs: atMs + 1 }) ? span.answerMs : 0)),
  );

function judgeNotice(
  event: PlatformEvent,
  account: Account,
  { first, lifecycle, records, add }: Beginning & { readonly lifecycle: ObservedLifecycle },
): void {
  if (event.startedMs === null || event.outcome !== 'completed') return;
  const { vm } = account;
  const ours = event.impacts.filter((impact) => impact.vm === vm.name).map(({ fromMs }) => fromMs);
  const beganMs = Math.min(event.startedMs, ...ours);
  const trueMs = Math.max(0, beganMs - first.atMs);
  const start = lifecycle.steps.find(({ kind }) => kind === 'start');
  const shownMs = first.isStarted ? first.atMs : (start?.atMs ?? lifecycle.departures.at(-1)?.after.fromMs ?? 0);
  const noiseMs = twoPollsMs + slowMs(account, first.atMs) + slowMs(account, shownMs);
  const judged = records.find(
    ({ shownMs: servedMs, record }) => servedMs !== null && servedMs >= beganMs && record.noticeSeconds !== null,
  );
  if (judged) {
    const statedMs = 1000 * (judged.record.noticeSeconds ?? 0);
    const overMs = statedMs - trueMs;
    // When its start was not observed, a measured pause shows when the impact came, or else the poll after it.
    const pause = vm.pauses.find(({ cause, fromMs }) => cause === event.id && fromMs < shownMs);
    const isUntilPause = pause !== undefined && statedMs - (pause.fromMs - first.atMs) <= noiseMs;
    const measuredMs =
      account.observations.find(({ atMs }) => pause !== undefined && atMs >= pause.toMs)?.atMs ?? shownMs;
    const lagMs = Math.max(0, Math.min(shownMs, measuredMs) - beganMs);
    const text = `${judged.record.phase}: ${judged.record.noticeSeconds}, true ${seconds(trueMs)}`;
    const isOutageOurs = vm.outages.some(({ cause }) => cause === event.id);
    if (overMs > noiseMs && judged.record.observedOutageSeconds !== null && !isOutageOurs) {
      add('outage-unexplained', judged.atMs, text);
    } else if (overMs > noiseMs && !isUntilPause) {
      add(
        lagMs <= noGapMs + (pause ? pause.toMs - pause.fromMs : 0) && overMs <= lagMs + noiseMs
          ? 'notice-over-missed-polls'
          : 'notice-over',
        judged.atMs,
        text,
      );
    }
  }
  const isClean =
    start !== undefined &&
    !wasKilledBefore(account, start) &&
    !wasKilledBefore(account, first) &&
    start.stretch.previousMs !== null &&
    !start.stretch.isAfterGap &&
    start.atMs - event.startedMs <= 2500 &&
    first.stretch.previousMs !== null &&
    first.atMs - first.stretch.previousMs <= 2500 &&
    !first.stretch.isInWindow &&
    !isSoonAfterBoot(account, first) &&
    !first.stretch.view.hasUnreadable &&
    names(first.entry.resources, vm.name) &&
    first.atMs - listedSince(event, vm.name, first.atMs, false) <= 2500;
  const atStart = records.find(({ record }) => record.phase === 'Started');
  if (!isClean || !atStart) return;
  const { noticeSeconds } = atStart.record;
  if (noticeSeconds === null) add('notice-silent', atStart.atMs, `null, true ${seconds(trueMs)}`);
  else if (Math.min(trueMs, (start.notBeforeMs ?? beganMs) - first.atMs) - 1000 * noticeSeconds > noiseMs + 6000) {
    add('notice-under', atStart.atMs, `${noticeSeconds}, true ${seconds(trueMs)}`);
  }
}

/** The list may be that of another host, which starts empty. */
function isSoonAfterBoot({ observations }: Account, { atMs, stretch }: Step): boolean {
  const since = observations.find(({ run }) => run.boot === stretch.boot)?.atMs ?? 0;
  return stretch.boot > 1 && atMs - since <= 62_000;
}

/** After a kill the last observation is known from storage, up to a minute before it. */
const wasKilledBefore = ({ observations }: Account, { stretch }: Step): boolean =>
  observations.some(({ run, atMs }) => atMs === stretch.previousMs && run !== stretch.run && !run.endsClean);

interface Ending {
  readonly end: Recorded;
  readonly add: Add;
}

function judgeStarted(
  event: PlatformEvent,
  account: Account,
  { lifecycle, end, add }: Ending & { readonly lifecycle: ObservedLifecycle },
): void {
  const { vm } = account;
  const { startedSeconds } = end.record;
  const leftMs = leftForGoodMs(event);
  if (startedSeconds === null || leftMs === null || event.startedMs === null) return;
  let trueMs = 0;
  event.listings.forEach(({ atMs, entry }, index) => {
    const untilMs = event.listings[index + 1]?.atMs ?? leftMs;
    if (entry !== null && statusIs(entry, 'Started')) trueMs += untilMs - atMs;
  });
  const start = lifecycle.steps.find(({ isStarted }) => isStarted);
  const shownMs = start?.atMs ?? event.startedMs;
  const after = lifecycle.departures.at(-1)?.after;
  const lag = (shownMs: number | undefined, atMs: number): number =>
    Math.min(noGapMs, Math.abs((shownMs ?? atMs) - atMs));
  const turns = lifecycle.steps.filter(({ kind, isStarted }) => isStarted && (kind === 'back' || kind === 'start'));
  const turnsMs = turns.reduce((sum, { atMs, stretch }) => sum + lag(atMs, stretch.view.atMs), 0);
  const noiseMs = twoPollsMs + turnsMs + lag(start?.atMs, event.startedMs) + lag(after?.fromMs ?? end.atMs, leftMs);
  const offMs = 1000 * startedSeconds - trueMs;
  if (Math.abs(offMs) <= noiseMs) return;
  const stood = vm.pauses.filter(
    ({ clocks, toMs, fromMs }) => clocks === 'stop' && fromMs >= shownMs && toMs <= end.atMs,
  );
  const backs = event.listings.filter(
    ({ entry, atMs }) => atMs > shownMs && entry !== null && statusIs(entry, 'Scheduled'),
  );
  const isUnseen = backs.length > lifecycle.steps.filter(({ kind }) => kind === 'back').length;
  const isStood = offMs < 0 && -offMs <= noiseMs + lengthOf(stood);
  // When no answer carries Azure's time, it is off by the time that the clocks stopped before.
  const stoodBefore = vm.pauses.filter(({ clocks, toMs }) => clocks === 'stop' && toMs <= end.atMs);
  const isOffByStood = vm.endpoint.withoutDate.length > 0 && Math.abs(offMs) <= noiseMs + lengthOf(stoodBefore);
  const isFromReset = start !== undefined && isResetUnrecognized(account, start.atMs);
  const known = isAbsentByMistake(vm, event, lifecycle)
    ? 'absent-by-mistake'
    : isStood || isOffByStood
      ? 'started-seconds-stood'
      : 'started-seconds-off';
  const kind = isFromReset ? 'reset-not-recognized' : isUnseen ? 'started-seconds-unseen' : known;
  add(kind, end.atMs, `${startedSeconds}, true ${seconds(trueMs)}`);
}

/** What was taken for its leaving was a mistake of one document. */
const isAbsentByMistake = ({ endpoint }: Vm, { id }: PlatformEvent, { departures }: ObservedLifecycle): boolean =>
  endpoint.mistakes.some(
    (mistake) => mistake.eventId === id && contains(mistake, departures.at(-1)?.after.view.atMs ?? -1),
  );

/** Whether the documents and our approval allowed an impact at this time. */
function isPossible(event: PlatformEvent, vm: string, atMs: number): boolean {
  const entry = entryAt(event, atMs - 1000) ?? entryAt(event, atMs);
  if (event.startedMs !== null && event.startedMs <= atMs + 2000) return true;
  if (event.approved?.vm === vm && event.approved.atMs <= atMs) return true;
  return entry !== null && (entry.notBeforeMs === null || entry.notBeforeMs <= atMs + 3000);
}

interface Impacts extends Ending {
  readonly span: Span;
  readonly others: readonly PlatformEvent[];
}

const lengthOf = (spans: readonly Span[]): number => spans.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
/** `Date`, by which a pause that stopped the clock is measured, has whole seconds, before it and after it. */
const pauseNoise = ({ pauses }: Vm): number => (pauses.some(({ clocks }) => clocks !== 'run') ? 2100 : 500);

function judgePauses(
  event: PlatformEvent,
  account: Account,
  { span, lifecycle, end, add, others }: Impacts & { lifecycle: ObservedLifecycle },
): void {
  const { vm, observations } = account;
  const pauseNoiseMs = pauseNoise(vm);
  const booked = end.record.observedPauseTotalMs ?? 0;
  const all = vm.pauses.filter((pause) => overlaps(pause, { fromMs: span.fromMs - 1500, toMs: span.toMs }));
  const own = all.filter(({ cause }) => cause === event.id);
  const overMs = booked - lengthOf(own);
  const text = `${booked} ms, true ${lengthOf(own)} ms of ${lengthOf(all)} ms`;
  if (overMs > pauseNoiseMs && !isAmbiguous(end.record)) {
    const stalls = all.filter(({ cause, toMs }) => cause === null && isPossible(event, vm.name, toMs));
    if (all.length === 0) add('pause-of-nothing', end.atMs, text);
    else if (booked > lengthOf(all) + pauseNoiseMs) add('pause-twice', end.atMs, text);
    else if (overMs <= lengthOf(stalls) + pauseNoiseMs) add('pause-stall', end.atMs, text);
    else add('pause-misbooked', end.atMs, text);
  }
  const measured = own.filter(({ toMs, fromMs, clocks }) => {
    const observation = observations.find(({ atMs }) => atMs >= toMs);
    const entry = entryAt(event, fromMs - 1000);
    const isListed = entry !== null && statusIs(entry, 'Started');
    const isShown = isListed && lifecycle.steps.some(({ isStarted, atMs }) => isStarted && atMs <= fromMs);
    const isOnly = !others.some((other) => isPossible(other, vm.name, toMs) && entryAt(other, fromMs - 1000) !== null);
    return clocks === 'run' && observation !== undefined && observation.pauseMs >= 1000 && isShown && isOnly;
  });
  if (lengthOf(measured) - booked > pauseNoiseMs) add('pause-silent', end.atMs, text);
}

function judgeOutages(
  event: PlatformEvent,
  account: Account,
  { span, first, lifecycle, end, add, others }: Impacts & { first: Step; lifecycle: ObservedLifecycle },
): void {
  const { vm, observations, views } = account;
  const { stream } = end;
  const all = vm.outages.filter((outage) => overlaps(outage, { fromMs: span.fromMs - 400_000, toMs: span.toMs }));
  const own = all.filter(({ cause }) => cause === event.id);
  const booked = end.record.observedOutageSeconds;
  const [only] = own;
  if (booked !== null && !only) {
    if (isAmbiguous(end.record)) return;
    const wasShown = (cause: string | null): boolean =>
      observations.some(({ view, atMs }) => view !== null && atMs <= end.atMs && views[view]?.entries.has(cause ?? ''));
    const isPossibleHere = ({ toMs }: Span): boolean => {
      const observedMs = observations.find(({ atMs, view }) => view !== null && atMs >= toMs)?.atMs ?? toMs;
      const notBeforeMs = lifecycle.steps.at(-1)?.notBeforeMs ?? null;
      return first.isStarted || isPossible(event, vm.name, toMs) || (notBeforeMs !== null && notBeforeMs <= observedMs);
    };
    const unexplained = all.filter((outage) => !wasShown(outage.cause) && isPossibleHere(outage));
    add(unexplained.length > 0 ? 'outage-unexplained' : 'outage-misbooked', end.atMs, `${booked}, true none`);
    return;
  }
  if (!only || all.length > 1) return;
  const before = observations.filter(({ atMs, view }) => atMs < only.fromMs && view !== null).at(-1);
  const after = observations.find(({ atMs }) => atMs > only.toMs);
  if (!before || !after || before.stream !== stream || after.stream !== stream) return;
  const trueMs = after.atMs - before.atMs;
  const text = `${booked}, true ${seconds(trueMs)}`;
  // Without Date it is unknown what happened to the clock while the machine was off.
  const isClockKnown =
    clockErrorMs(vm, before.atMs) === clockErrorMs(vm, after.atMs) ||
    !vm.endpoint.withoutDate.some((span) => contains(span, after.atMs));
  if (!isClockKnown) return;
  if (booked === null) {
    if (isAbsentByMistake(vm, event, lifecycle)) {
      add('absent-by-mistake', end.atMs, text);
      return;
    }
    // Otherwise it looks like a restart that the guest made itself.
    const isDue = lifecycle.steps.some(({ notBeforeMs }) => notBeforeMs !== null && notBeforeMs <= only.toMs);
    const isReboot = restarts.has(lifecycle.steps.at(-1)?.entry.type ?? '');
    const isReportPossible =
      lifecycle.steps.some(({ isStarted }) => isStarted) || (isReboot && (isDue || event.approved?.vm === vm.name));
    if (!isReportPossible) return;
    const stillShown = views[before.view ?? -1]?.entries;
    const isOnly = !others.some(
      (other) =>
        isPossible(other, vm.name, only.toMs) &&
        (entryAt(other, only.fromMs - 1000) !== null || stillShown?.has(other.id)),
    );
    const isShown = first.atMs <= only.fromMs || first.isStarted;
    const isReported = !isResetUnrecognized(account, first.atMs);
    if (isOnly && isShown && isReported && names(first.entry.resources, vm.name)) add('outage-silent', end.atMs, text);
    return;
  }
  // After a power cut the last observation is known from storage: 5 s old near an impact, otherwise up to a minute.
  const storedMs = before.run.endsClean ? 0 : 62_000;
  const noiseMs = twoPollsMs + slowMs(account, before.atMs) + slowMs(account, after.atMs);
  if (1000 * booked - trueMs > noiseMs + storedMs || trueMs - 1000 * booked > noiseMs)
    add('outage-off', end.atMs, text);
}

/** The total pause that one VM's last records report, next to the true one. */
export function judgePauseSum({ vm, records }: Account): Finding[] {
  const ends = new Map<string, Recorded>();
  for (const recorded of records) {
    if (['Completed', 'Canceled', 'Ended'].includes(recorded.record.phase)) ends.set(recorded.record.eventId, recorded);
  }
  const claims = [...ends.values()].filter(({ record }) => !isAmbiguous(record));
  const booked = claims.reduce((sum, { record }) => sum + (record.observedPauseTotalMs ?? 0), 0);
  const trueMs = lengthOf(vm.pauses);
  if (booked <= trueMs + pauseNoise(vm)) return [];
  const last = claims.filter(({ record }) => record.observedPauseTotalMs !== null).at(-1);
  const text = `${booked} ms over all events, true ${trueMs} ms`;
  return [{ kind: 'pause-twice', event: last?.record.eventId ?? '', vm: vm.name, atMs: last?.atMs ?? 0, text }];
}

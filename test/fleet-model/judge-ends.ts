import { say, seconds } from './judge-steps.ts';
import type { Finding, Kind } from './kinds.ts';
import { type Departure, isEnd, isResetUnrecognized, type ObservedLifecycle } from './observed-lifecycle.ts';
import type { Account, Recorded } from './observer.ts';
import {
  contains,
  entryAt,
  leftForGoodMs,
  names,
  overlaps,
  type PlatformEvent,
  statusIs,
  type World,
} from './world.ts';

/** What the documents and the machine allowed to know when an event left. */
export interface Knowledge {
  /** The whole row of Canceled: watched without a gap, one more change, far ahead of its time, not approved by us. */
  readonly isClearCancel: boolean;
  /** Started, or its time had come, or we had approved it. */
  readonly isImpactPossible: boolean;
  readonly isBootChanged: boolean;
}

const aheadMs = 60_000;
/** Polls and whole seconds of the wire. */
const noiseMs = 3000;

export function knowledgeOf(event: PlatformEvent, { vm }: Account, departure: Departure): Knowledge {
  const { before, after, notBeforeMs, wasStarted, isOdd } = departure;
  const isApproved = event.approved?.vm === vm.name && event.approved.atMs <= after.fromMs;
  const isOneMore = after.view.incarnation - before.view.incarnation === 1;
  // After a kill the last observation is known from storage, up to a minute before.
  const isGap = after.isAfterGap || (before.run !== after.run && !before.run.endsClean);
  const isAhead = notBeforeMs !== null && notBeforeMs - after.fromMs > aheadMs + noiseMs;
  const isPassed = notBeforeMs === null || notBeforeMs <= after.fromMs + noiseMs;
  return {
    isClearCancel: isAhead && isOneMore && !isGap && !isApproved && !wasStarted && !isOdd,
    isImpactPossible: wasStarted || isPassed || isApproved,
    isBootChanged: before.boot !== after.boot,
  };
}

/** Ends that were reported, too early, too late or not at all, and what they claim. */
export function judgeEnds(
  event: PlatformEvent,
  account: Account,
  { world, lifecycle }: { readonly world: World; readonly lifecycle: ObservedLifecycle },
): Finding[] {
  const { vm } = account;
  const findings: Finding[] = [];
  const add = (kind: Kind, atMs: number, text: string): void => {
    findings.push({ kind, event: event.id, vm: vm.name, atMs, text });
  };
  for (const departure of lifecycle.departures) {
    const { record, dueMs, watchedUntilMs, after } = departure;
    if (!record) {
      if (watchedUntilMs > dueMs + 10_000)
        add('end-missing', dueMs, `absent since ${seconds(after.fromMs)}, due and not said`);
      continue;
    }
    // A poll that confirms is as old as its answer.
    const waited = { fromMs: after.fromMs, toMs: record.atMs };
    const slowMs = Math.max(0, ...vm.endpoint.slow.map((span) => (overlaps(span, waited) ? span.answerMs : 0)));
    if (record.atMs > dueMs + 10_000 + slowMs)
      add('end-late', record.atMs, `absent since ${seconds(after.fromMs)}, due at ${seconds(dueMs)}`);
    const early = tooEarly(event, account, { world, departure, record });
    if (early) add(early, record.atMs, `${say(record)} while Azure lists it`);
    else for (const kind of wrongVerdicts(event, account, departure, record)) add(kind, record.atMs, say(record));
  }
  return findings;
}

/** Said while Azure still means it to be listed, though this VM has not had its share. */
function tooEarly(
  event: PlatformEvent,
  account: Account,
  { world, departure, record }: { readonly world: World; readonly departure: Departure; readonly record: Recorded },
): Kind | null {
  const isListed = (atMs: number): boolean => {
    const entry = entryAt(event, atMs);
    return entry !== null && (world.view === 'group' || names(entry.resources, vm.name));
  };
  const { after } = departure;
  const { vm } = account;
  if (!isListed(after.view.atMs) || !isListed(record.atMs)) return null;
  const hasItsShare = event.impacts.some((impact) => impact.vm === vm.name && impact.toMs <= record.atMs);
  if (hasItsShare && record.record.phase === 'Completed') return null;
  const isMistake = vm.endpoint.mistakes.some(
    (mistake) => mistake.eventId === event.id && contains(mistake, after.view.atMs),
  );
  if (isMistake) return 'ended-by-mistake';
  if (isResetUnrecognized(account, after.fromMs)) return 'reset-not-recognized';
  return after.isInWindow || after.view.isEmptyAfterReset ? 'ended-in-window' : 'ended-while-listed';
}

function wrongVerdicts(event: PlatformEvent, account: Account, departure: Departure, recorded: Recorded): Kind[] {
  const { record } = recorded;
  const { phase, evidence } = record;
  const leftMs = leftForGoodMs(event);
  const isFinal = leftMs !== null && departure.after.view.atMs >= leftMs;
  const kinds: Kind[] = [];
  const knowledge = knowledgeOf(event, account, departure);
  // What went back to Scheduled may have been canceled after that.
  const leftStarted = departure.wasStarted && statusIs(departure.entry, 'Started');
  if (phase === 'Ended' && leftStarted) kinds.push('ended-of-started');
  if (isFinal && event.outcome === 'completed' && phase === 'Canceled') kinds.push('canceled-of-completed');
  if (isFinal && event.outcome === 'canceled' && phase === 'Completed') {
    const rests =
      evidence.includes('boot-id-changed') && !restarts.has(departure.entry.type) ? ['boot-id-changed'] : [];
    const proofs = evidence.filter((word) => impactEvidence.has(word) && !rests.includes(word));
    if (evidence.includes('said-by-azure') || evidence.includes('left-after-started')) {
      kinds.push('completed-of-canceled-certain');
    } else if (knowledge.isClearCancel || !knowledge.isImpactPossible || proofs.length === 0) {
      kinds.push('completed-of-canceled-impossible');
    } else kinds.push('completed-of-canceled');
  }
  const isSteady = departure.after.toMs - departure.after.fromMs >= 4000;
  const isPlain = !departure.after.isInWindow && !departure.after.view.hasUnreadable && isSteady;
  if (isFinal && event.outcome === 'canceled' && phase === 'Ended' && knowledge.isClearCancel && isPlain) {
    kinds.push('ended-of-clear-cancel');
  }
  if (untrueEvidence(event, account, departure, recorded).length > 0) kinds.push('evidence-untrue');
  return kinds;
}

export const restarts = new Set(['Reboot', 'Redeploy', 'Preempt', 'Terminate']);
const impactEvidence = new Set(['boot-id-changed', 'physical-host-changed', 'pause-observed']);

/** Evidence that is false. Evidence that the model does not know counts as no claim. */
export function untrueEvidence(
  event: PlatformEvent,
  { vm, observations }: Account,
  departure: Departure,
  { record, atMs }: Recorded,
): string[] {
  const { before, after, notBeforeMs, wasStarted, firstMs } = departure;
  const listed = { fromMs: firstMs - 10_000, toMs: atMs + 1 };
  const isTrue: Readonly<Record<string, () => boolean>> = {
    'boot-id-changed': () =>
      observations.some(
        (observation) =>
          observation.atMs > before.toMs && observation.atMs <= atMs && observation.run.boot !== before.boot,
      ),
    'physical-host-changed': () => vm.showsHost && vm.movesMs.some((moveMs) => contains(listed, moveMs)),
    'pause-observed': () => vm.pauses.some((pause) => overlaps(pause, listed) && pause.toMs - pause.fromMs >= 900),
    'left-after-started': () => wasStarted,
    'left-before-not-before': () =>
      !wasStarted && notBeforeMs !== null && notBeforeMs - after.fromMs > aheadMs - noiseMs && !after.isAfterGap,
    // Behind an unreadable entry an absence cannot be determined.
    'observation-gap': () =>
      after.isAfterGap || after.missedMs > 9000 || before.run !== after.run || after.view.hasUnreadable,
    'not-before-passed': () => notBeforeMs !== null && notBeforeMs <= atMs + noiseMs,
    approved: () => event.approved?.vm === vm.name && event.approved.atMs <= atMs,
  };
  return record.evidence.filter((word) => isTrue[word]?.() === false);
}

/** The last end that this stream said of the event. */
export const lastEnd = (records: readonly Recorded[]): Recorded | null => records.filter(isEnd).at(-1) ?? null;

import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from './clock.ts';
import type { ApprovalAnswer } from './imds/approve.ts';
import type { Imds } from './imds/client.ts';
import type { ObserverWatch } from './imds/observer-watch.ts';
import {
  type ApprovalCircumstances,
  type ApprovalPolicy,
  byHand,
  freshMs,
  mayApprove,
  whyNotNow,
} from './lifecycle/approval.ts';
import { readApproveRequest } from './lifecycle/approval-request.ts';
import { settledBy } from './lifecycle/approval-settled.ts';
import { type ApprovalTerms, isListedTwice, termsOf, whatIsOther } from './lifecycle/approval-terms.ts';
import { hasApproved, recordApproval } from './lifecycle/approved-record.ts';
import type { ScheduledEvent, SeenDocument } from './lifecycle/scheduled-event.ts';
import type { EventMemory } from './lifecycle/state.ts';
import type { Turn } from './lifecycle/transition.ts';
import { createRateLimit, type Log } from './log.ts';
import type { ApprovalIntent, Outbox } from './outbox/outbox.ts';

/** While a file of this name is in the state directory, nothing is approved unless a person asks for it. */
export const disablingFile = 'approve.disabled';

/** What cannot be looked at counts as there: it is meant to stop something. A link to nowhere is there too. */
export function isApprovingDisabled(stateDirectory: string): boolean {
  try {
    return lstatSync(join(stateDirectory, disablingFile), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

export interface ApproverOptions {
  readonly imds: Pick<Imds, 'approve'>;
  readonly outbox: Pick<Outbox, 'state' | 'storage' | 'intend' | 'openApprovals' | 'append'>;
  readonly observer: Pick<ObserverWatch, 'known' | 'fresh' | 'onRead'>;
  /** The name of this VM is configured: it needs no confirmation by the metadata service. */
  readonly isVmNameSet?: boolean;
  readonly policy: ApprovalPolicy;
  readonly stateDirectory: string;
  readonly bridgeVersion: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Approves events: by policy what `mayApprove` allows, by hand what a person asks for. Each approval is an intent on disk, then
 * one POST, then one `Approved` record with the outcome. An intent that a process before this one left open is settled by
 * the documents, or POSTed again.
 */
export interface Approver {
  /** Looks at what a turn saw. For the poll loop: never throws, never waits. */
  consider(turn: Pick<Turn, 'seen' | 'state' | 'records'>): void;
  /** An {@link ApproveRequest}. What it names is approved only while it is what the person was shown. Never rejects. */
  approve(argument: unknown): Promise<ApproveAnswer>;
  /**
   * Approves nothing more; resolves when what is under way has its outcome, after `withinMs` at the latest. What has none
   * then stays open for the next start to settle.
   */
  close(withinMs: number): Promise<void>;
}

export interface ApproveAnswer {
  /** Azure accepted it. */
  readonly ok: boolean;
  /** For the person who asked. */
  readonly says: string;
  /** Null: nothing was sent. */
  readonly outcome: ApprovalAnswer['outcome'] | null;
}

/** The last valid document, and when it came. */
interface Sight {
  readonly document: SeenDocument;
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** A person who wanted something then may not want it any more: a service that was down for longer does not go on with it. */
const askedForMs = 5 * 60_000;

/** A VM may send five requests a second in all, and what is refused for that is not asked again: the rest waits for its turn. */
const mostAtOnce = 2;

const keyOf = ({ eventId }: { readonly eventId: string }): string => eventId.toLowerCase();

export function createApprover(options: ApproverOptions): Approver {
  const { imds, outbox, observer, policy, stateDirectory, bridgeVersion, clock, log } = options;
  const stopping = new AbortController();
  const sayOnce = createRateLimit({ clock, everyMs: 10 * 60_000 });
  const isPolicyOn = policy.userInitiated || policy.freezeUpToSeconds !== null;
  /** POSTs under way; each resolves with what became of it. */
  const underWay = new Map<string, Promise<ApprovalAnswer>>();
  /** Sent by this process: a policy sends once. */
  const posted = new Set<string>();
  /** What was known of the events being approved: they may leave, and be forgotten, before the outcome is there. */
  const remembered = new Map<string, EventMemory | undefined>();
  /** What each Scheduled event is, and since when this process has watched it being that, on a clock that nobody sets. */
  const watched = new Map<string, { readonly what: string; readonly sinceMs: number }>();
  /** The last word about why an event is not approved. */
  const told = new Map<string, string>();
  let sight: Sight | null = null;
  let documents = 0;
  let isClosing = false;
  let isNameRead = options.isVmNameSet ?? false;
  observer.onRead(() => (isNameRead = true));

  // Read every second: only where there may be any is the disk asked.
  const openApprovals = (): readonly ApprovalIntent[] => (outbox.state.approved.size > 0 ? outbox.openApprovals() : []);
  for (const intent of openApprovals()) remembered.set(keyOf(intent), outbox.state.events.get(keyOf(intent)));

  const ageMs = (): number | null =>
    sight && Math.max(clock.monotonicMs() - sight.monotonicMs, clock.now().getTime() - sight.wallMs);
  const isCertain = (): boolean => observer.known() !== null && observer.fresh();
  // With a configured vmId alone, the name may still be the stored one: on a copied disk that of another VM.
  const confirmedName = (): string | null => (isCertain() && isNameRead ? (observer.known()?.vmName ?? null) : null);
  const isFresh = (): boolean => {
    const age = ageMs();
    return age !== null && age >= 0 && age <= freshMs;
  };
  const listed = (key: string): ScheduledEvent | undefined =>
    sight?.document.events.find((event) => keyOf(event) === key);

  const termsNow = (event: ScheduledEvent): ApprovalTerms => termsOf(event, sight?.document);

  const circumstancesOf = (event: ScheduledEvent, alreadyApproved: boolean): ApprovalCircumstances => {
    const memory = outbox.state.events.get(keyOf(event));
    const sinceMs = watched.get(keyOf(event))?.sinceMs;
    return {
      policy,
      disabled: isApprovingDisabled(stateDirectory),
      vmName: confirmedName(),
      documentAgeMs: ageMs(),
      isFirstDocument: documents < 2,
      phase: memory?.open ? memory.phase : null,
      alreadyApproved,
      listedTwice: isListedTwice(sight?.document, event),
      scheduledForMs: sinceMs === undefined ? 0 : clock.monotonicMs() - sinceMs,
    };
  };

  const watch = ({ events }: SeenDocument): void => {
    const scheduled = events.filter(({ eventStatus }) => eventStatus === 'Scheduled');
    for (const event of scheduled) {
      const what = JSON.stringify(termsNow(event));
      if (watched.get(keyOf(event))?.what !== what) watched.set(keyOf(event), { what, sinceMs: clock.monotonicMs() });
    }
    const keys = new Set(scheduled.map(keyOf));
    for (const known of [watched, told, posted]) {
      for (const key of known.keys()) if (!keys.has(key)) known.delete(key);
    }
  };

  const conclude = (intent: ApprovalIntent, { outcome, reason }: ApprovalAnswer): void => {
    const known = observer.known();
    if (known === null) return;
    const { eventId, cause } = intent;
    const at = clock.now();
    const approval = { eventId, outcome, cause, at, observer: known, bridgeVersion };
    const { state, record } = recordApproval(outbox.state, { ...approval, known: remembered.get(keyOf(intent)) });
    outbox.append(state, [record], [{ eventId, outcome, at, reason }]);
    remembered.delete(keyOf(intent));
    const fields = { part: 'approve', eventId, eventType: record.eventType, cause, outcome, position: record.position };
    const what = `${record.eventType ?? 'An event'} ${eventId} (${cause})`;
    if (outcome === 'accepted') log.info(fields, `Approved: ${what}. Azure starts it for every VM that it names.`);
    else log.warn(fields, `${outcome === 'refused' ? 'Not approved' : 'Perhaps approved'}: ${what}. ${reason}`);
  };

  /** The one POST of an intent, outside of the poll loop. */
  const post = (intent: ApprovalIntent): Promise<ApprovalAnswer> => {
    const key = keyOf(intent);
    posted.add(key);
    remembered.set(key, outbox.state.events.get(key));
    const posting = (async (): Promise<ApprovalAnswer> => {
      const answer = await imds.approve([intent.eventId], stopping.signal);
      // Given up by us: the next start sees what became of it.
      if (stopping.signal.aborted && answer.outcome === 'outcome-unknown') return answer;
      conclude(intent, answer);
      return answer;
    })().finally(() => underWay.delete(key));
    posting.catch((error: unknown) => {
      log.error({ part: 'approve', eventId: intent.eventId, error }, 'An approval ended in a mistake of this program.');
    });
    underWay.set(key, posting);
    return posting;
  };

  /** Commits the intent. Null: the disk takes no writes. */
  const intend = (event: ScheduledEvent, cause: string): ApprovalIntent | null => {
    const intent = { eventId: event.eventId, cause, at: clock.now(), terms: termsNow(event) };
    if (outbox.intend(intent)) return intent;
    sayOnce('no-intent', (leftOut) => {
      const { eventId } = event;
      log.error({ part: 'approve', eventId, cause, leftOut }, `Event ${eventId} is not approved: ${noTrace()}`);
    });
    return null;
  };
  const noTrace = (): string =>
    `the disk takes no writes, and an approval must leave a trace. ${outbox.storage.trouble?.reason ?? ''}`.trim();

  /** Nothing was sent, so there is nothing to tell: the intent ends without a record. */
  const withdraw = ({ eventId }: ApprovalIntent, why: string, wasApproved: boolean): void => {
    const outcome = wasApproved ? 'outcome-unknown' : 'refused';
    const reason = `Held back before anything was sent: ${why}.`;
    outbox.append(outbox.state, [], [{ eventId, outcome, at: clock.now(), reason }]);
  };

  /** An intent that a process before this one left open. */
  const settle = (intent: ApprovalIntent, { seen, records }: Pick<Turn, 'seen' | 'records'>): void => {
    const now = (seen.kind !== 'unavailable' && seen.azureTime) || clock.now();
    const settled = settledBy(intent.eventId, { state: outbox.state, records, now });
    if (settled) conclude(intent, settled);
    const event = listed(keyOf(intent));
    if (settled || !event || posted.has(keyOf(intent))) return;
    const why = whyNotAgain(intent, event);
    if (why === null && underWay.size < mostAtOnce) void post(intent);
    else if (why !== null && intent.cause !== byHand) tell(event, why);
    else if (why !== null && documents > 1) tellPerson(event, why);
  };

  /** The event is looked at anew: nobody knows what it has become since the intent. */
  const whyNotAgain = (intent: ApprovalIntent, event: ScheduledEvent): string | null => {
    const circumstances = circumstancesOf(event, false);
    if (intent.cause !== byHand) {
      const decision = mayApprove(event, circumstances);
      if (!decision.approve) return decision.why;
      return decision.cause === intent.cause
        ? null
        : `it was begun as ${intent.cause}, and is ${decision.cause} by now`;
    }
    const hindrance = whyNotNow(event, circumstances);
    if (hindrance !== null) return hindrance;
    // Either way: a clock that was set back hides how long ago it was.
    if (!(Math.abs(clock.now().getTime() - intent.at.getTime()) <= askedForMs)) {
      return `it was asked for at ${intent.at.toISOString()}, and whoever asked may not want it any more`;
    }
    if (!intent.terms) return 'it is not known any more what the event was when it was asked for';
    const other = whatIsOther(intent.terms, termsNow(event));
    return other && `since it was asked for the event ${other}`;
  };

  const decide = (event: ScheduledEvent): void => {
    const vmId = observer.known()?.vmId ?? '';
    const decision = mayApprove(event, circumstancesOf(event, hasApproved(outbox.state, event.eventId, vmId)));
    if (!decision.approve) {
      tell(event, decision.why);
      return;
    }
    if (underWay.size >= mostAtOnce) return;
    const intent = intend(event, decision.cause);
    if (!intent) return;
    // Committing may have taken its time: what is posted was allowed a moment ago.
    const again = mayApprove(event, circumstancesOf(event, false));
    if (again.approve) void post(intent);
    else {
      withdraw(intent, again.why, false);
      tell(event, again.why);
    }
  };

  const tell = (event: ScheduledEvent, why: string): void => {
    if (event.eventStatus !== 'Scheduled' || told.get(keyOf(event)) === why) return;
    told.set(keyOf(event), why);
    const { eventId, eventType } = event;
    const isOurs = outbox.state.events.get(keyOf(event))?.affectsUs === true;
    const line = `${eventType ?? 'Event'} ${eventId} is not approved automatically: ${why}.`;
    log[isOurs ? 'info' : 'debug']({ part: 'approve', eventId, eventType }, line);
  };

  const tellPerson = (event: ScheduledEvent, why: string): void => {
    if (told.get(keyOf(event)) === why) return;
    told.set(keyOf(event), why);
    const { eventId, eventType } = event;
    log.warn(
      { part: 'approve', eventId, eventType },
      `The approval of ${eventType ?? 'event'} ${eventId} that somebody asked for is not sent again: ${why}. If it is still wanted, run: approve ${eventId}`,
    );
  };

  const consider = ({ seen, state, records }: Pick<Turn, 'seen' | 'state' | 'records'>): void => {
    if (seen.kind === 'unavailable' || isClosing) return;
    const document = seen.kind === 'document' ? seen.document : sight?.document;
    if (!document) return;
    sight = { document, wallMs: Date.parse(state.lastDocumentAt ?? ''), monotonicMs: clock.monotonicMs() };
    documents += 1;
    watch(document);
    if (observer.known() === null) return;
    for (const intent of openApprovals()) if (!underWay.has(keyOf(intent))) settle(intent, { seen, records });
    if (!isPolicyOn) return;
    for (const event of document.events) if (!outbox.state.approved.has(keyOf(event))) decide(event);
  };

  const approveByHand = async (argument: unknown): Promise<ApproveAnswer> => {
    const asked = readApproveRequest(argument);
    if (asked === null) return refusal('The request names no EventId, or is that of another version of this command.');
    const event = listed(keyOf(asked));
    const ids = (sight?.document.events ?? []).map(({ eventId }) => eventId).join(', ') || 'none';
    const other = event && asked.terms && whatIsOther(asked.terms, termsNow(event));
    const trouble = [
      { is: isClosing, says: 'The service is about to stop: ask again when it runs.' },
      { is: !isFresh(), says: tellsNothing },
      { is: !isCertain(), says: 'The metadata service has not told yet which VM this is: ask again.' },
      { is: !event, says: `No event ${asked.eventId} is listed. Listed: ${ids}.` },
      {
        is: event?.eventStatus !== 'Scheduled',
        says: `The event is ${event?.eventStatus ?? 'of no status'}: only what is Scheduled can be approved.`,
      },
      { is: Boolean(other), says: `By now the event ${other}. Look again, then ask again.` },
    ].find(({ is }) => is);
    if (trouble || !event) return refusal(trouble?.says ?? '');
    const already = underWay.get(keyOf(event));
    if (already) return answerOf(await already, event);
    const wasApproved = outbox.state.approved.has(keyOf(event));
    const intent = intend(event, byHand);
    if (!intent) return refusal(`Nothing was approved: ${noTrace()}`);
    if (isFresh()) return answerOf(await post(intent), event);
    withdraw(intent, 'the document became older than 5 s meanwhile', wasApproved);
    return refusal(tellsNothing);
  };

  return {
    consider(turn) {
      try {
        consider(turn);
      } catch (error) {
        sayOnce('failed', (leftOut) => {
          log.error(
            { part: 'approve', error, leftOut },
            'Approving ended in a mistake of this program; polling goes on.',
          );
        });
      }
    },
    async approve(argument) {
      try {
        return await approveByHand(argument);
      } catch (error) {
        return refusal(`The service failed at it: ${error instanceof Error ? error.message : String(error)}`);
      }
    },
    async close(withinMs) {
      isClosing = true;
      const settled = new AbortController();
      const all = Promise.allSettled(underWay.values()).then(() => settled.abort());
      await Promise.race([all, clock.sleep(withinMs, settled.signal)]);
      stopping.abort();
      await all;
    },
  };
}

const tellsNothing =
  'The metadata service has told nothing for 5 s, so nobody knows what is scheduled now: see `status`.';

const refusal = (says: string): ApproveAnswer => ({ ok: false, says, outcome: null });

function answerOf(
  { outcome, reason }: ApprovalAnswer,
  { eventType, resources }: Pick<ScheduledEvent, 'eventType' | 'resources'>,
): ApproveAnswer {
  if (outcome !== 'accepted') return { ok: false, says: reason, outcome };
  const whom = resources?.join(', ') || 'the VMs it names';
  return { ok: true, says: `Azure accepted it: the ${eventType ?? 'event'} starts now for ${whom}.`, outcome };
}

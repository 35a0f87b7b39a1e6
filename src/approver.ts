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
import { hasApproved, recordApproval } from './lifecycle/approved-record.ts';
import type { ScheduledEvent, SeenDocument } from './lifecycle/scheduled-event.ts';
import type { EventMemory } from './lifecycle/state.ts';
import type { Turn } from './lifecycle/transition.ts';
import { createRateLimit, type Log } from './log.ts';
import type { ApprovalIntent, Outbox } from './outbox/outbox.ts';

/** While a file of this name is in the state directory, nothing is approved unless a person asks for it. */
export const disablingFile = 'approve.disabled';

export interface ApproverOptions {
  readonly imds: Pick<Imds, 'approve'>;
  readonly outbox: Pick<Outbox, 'state' | 'storage' | 'intend' | 'openApprovals' | 'append'>;
  readonly observer: Pick<ObserverWatch, 'known' | 'fresh'>;
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
  /** The request `approve`, `{ eventId, resources? }`; with `resources` only while the event names just these VMs. Never rejects. */
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
  /** Since when this process has watched each event being Scheduled, on a clock that nobody sets. */
  const scheduledSinceMs = new Map<string, number>();
  /** The last word about why an event is not approved. */
  const told = new Map<string, string>();
  let sight: Sight | null = null;
  let documents = 0;
  let isClosing = false;

  // Read every second: only where there may be any is the disk asked.
  const openApprovals = (): readonly ApprovalIntent[] => (outbox.state.approved.size > 0 ? outbox.openApprovals() : []);
  for (const intent of openApprovals()) remembered.set(keyOf(intent), outbox.state.events.get(keyOf(intent)));

  const ageMs = (): number | null =>
    sight && Math.max(clock.monotonicMs() - sight.monotonicMs, clock.now().getTime() - sight.wallMs);
  const confirmedName = (): string | null => (observer.fresh() ? (observer.known()?.vmName ?? null) : null);
  const listed = (key: string): ScheduledEvent | undefined =>
    sight?.document.events.find((event) => keyOf(event) === key);

  const circumstancesOf = (key: string, alreadyApproved: boolean): ApprovalCircumstances => {
    const memory = outbox.state.events.get(key);
    const sinceMs = scheduledSinceMs.get(key);
    return {
      policy,
      disabled: isThere(join(stateDirectory, disablingFile)),
      vmName: confirmedName(),
      documentAgeMs: ageMs(),
      isFirstDocument: documents < 2,
      phase: memory?.open ? memory.phase : null,
      alreadyApproved,
      scheduledForMs: sinceMs === undefined ? 0 : clock.monotonicMs() - sinceMs,
    };
  };

  const watch = ({ events }: SeenDocument): void => {
    const scheduled = new Set(events.filter(({ eventStatus }) => eventStatus === 'Scheduled').map(keyOf));
    for (const key of scheduled) if (!scheduledSinceMs.has(key)) scheduledSinceMs.set(key, clock.monotonicMs());
    for (const known of [scheduledSinceMs, told, posted]) {
      for (const key of known.keys()) if (!scheduled.has(key)) known.delete(key);
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

  /** Commits the intent. False: the disk takes no writes. */
  const intend = (event: ScheduledEvent, cause: string): ApprovalIntent | null => {
    const intent = { eventId: event.eventId, cause, at: clock.now() };
    if (outbox.intend(intent)) return intent;
    sayOnce('no-intent', (leftOut) => {
      const { eventId } = event;
      log.error({ part: 'approve', eventId, cause, leftOut }, `Event ${eventId} is not approved: ${noTrace()}`);
    });
    return null;
  };
  const noTrace = (): string =>
    `the disk takes no writes, and an approval must leave a trace. ${outbox.storage.trouble?.reason ?? ''}`.trim();

  /** An intent that a process before this one left open, or that was held back. */
  const settle = (intent: ApprovalIntent, { seen, records }: Pick<Turn, 'seen' | 'records'>): void => {
    const key = keyOf(intent);
    const memory = outbox.state.events.get(key);
    if (!memory?.open) {
      const azureTime = (seen.kind !== 'unavailable' && seen.azureTime) || clock.now();
      const end = records.find((record) => keyOf(record) === key && record.phase === 'Completed');
      conclude(intent, end && isEarly(end.notBefore, azureTime) ? accepted : leftUnseen);
    } else if (memory.phase === 'Started') {
      const startedAt = new Date(memory.startedAt ?? clock.now());
      conclude(intent, memory.last.notBefore && !isEarly(memory.last.notBefore, startedAt) ? startedInTime : accepted);
    } else {
      const event = listed(key);
      if (event && !posted.has(key) && mayPost(intent, event)) void post(intent);
    }
  };

  const mayPost = (intent: ApprovalIntent, event: ScheduledEvent): boolean => {
    const circumstances = circumstancesOf(keyOf(event), false);
    if (intent.cause === byHand) return whyNotNow(event, circumstances) === null;
    const decision = mayApprove(event, circumstances);
    if (!decision.approve) tell(event, decision.why);
    return decision.approve;
  };

  const decide = (event: ScheduledEvent): void => {
    const key = keyOf(event);
    const vmId = observer.known()?.vmId ?? '';
    const decision = mayApprove(event, circumstancesOf(key, hasApproved(outbox.state, event.eventId, vmId)));
    if (decision.approve) {
      const intent = intend(event, decision.cause);
      // Committing may have taken its time: what is posted was allowed a moment ago.
      if (intent && mayPost(intent, event)) void post(intent);
    } else tell(event, decision.why);
  };

  const tell = (event: ScheduledEvent, why: string): void => {
    if (event.eventStatus !== 'Scheduled' || told.get(keyOf(event)) === why) return;
    told.set(keyOf(event), why);
    const { eventId, eventType } = event;
    const isOurs = outbox.state.events.get(keyOf(event))?.affectsUs === true;
    const line = `${eventType ?? 'Event'} ${eventId} is not approved automatically: ${why}.`;
    log[isOurs ? 'info' : 'debug']({ part: 'approve', eventId, eventType }, line);
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
    const asked = understood(argument);
    if (asked === null) return refusal('The request names no EventId.');
    const event = listed(asked.eventId.toLowerCase());
    const age = ageMs();
    const ids = (sight?.document.events ?? []).map(({ eventId }) => eventId).join(', ') || 'none';
    const trouble = [
      { is: isClosing, says: 'The service is about to stop: ask again when it runs.' },
      {
        is: !(age !== null && age <= freshMs),
        says: 'The metadata service has told nothing for 5 s, so nobody knows what is scheduled now: see `status`.',
      },
      { is: confirmedName() === null, says: 'The metadata service has not told yet which VM this is: ask again.' },
      { is: !event, says: `No event ${asked.eventId} is listed. Listed: ${ids}.` },
      {
        is: event?.eventStatus !== 'Scheduled',
        says: `The event is ${event?.eventStatus ?? 'of no status'}: only what is Scheduled can be approved.`,
      },
      {
        is: asked.resources !== null && !isSameList(asked.resources, event?.resources ?? []),
        says: `The event names other VMs by now: ${event?.resources?.join(', ') || 'none'}. Look again, then ask again.`,
      },
    ].find(({ is }) => is);
    if (trouble || !event) return refusal(trouble?.says ?? '');
    const key = keyOf(event);
    const already = underWay.get(key);
    if (already) return answerOf(await already, event);
    const intent = intend(event, byHand);
    return intent ? answerOf(await post(intent), event) : refusal(`Nothing was approved: ${noTrace()}`);
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

const accepted: ApprovalAnswer = { outcome: 'accepted', reason: null };
const startedInTime: ApprovalAnswer = {
  outcome: 'outcome-unknown',
  reason: 'The event has started, but not before its time: nobody can tell whether the approval reached Azure.',
};
const leftUnseen: ApprovalAnswer = {
  outcome: 'outcome-unknown',
  reason: 'The event left while the bridge was not running: nobody can tell what let it go.',
};

/**
 * Nothing starts before its notBefore unless it is approved.
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#event-properties
 */
const isEarly = (notBefore: string | null, at: Date): boolean =>
  notBefore !== null && at.getTime() < Date.parse(notBefore);

/** A file that cannot be looked at counts as there: it is meant to stop something. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

const refusal = (says: string): ApproveAnswer => ({ ok: false, says, outcome: null });

function answerOf({ outcome, reason }: ApprovalAnswer, { eventType, resources }: ScheduledEvent): ApproveAnswer {
  if (outcome !== 'accepted') return { ok: false, says: reason, outcome };
  const whom = resources?.join(', ') || 'the VMs it names';
  return { ok: true, says: `Azure accepted it: the ${eventType ?? 'event'} starts now for ${whom}.`, outcome };
}

function understood(
  argument: unknown,
): { readonly eventId: string; readonly resources: readonly string[] | null } | null {
  if (typeof argument !== 'object' || argument === null || !('eventId' in argument)) return null;
  const { eventId } = argument;
  if (typeof eventId !== 'string' || eventId.trim() === '') return null;
  const resources = 'resources' in argument && Array.isArray(argument.resources) ? argument.resources : null;
  return { eventId: eventId.trim(), resources: resources?.map(String) ?? null };
}

const isSameList = (a: readonly string[], b: readonly string[]): boolean => {
  const sorted = (names: readonly string[]): string => JSON.stringify(names.map((name) => name.toLowerCase()).sort());
  return sorted(a) === sorted(b);
};

import type { ObserverWatch } from '../imds/observer-watch.ts';
import {
  type ApprovalCircumstances,
  type ApprovalPolicy,
  byHand,
  mayApprove,
  whyNotNow,
} from '../lifecycle/approval.ts';
import { settledBy } from '../lifecycle/approval-settled.ts';
import { differenceBetween } from '../lifecycle/approval-terms.ts';
import { hasApproved } from '../lifecycle/approved-record.ts';
import type { ScheduledEvent } from '../lifecycle/scheduled-event.ts';
import type { Transition } from '../lifecycle/transition.ts';
import { createRateLimit, messageOf } from '../log.ts';
import type { ApprovalIntent } from '../outbox/outbox.ts';
import { isApprovingDisabled } from './disabled.ts';
import { keyOf } from './event-key.ts';
import { createEventView } from './event-view.ts';
import { type ApproveAnswer, approveManually, refusal } from './manual.ts';
import { createSubmitter, type SubmitterOptions } from './submit.ts';

export interface ApproverOptions extends SubmitterOptions {
  readonly observer: Pick<ObserverWatch, 'known' | 'fresh' | 'onRead'>;
  /** The name of this VM is configured: it needs no confirmation by the metadata service. */
  readonly isVmNameSet?: boolean;
  readonly policy: ApprovalPolicy;
  readonly stateDirectory: string;
}

/**
 * Approves events: by policy what `mayApprove` allows, manually what an operator requests. Each approval is an intent on disk, then
 * one POST, then one `Approved` record with the outcome. An intent that a process before this one left open is settled by
 * the documents, or POSTed again.
 */
export interface Approver {
  /** Considers the result of a poll. For the poll loop: never throws, never waits. */
  consider(turn: Pick<Transition, 'pollResult' | 'state' | 'records'>): void;
  /** An {@link ApproveRequest}. What it names is approved only while it is what the person was shown. Never rejects. */
  approve(argument: unknown): Promise<ApproveAnswer>;
  /**
   * Approves nothing more; resolves when what is under way has its outcome, after `withinMs` at the latest. What has none
   * then stays open for the next start to settle.
   */
  close(withinMs: number): Promise<void>;
}

/** A manual approval expires after this time: a service that was down for longer does not resume it. */
const manualApprovalMs = 5 * 60_000;

// assumption: imds-approval-starts
export function createApprover(options: ApproverOptions): Approver {
  const { outbox, observer, policy, stateDirectory, clock, log } = options;
  const logRateLimited = createRateLimit({ clock, everyMs: 10 * 60_000 });
  const isPolicyOn = policy.userInitiated || policy.freezeUpToSeconds !== null;
  const view = createEventView(clock);
  const submitter = createSubmitter(options);
  /** The last logged reason why an event is not approved. */
  const logged = new Map<string, string>();
  let isClosing = false;
  let isNameRead = options.isVmNameSet ?? false;
  observer.onRead(() => (isNameRead = true));

  const isCertain = (): boolean => observer.known() !== null && observer.fresh();
  // With a configured vmId alone, the name may still be the stored one: on a copied disk that of another VM.
  const confirmedName = (): string | null => (isCertain() && isNameRead ? (observer.known()?.vmName ?? null) : null);

  const circumstancesOf = (event: ScheduledEvent, alreadyApproved: boolean): ApprovalCircumstances => {
    const memory = outbox.state.events.get(keyOf(event));
    return {
      policy,
      disabled: isApprovingDisabled(stateDirectory),
      vmName: confirmedName(),
      documentAgeMs: view.ageMs(),
      isFirstDocument: view.times() < 2,
      phase: memory?.open ? memory.phase : null,
      alreadyApproved,
      listedTwice: view.isListedTwice(event),
      scheduledForMs: view.watchedForMs(event),
    };
  };

  /** An intent that a process before this one left open. */
  const settle = (
    intent: ApprovalIntent,
    { pollResult: seen, records }: Pick<Transition, 'pollResult' | 'records'>,
  ): void => {
    const now = (seen.kind !== 'unavailable' && seen.azureTime) || clock.now();
    const settled = settledBy(intent.eventId, { state: outbox.state, records, now });
    if (settled) submitter.conclude(intent, settled);
    const event = view.listed(keyOf(intent));
    if (settled || !event || submitter.wasPosted(keyOf(intent))) return;
    const why = whyNotAgain(intent, event);
    if (why === null && submitter.hasRoom()) void submitter.post(intent);
    else if (why !== null && intent.cause !== byHand) logRefusal(event, why);
    else if (why !== null && view.times() > 1) logNotRepeated(event, why);
  };

  /** The event is judged again: it may have changed since the intent. */
  const whyNotAgain = (intent: ApprovalIntent, event: ScheduledEvent): string | null => {
    const circumstances = circumstancesOf(event, false);
    if (intent.cause !== byHand) {
      const decision = mayApprove(event, circumstances);
      if (!decision.approve) return decision.why;
      return decision.cause === intent.cause
        ? null
        : `it was begun as ${intent.cause}, and is ${decision.cause} by now`;
    }
    const reason = whyNotNow(event, circumstances);
    if (reason !== null) return reason;
    // Either way: a clock that was set back hides how long ago it was.
    if (!(Math.abs(clock.now().getTime() - intent.at.getTime()) <= manualApprovalMs)) {
      return `it was requested at ${intent.at.toISOString()}, so it may no longer be wanted`;
    }
    if (!intent.terms) return 'it is not known any more what the event was when it was asked for';
    const other = differenceBetween(intent.terms, view.termsOf(event));
    return other && `since it was asked for the event ${other}`;
  };

  const decide = (event: ScheduledEvent): void => {
    const vmId = observer.known()?.vmId ?? '';
    const decision = mayApprove(event, circumstancesOf(event, hasApproved(outbox.state, event.eventId, vmId)));
    if (!decision.approve) {
      logRefusal(event, decision.why);
      return;
    }
    if (!submitter.hasRoom()) return;
    const intent = submitter.intend(event, view.termsOf(event), decision.cause);
    if (!intent) return;
    // Committing may have taken its time: what is posted was allowed a moment ago.
    const again = mayApprove(event, circumstancesOf(event, false));
    if (again.approve) void submitter.post(intent);
    else {
      submitter.withdraw(intent, again.why, false);
      logRefusal(event, again.why);
    }
  };

  const logRefusal = (event: ScheduledEvent, why: string): void => {
    if (event.eventStatus !== 'Scheduled' || logged.get(keyOf(event)) === why) return;
    logged.set(keyOf(event), why);
    const { eventId, eventType } = event;
    const isOurs = outbox.state.events.get(keyOf(event))?.affectsUs === true;
    const line = `${eventType ?? 'Event'} ${eventId} is not approved automatically: ${why}.`;
    log[isOurs ? 'info' : 'debug']({ part: 'approve', eventId, eventType }, line);
  };

  const logNotRepeated = (event: ScheduledEvent, why: string): void => {
    if (logged.get(keyOf(event)) === why) return;
    logged.set(keyOf(event), why);
    const { eventId, eventType } = event;
    log.warn(
      { part: 'approve', eventId, eventType },
      `The approval of ${eventType ?? 'event'} ${eventId} that an operator requested is not sent again: ${why}. If it is still wanted, run: approve ${eventId}`,
    );
  };

  const consider = ({
    pollResult: seen,
    state,
    records,
  }: Pick<Transition, 'pollResult' | 'state' | 'records'>): void => {
    if (seen.kind === 'unavailable' || isClosing) return;
    const document = seen.kind === 'document' ? seen.document : view.document();
    if (!document) return;
    const scheduled = view.see(document, Date.parse(state.lastDocumentAt ?? ''));
    for (const key of logged.keys()) if (!scheduled.has(key)) logged.delete(key);
    submitter.keep(scheduled);
    if (observer.known() === null) return;
    for (const intent of submitter.leftOpen()) settle(intent, { pollResult: seen, records });
    if (!isPolicyOn) return;
    for (const event of document.events) if (!outbox.state.approved.has(keyOf(event))) decide(event);
  };

  return {
    consider(turn) {
      try {
        consider(turn);
      } catch (error) {
        logRateLimited('failed', (leftOut) => {
          log.error({ part: 'approve', error, leftOut }, 'Approving failed with an internal error; polling continues.');
        });
      }
    },
    async approve(argument) {
      const isApproved = (key: string): boolean => outbox.state.approved.has(key);
      try {
        return await approveManually(argument, { view, submitter, isCertain, isClosing: () => isClosing, isApproved });
      } catch (error) {
        return refusal(`The service failed at it: ${messageOf(error)}`);
      }
    },
    async close(withinMs) {
      isClosing = true;
      await submitter.close(withinMs);
    },
  };
}

import type { ApprovalAnswer } from '../imds/approve.ts';
import { byHand } from '../lifecycle/approval.ts';
import { readApproveRequest } from '../lifecycle/approval-request.ts';
import { differenceBetween } from '../lifecycle/approval-terms.ts';
import type { ScheduledEvent } from '../lifecycle/scheduled-event.ts';
import { keyOf } from './event-key.ts';
import type { EventView } from './event-view.ts';
import type { Submitter } from './submit.ts';

/** The verb of the request. */
export const approveRequest = 'approve';

export interface ApproveAnswer {
  /** Azure accepted it. */
  readonly ok: boolean;
  /** For the operator. */
  readonly message: string;
  /** Null: nothing was sent. */
  readonly outcome: ApprovalAnswer['outcome'] | null;
}

interface ApproveContext {
  readonly view: EventView;
  readonly submitter: Submitter;
  /** The identity of this VM was read from the metadata service. */
  readonly isCertain: () => boolean;
  readonly isClosing: () => boolean;
  /** Approved before, as far as is remembered. */
  readonly isApproved: (key: string) => boolean;
}

/** Approves an {@link ApproveRequest} as long as the event is what the operator was shown. */
export async function approveManually(
  argument: unknown,
  { view, submitter, isCertain, isClosing, isApproved }: ApproveContext,
): Promise<ApproveAnswer> {
  const asked = readApproveRequest(argument);
  if (asked === null) return refusal('The request names no EventId, or is that of another version of this command.');
  const event = view.listed(keyOf(asked));
  const ids = (view.document()?.events ?? []).map(({ eventId }) => eventId).join(', ') || 'none';
  const other = event && asked.terms && differenceBetween(asked.terms, view.termsOf(event));
  const problem = [
    { is: isClosing(), message: 'The service is stopping: try again when it runs.' },
    { is: !view.isFresh(), message: noDocument },
    {
      is: !isCertain(),
      message: 'The identity of this VM has not been read from the metadata service yet: try again.',
    },
    { is: !event, message: `No event ${asked.eventId} is listed. Listed: ${ids}.` },
    {
      is: event?.eventStatus !== 'Scheduled',
      message: `The event is ${event?.eventStatus ?? 'of no status'}: only what is Scheduled can be approved.`,
    },
    { is: Boolean(other), message: `The event has changed: it ${other} now. Check it, then try again.` },
  ].find(({ is }) => is);
  if (problem || !event) return refusal(problem?.message ?? '');
  const already = submitter.underWay(keyOf(event));
  if (already) return answerOf(await already, event);
  const wasApproved = isApproved(keyOf(event));
  const intent = submitter.intend(event, view.termsOf(event), byHand);
  if (!intent) return refusal(`Nothing was approved: ${submitter.noTrace()}`);
  if (view.isFresh()) return answerOf(await submitter.post(intent), event);
  submitter.withdraw(intent, 'the document became older than 5 s meanwhile', wasApproved);
  return refusal(noDocument);
}

const noDocument = 'No document from the metadata service for 5 s, so what is scheduled now is unknown: see `status`.';

/** Nothing was sent. */
export const refusal = (message: string): ApproveAnswer => ({ ok: false, message, outcome: null });

function answerOf(
  { outcome, reason }: ApprovalAnswer,
  { eventType, resources }: Pick<ScheduledEvent, 'eventType' | 'resources'>,
): ApproveAnswer {
  if (outcome !== 'accepted') return { ok: false, message: reason, outcome };
  const whom = resources?.join(', ') || 'the VMs it names';
  return { ok: true, message: `Azure accepted it: the ${eventType ?? 'event'} starts now for ${whom}.`, outcome };
}

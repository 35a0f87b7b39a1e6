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
  /** For the person who asked. */
  readonly message: string;
  /** Null: nothing was sent. */
  readonly outcome: ApprovalAnswer['outcome'] | null;
}

interface Circumstances {
  readonly view: EventView;
  readonly carryOut: Submitter;
  /** The metadata service has told which VM this is. */
  readonly isCertain: () => boolean;
  readonly isClosing: () => boolean;
  /** Approved before, as far as is remembered. */
  readonly isApproved: (key: string) => boolean;
}

/** Approves what a person asks for, an {@link ApproveRequest}, while it is what the person was shown. */
export async function approveManually(
  argument: unknown,
  { view, carryOut, isCertain, isClosing, isApproved }: Circumstances,
): Promise<ApproveAnswer> {
  const asked = readApproveRequest(argument);
  if (asked === null) return refusal('The request names no EventId, or is that of another version of this command.');
  const event = view.listed(keyOf(asked));
  const ids = (view.document()?.events ?? []).map(({ eventId }) => eventId).join(', ') || 'none';
  const other = event && asked.terms && differenceBetween(asked.terms, view.termsOf(event));
  const trouble = [
    { is: isClosing(), message: 'The service is about to stop: ask again when it runs.' },
    { is: !view.isFresh(), message: tellsNothing },
    { is: !isCertain(), message: 'The metadata service has not told yet which VM this is: ask again.' },
    { is: !event, message: `No event ${asked.eventId} is listed. Listed: ${ids}.` },
    {
      is: event?.eventStatus !== 'Scheduled',
      message: `The event is ${event?.eventStatus ?? 'of no status'}: only what is Scheduled can be approved.`,
    },
    { is: Boolean(other), message: `By now the event ${other}. Look again, then ask again.` },
  ].find(({ is }) => is);
  if (trouble || !event) return refusal(trouble?.message ?? '');
  const already = carryOut.underWay(keyOf(event));
  if (already) return answerOf(await already, event);
  const wasApproved = isApproved(keyOf(event));
  const intent = carryOut.intend(event, view.termsOf(event), byHand);
  if (!intent) return refusal(`Nothing was approved: ${carryOut.noTrace()}`);
  if (view.isFresh()) return answerOf(await carryOut.post(intent), event);
  carryOut.withdraw(intent, 'the document became older than 5 s meanwhile', wasApproved);
  return refusal(tellsNothing);
}

const tellsNothing =
  'The metadata service has told nothing for 5 s, so nobody knows what is scheduled now: see `status`.';

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

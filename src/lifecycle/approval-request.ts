import { type ApprovalTerms, readTerms } from './approval-terms.ts';

/** The request of a command to approve an event, as the operator was shown it. */
export interface ApproveRequest {
  /** As the document spells it; letter case is nothing. */
  readonly eventId: string;
  /** Null: any. */
  readonly terms: ApprovalTerms | null;
}

/** Null for what names no EventId, or anything that this build does not know: it may be a condition of another one. */
export function readApproveRequest(argument: unknown): ApproveRequest | null {
  if (typeof argument !== 'object' || argument === null || !('eventId' in argument)) return null;
  const { eventId, terms: given = null, ...unknown }: { eventId: unknown; terms?: unknown } = argument;
  if (typeof eventId !== 'string' || eventId.trim() === '' || Object.keys(unknown).length > 0) return null;
  const terms = readTerms(given);
  return given !== null && terms === null ? null : { eventId, terms };
}

import { evidenceIn } from './approval.ts';
import { describe } from './describe.ts';
import { neverListed } from './empty-memory.ts';
import type { approvalEvidence, IsoTime, LifecycleRecord } from './record.ts';
import { transitionId } from './record-id.ts';
import type { Observer } from './scheduled-event.ts';
import type { EventMemory, LifecycleState } from './state.ts';

export type ApprovalOutcome = (typeof approvalEvidence)[number];

/** An approval of which the outcome is known, as well as it ever will be. */
export interface Approval {
  readonly eventId: string;
  readonly outcome: ApprovalOutcome;
  /** As `mayApprove` gave it, or `by-hand`. */
  readonly cause: string;
  readonly at: Date;
  readonly observer: Observer;
  readonly bridgeVersion: string;
  /** What was remembered when the approval was decided: the event may have left meanwhile, and not be remembered any more. */
  readonly known?: EventMemory | undefined;
}

/**
 * The `Approved` record of an approval, and the state with it on record. An event of others is in scope from here on: its
 * end will be published. Ends are decided with it as approved, except where Azure refused.
 */
export function recordApproval(
  state: LifecycleState,
  { eventId, outcome, cause, at, observer, bridgeVersion, known }: Approval,
): { readonly state: LifecycleState; readonly record: LifecycleRecord } {
  const key = eventId.toLowerCase();
  const observedAt = at.toISOString();
  const position = state.position + 1;
  const held = state.events.get(key) ?? departed(known ?? neverListed(eventId, observedAt), observedAt);
  const { memory, record } = describe(
    { ...held, inScope: true },
    {
      phase: 'Approved',
      evidence: [outcome, ...evidenceIn(cause)],
      changes: [],
      incarnation: state.incarnation ?? 0,
      startedSeconds: null,
    },
    {
      at: observedAt,
      observer,
      host: state,
      streamId: state.streamId,
      imdsApiVersion: state.imdsApiVersion ?? '',
      clockOffsetSeconds: state.clockOffsetSeconds,
      bridgeVersion,
    },
    position,
  );
  const approved = new Set(state.approved);
  if (outcome === 'refused') approved.delete(key);
  else approved.add(key);
  return { state: { ...state, position, approved, events: new Map(state.events).set(key, memory) }, record };
}

/** Whether this VM has approved the event before, or is about to; also where Azure refused. */
export const hasApproved = (state: LifecycleState, eventId: string, vmId: string): boolean =>
  state.approved.has(eventId.toLowerCase()) ||
  state.events.get(eventId.toLowerCase())?.recorded[transitionId(eventId, 'approved', 0, { vmId })] !== undefined;

const departed = (memory: EventMemory, at: IsoTime): EventMemory => ({
  ...memory,
  open: false,
  endedAt: memory.endedAt ?? at,
  scheduledSince: null,
  listedIn: null,
  absent: null,
});

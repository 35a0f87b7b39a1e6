import { createHash } from 'node:crypto';
import type { Phase } from './record.ts';

/** What is counted and hashed as one step: how an event ended is its evidence, not its identity. */
export type StepKind = 'scheduled' | 'started' | 'updated' | 'approved' | 'end' | 'snapshot';

const stepOfPhase: Readonly<Record<Phase, StepKind>> = {
  Scheduled: 'scheduled',
  Started: 'started',
  Updated: 'updated',
  Approved: 'approved',
  Snapshot: 'snapshot',
  Completed: 'end',
  Canceled: 'end',
  Ended: 'end',
};

export const stepOf = (phase: Phase): StepKind => stepOfPhase[phase];

/** 32 hexadecimal digits: the first 128 bits of SHA-256 over the JSON of the parts, so that no two lists of parts collide. */
const hash = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);

// assumption: imds-event-id
/**
 * The id of a step of an event, the same on every VM that sees it: neither observer nor incarnation go in.
 * `repeat`: how often this observer had already recorded the step (for `updated`: with this content).
 * `content`: what an `updated` led to, see `contentKey`. An approval is one VM's deed, so its `vmId` goes in.
 */
export function transitionId(
  eventId: string,
  step: StepKind,
  repeat: number,
  detail: { readonly content?: string; readonly vmId?: string } = {},
): string {
  const id = eventId.toLowerCase();
  if (step === 'updated') return hash(id, step, repeat, detail.content ?? '');
  if (step === 'approved') return hash(id, step, repeat, (detail.vmId ?? '').toLowerCase());
  return hash(id, step, repeat);
}

/** The id of one observer's record of a step: the same after a crash, a restart, a retry. */
export const recordId = (transition: string, vmId: string): string => hash(transition, vmId.toLowerCase());

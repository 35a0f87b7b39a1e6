import { contentChanges } from './content.ts';
import { type Change, type Phase, type StepEvidence, stepEvidence } from './record.ts';
import type { ScheduledEvent } from './scheduled-event.ts';
import type { EventMemory } from './state.ts';

/**
 * Which step a listed event makes: the rows of the phase table that do not end by absence. At most one step per event
 * and document; the first row that matches gives the phase, every word whose own condition holds is said.
 */

/** One event as a document lists it, beside what is remembered of it. */
export interface Listing {
  /** Last good values with the present ones on top. */
  readonly now: ScheduledEvent;
  /** Undefined: never seen, or seen and forgotten. */
  readonly memory: EventMemory | undefined;
  /** The present document names this VM. */
  readonly affectsUs: boolean;
  /** It was not to be seen for a while: the step may have been made long ago. */
  readonly gap: boolean;
}

export interface StepTaken {
  readonly phase: Phase;
  readonly evidence: readonly string[];
  readonly changes: readonly Change[];
}

type Held = EventMemory['phase'];

const isEnd = (status: string | null): status is 'Completed' | 'Canceled' =>
  status === 'Completed' || status === 'Canceled';
export const isKnown = (status: string | null): status is Held => status === 'Scheduled' || status === 'Started';

/** The phase to hold after this listing. An unknown status leaves it as it is. */
export function heldPhase({ now, memory }: Pick<Listing, 'now' | 'memory'>): Held {
  if (isKnown(now.eventStatus)) return now.eventStatus;
  return memory?.open ? memory.phase : 'Scheduled';
}

// assumption: imds-statuses
/** Azure itself reports the end. Not known to happen today; accepted when it does. */
export const hasEndStatus = ({ now }: Listing): boolean => isEnd(now.eventStatus);

/** The step of an event that is published, or null where it made none. */
export function stepTaken(listing: Listing): StepTaken | null {
  const { now, memory } = listing;
  if (isEnd(now.eventStatus)) {
    if (memory && !memory.open) return null;
    const ambiguous = memory?.ambiguous ? ['impact-ambiguous'] : [];
    return { phase: now.eventStatus, evidence: ['said-by-azure', ...ambiguous], changes: [] };
  }
  if (!memory) return firstListing(listing);
  if (!memory.open) return returned(listing);
  return memory.inScope ? nextListing(listing, memory) : cameIntoScope(listing, memory);
}

function firstListing({ now, gap }: Listing): StepTaken {
  const atFirstLook: readonly StepEvidence[] = gap ? ['present-at-first-look'] : [];
  if (!isKnown(now.eventStatus)) return { phase: 'Updated', evidence: [...atFirstLook, 'status-unknown'], changes: [] };
  // assumption: imds-hardware-failure
  const said = now.eventStatus === 'Started' ? 'started-without-notice' : 'said-by-azure';
  return { phase: now.eventStatus, evidence: gap ? atFirstLook : [said], changes: [] };
}

function returned({ now }: Listing): StepTaken {
  if (isKnown(now.eventStatus)) return { phase: now.eventStatus, evidence: ['reappeared'], changes: [] };
  return { phase: 'Updated', evidence: ['reappeared', 'status-unknown'], changes: [] };
}

function cameIntoScope(listing: Listing, memory: EventMemory): StepTaken | null {
  if (!listing.affectsUs) return null;
  const { evidence } = compare(listing, memory);
  return { phase: heldPhase(listing), evidence: inOrder(['became-affected', ...evidence]), changes: [] };
}

function nextListing(listing: Listing, memory: EventMemory): StepTaken | null {
  const { evidence, changes } = compare(listing, memory);
  if (memory.phase === 'Scheduled' && listing.now.eventStatus === 'Started') {
    return { phase: 'Started', evidence, changes: [] };
  }
  return evidence.length === 0 ? null : { phase: 'Updated', evidence, changes };
}

/** Every difference to the previous observation, as words and as values. */
function compare(
  { now, affectsUs, gap }: Listing,
  memory: EventMemory,
): { readonly evidence: readonly StepEvidence[]; readonly changes: readonly Change[] } {
  const content = contentChanges(memory.last, now, heldPhase({ now, memory }));
  const status = now.eventStatus;
  const newStatus = status !== memory.last.eventStatus;
  const wentBack = newStatus && memory.phase === 'Started' && status === 'Scheduled';
  const unknown = newStatus && !isKnown(status);
  const words: StepEvidence[] = [];
  if (memory.phase === 'Scheduled' && status === 'Started') words.push('said-by-azure', ...(gap ? [unseen] : []));
  if (affectsUs && !memory.affectsUs) words.push('became-affected');
  if (!affectsUs && memory.affectsUs) words.push('left-resources');
  if (wentBack) words.push('status-went-back');
  if (unknown) words.push('status-unknown');
  words.push(...content.words);
  const statusChange: Change[] =
    wentBack || unknown ? [{ field: 'eventStatus', from: memory.last.eventStatus, to: status }] : [];
  return { evidence: inOrder(words), changes: [...statusChange, ...content.changes] };
}

/** It started in a gap: `startedAt` is the latest that it can have been. */
const unseen: StepEvidence = 'observation-gap';

const inOrder = (words: readonly StepEvidence[]): readonly StepEvidence[] =>
  stepEvidence.filter((word) => words.includes(word));

import { type EndEvidence, endEvidence, type Phase } from './record.ts';
import type { AbsenceFacts, EventMemory } from './state.ts';

/**
 * How an event that is no longer listed has ended. Azure never says "completed": a finished event just leaves the array,
 * a canceled one too (https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events). A public trace of a real
 * freeze goes from incarnation 2 (Scheduled) to 4 (empty) at one poll a second: Started was never visible. So leaving
 * alone proves nothing, and `Ended` - it is over, nobody knows how - is a legitimate answer.
 */

/** An event that left, and all that is known about it and its leaving. */
interface Leaving extends AbsenceFacts {
  readonly started: boolean;
  readonly affectsUs: boolean;
  readonly eventType: string | null;
  readonly eventSource: string | null;
}

const interrupts = (e: Leaving): boolean => ['Freeze', 'Reboot', 'Redeploy'].includes(e.eventType ?? '');
const removes = (e: Leaving): boolean => ['Preempt', 'Terminate'].includes(e.eventType ?? '');
const wasFelt = (e: Leaving): boolean => e.affectsUs && interrupts(e) && (e.hostChanged || e.paused);
const wasRebooted = (e: Leaving): boolean =>
  e.affectsUs &&
  e.bootChanged &&
  (e.started || e.notBefore === 'passed' || e.approved || e.eventSource === 'User' || removes(e));
const wasCanceled = (e: Leaving): boolean =>
  !e.started && e.notBefore === 'ahead' && e.exactlyOneMore && !e.gap && !e.approved;

/** The rows: the first whose condition holds gives the phase. */
const rows: readonly { readonly phase: Phase; readonly when: (e: Leaving) => boolean }[] = [
  { phase: 'Completed', when: wasRebooted },
  { phase: 'Completed', when: wasFelt },
  { phase: 'Completed', when: (e) => e.started },
  { phase: 'Canceled', when: wasCanceled },
  { phase: 'Ended', when: () => true },
];

/** The words: each is said when its own condition holds, whichever row decided. */
const words: Readonly<Record<EndEvidence, (e: Leaving) => boolean>> = {
  'said-by-azure': () => false, // Azure said so while the event was still listed: no leaving
  'boot-id-changed': (e) => e.bootChanged,
  'incarnation-reset': (e) => e.reset,
  'physical-host-changed': (e) => e.affectsUs && interrupts(e) && e.hostChanged,
  'pause-observed': (e) => e.affectsUs && interrupts(e) && e.paused,
  'reboot-became-freeze': (e) => e.eventType === 'Reboot' && e.bootKnownSame && wasFelt(e),
  'left-after-started': (e) => e.started,
  'left-before-not-before': wasCanceled,
  'incarnation-gap': (e) => !e.exactlyOneMore,
  'observation-gap': (e) => e.gap,
  'not-before-passed': (e) => e.notBefore === 'passed',
  'not-before-near': (e) => e.notBefore === 'near',
  'not-before-unknown': (e) => e.notBefore === 'unknown',
  approved: (e) => e.approved,
  superseded: (e) => e.superseded,
};

const leavingOf = ({ phase, affectsUs, last }: EventMemory, facts: AbsenceFacts): Leaving => ({
  ...facts,
  started: phase === 'Started',
  affectsUs,
  eventType: last.eventType,
  eventSource: last.eventSource,
});

/** Phase and evidence of an open event that left, by the facts of its first absence. */
export function endOf(
  memory: EventMemory,
  facts: AbsenceFacts,
): { readonly phase: Phase; readonly evidence: readonly EndEvidence[] } {
  const leaving = leavingOf(memory, facts);
  const row = rows.find(({ when }) => when(leaving));
  return { phase: row?.phase ?? 'Ended', evidence: endEvidence.filter((word) => words[word](leaving)) };
}

/**
 * Around a reset the array may be empty for a while (the service is off after 24 h without a request and begins anew),
 * so an absence is not believed at once. Only a reboot that fits the event is proof enough.
 */
export const isProvenByReboot = (memory: EventMemory, facts: AbsenceFacts): boolean =>
  wasRebooted(leavingOf(memory, facts));

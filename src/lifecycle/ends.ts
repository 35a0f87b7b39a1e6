import { type EndEvidence, endEvidence, type Phase } from './record.ts';
import type { AbsenceFacts, EventMemory } from './state.ts';
import { isKnown } from './steps.ts';

// assumption: imds-cancel-leaves, imds-over, imds-statuses
/**
 * How an event that is no longer listed has ended. Azure never says "completed": a finished event just leaves the array,
 * a canceled one too (https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events). A public trace of a real
 * freeze goes from incarnation 2 (Scheduled) to 4 (empty) at one poll a second: Started was never visible. So leaving
 * alone is no evidence, and `Ended` (it ended, how is unknown) is a legitimate answer.
 */

/** An event that left, and all that is known about it and its leaving. */
interface Departure extends AbsenceFacts {
  readonly started: boolean;
  /** It had started, and was listed as Scheduled again. */
  readonly wentBack: boolean;
  /** The last status from Azure is unknown here. */
  readonly statusUnknown: boolean;
  readonly affectsUs: boolean;
  readonly eventType: string | null;
  /** The only VM it names is this one. */
  readonly oursAlone: boolean;
}

const interrupts = (e: Departure): boolean => ['Freeze', 'Reboot', 'Redeploy'].includes(e.eventType ?? '');
/** `hostChanged`, `paused` and `rebooted` are what was booked for this event: its impact was possible then. */
const hadImpact = (e: Departure): boolean => e.affectsUs && interrupts(e) && (e.hostChanged || e.paused);
const wasRebooted = (e: Departure): boolean => e.affectsUs && e.rebooted;
const wasCanceled = (e: Departure): boolean =>
  !e.started && !e.wentBack && !e.statusUnknown && e.notBefore === 'ahead' && e.exactlyOneMore && !e.gap && !e.approved;

/** The rows: the first whose condition holds gives the phase. */
const rows: readonly { readonly phase: Phase; readonly when: (e: Departure) => boolean }[] = [
  { phase: 'Completed', when: (e) => wasRebooted(e) && !e.ambiguous },
  { phase: 'Canceled', when: wasCanceled },
  { phase: 'Completed', when: (e) => hadImpact(e) && !e.ambiguous },
  { phase: 'Ended', when: (e) => e.statusUnknown },
  { phase: 'Completed', when: (e) => e.started },
  { phase: 'Ended', when: () => true },
];

/** The words: each is said when its own condition holds, whichever row decided. */
const words: Readonly<Record<EndEvidence, (e: Departure) => boolean>> = {
  'said-by-azure': () => false, // Azure said so while the event was still listed: no leaving
  'boot-id-changed': (e) => e.bootChanged,
  'incarnation-reset': (e) => e.reset,
  'physical-host-changed': (e) => e.affectsUs && interrupts(e) && e.hostChanged,
  'pause-observed': (e) => e.affectsUs && interrupts(e) && e.paused,
  'reboot-became-freeze': (e) => e.eventType === 'Reboot' && e.bootKnownSame && hadImpact(e),
  'left-after-started': (e) => e.started,
  'left-before-not-before': wasCanceled,
  'incarnation-gap': (e) => !e.exactlyOneMore,
  'observation-gap': (e) => e.gap,
  'not-before-passed': (e) => e.notBefore === 'passed',
  'not-before-near': (e) => e.notBefore === 'near',
  'not-before-unknown': (e) => e.notBefore === 'unknown',
  approved: (e) => e.approved,
  superseded: (e) => e.superseded,
  'status-went-back': (e) => e.wentBack,
  'status-unknown': (e) => e.statusUnknown,
  'unreadable-entry': (e) => e.unreadable,
  'impact-ambiguous': (e) => e.ambiguous,
};

const departureOf = ({ phase, affectsUs, last, startedAt }: EventMemory, facts: AbsenceFacts): Departure => ({
  ...facts,
  started: phase === 'Started',
  wentBack: phase === 'Scheduled' && startedAt !== null,
  statusUnknown: !isKnown(last.eventStatus),
  affectsUs,
  eventType: last.eventType,
  oursAlone: (last.resources ?? []).length === 1,
});

/** Phase and evidence of an open event that left, by the facts of its first absence. */
export function endOf(
  memory: EventMemory,
  facts: AbsenceFacts,
): { readonly phase: Phase; readonly evidence: readonly EndEvidence[] } {
  const leaving = departureOf(memory, facts);
  const row = rows.find(({ when }) => when(leaving));
  return { phase: row?.phase ?? 'Ended', evidence: endEvidence.filter((word) => words[word](leaving)) };
}

/**
 * Around a reset the array may be empty for a while (the service is off after 24 h without a request and restarts), and
 * one document may lack an event by mistake, so an absence is not believed at once. Only a reboot that fits the event is
 * proof enough, and only of an event of this VM alone: for others its impact may be to come.
 */
export function isProvenByReboot(memory: EventMemory, facts: AbsenceFacts): boolean {
  const leaving = departureOf(memory, facts);
  return wasRebooted(leaving) && !leaving.ambiguous && leaving.oursAlone;
}

import type { ScheduledEvent } from './scheduled-event.ts';
import type { EventMemory } from './state.ts';

// assumption: imds-approval-all-vms
/**
 * An approval lets Azure start an event now instead of at its notBefore, for every VM that it names: a wrong one
 * reboots a VM in use. https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#start-an-event
 */

/** `approve` of the configuration: what this VM approves by itself. */
export interface ApprovalPolicy {
  /** Reboots and redeploys that a user requested. */
  readonly userInitiated: boolean;
  /** Freezes that are to last no longer; null: none. */
  readonly freezeUpToSeconds: number | null;
  // assumption: imds-approval-on-behalf
  /** VMs for which this one approves user-initiated events that they have not approved themselves. */
  readonly onBehalfOf: readonly string[];
  /** How long those VMs have. */
  readonly onBehalfAfterSeconds: number;
}

/** Longer freezes need a manual approval: connections break by then, which an operator should decide. */
export const longestFreezeSeconds = 30;

/** A document from which anything is approved may be that old. */
export const freshMs = 5000;

/** Everything beside the event that an automatic approval is decided with. */
export interface ApprovalCircumstances {
  readonly policy: ApprovalPolicy;
  /** A file in the state directory stops it. */
  readonly disabled: boolean;
  /** `compute.name`, as confirmed since the process started; null while it is not: a copied disk brings that of another VM. */
  readonly vmName: string | null;
  /** Since the document that lists the event was fetched; null without a document. */
  readonly documentAgeMs: number | null;
  /** No document was seen before this one since the process started. */
  readonly isFirstDocument: boolean;
  /** The phase held by the lifecycle; null: it does not hold the event as open. */
  readonly phase: EventMemory['phase'] | null;
  /** This VM has approved it before, or is about to. */
  readonly alreadyApproved: boolean;
  /** The document lists the EventId more than once: which entry the approval is for is not known. */
  readonly listedTwice: boolean;
  /** How long this process has watched it being Scheduled, and being what it is now. */
  readonly scheduledForMs: number;
}

/** `cause` goes into the record: `freeze`, `user-initiated`, or `on-behalf-of:` and the names. */
export type MayApprove =
  | { readonly approve: true; readonly cause: string }
  | { readonly approve: false; readonly why: string };

// assumption: imds-user-redeploy, imds-user-restart
/**
 * The whole policy of approving without being asked. Judges the event as the document lists it, never with values
 * remembered from an earlier one. Preempt, Terminate, and what the platform reboots or redeploys are for people to approve.
 */
export function mayApprove(event: ScheduledEvent, circumstances: ApprovalCircumstances): MayApprove {
  const reason =
    whyNotNow(event, circumstances) ??
    (circumstances.listedTwice ? 'the document lists it more than once' : refusalByType(event, circumstances.policy));
  return reason === null ? forWhom(event, circumstances) : no(reason);
}

const no = (why: string): MayApprove => ({ approve: false, why });

/** Why this process may approve no event, of any type, at this time; null when it may. */
export function whyNotNow(event: ScheduledEvent, given: ApprovalCircumstances): string | null {
  const { documentAgeMs: ageMs } = given;
  if (given.disabled) return 'a file named approve.disabled is in the state directory';
  if (!given.vmName) return 'the metadata service has not confirmed yet which VM this is';
  if (given.isFirstDocument) return 'the first document after a start approves nothing';
  if (!(ageMs !== null && ageMs >= 0 && ageMs <= freshMs)) return 'the document is older than 5 s';
  if (event.eventStatus !== 'Scheduled') return 'it is not Scheduled';
  if (given.phase !== 'Scheduled') return 'it is not held as Scheduled';
  if (given.alreadyApproved) return 'this VM has approved it before';
  return null;
}

function refusalByType(
  { eventType, eventSource, durationSeconds, resourceType }: ScheduledEvent,
  policy: ApprovalPolicy,
): string | null {
  if (resourceType !== null && resourceType !== 'VirtualMachine') return 'the names in it are not those of VMs';
  if (eventType === 'Freeze') {
    if (policy.freezeUpToSeconds === null) return 'approve.freezeUpToSeconds is not set';
    if (durationSeconds === null || !Number.isInteger(durationSeconds) || durationSeconds < 0) {
      return 'the duration of the freeze is not known';
    }
    const mostSeconds = Math.min(policy.freezeUpToSeconds, longestFreezeSeconds);
    return durationSeconds <= mostSeconds ? null : `the freeze is to last more than ${mostSeconds} s`;
  }
  if (eventType !== 'Reboot' && eventType !== 'Redeploy') return 'events of its type need a manual approval';
  if (eventSource !== 'User') return 'no user requested it, so it needs a manual approval';
  return policy.userInitiated ? null : 'approve.userInitiated is not set';
}

function forWhom(event: ScheduledEvent, { policy, vmName, scheduledForMs }: ApprovalCircumstances): MayApprove {
  const names = event.resources ?? [];
  const [leader] = names;
  if (leader === undefined) return no('it names no VM');
  if (!standAsListed(names, event)) return no('its list of VMs cannot be read in full');
  const isUs = sameAs(vmName ?? '');
  if (isUs(leader)) return { approve: true, cause: event.eventType === 'Freeze' ? 'freeze' : 'user-initiated' };
  const others = names.filter((name) => !isUs(name));
  if (!others.every((name) => policy.onBehalfOf.some(sameAs(name)))) {
    return no('another VM is the first in its list, and not all others are in approve.onBehalfOf');
  }
  if (event.eventSource !== 'User') return no('no user requested it, so it is not approved on behalf of others');
  if (!(scheduledForMs >= 1000 * policy.onBehalfAfterSeconds)) {
    return no('the VMs in approve.onBehalfOf still have time to approve it themselves');
  }
  return { approve: true, cause: onBehalfOf + others.join(',') };
}

const sameAs =
  (name: string) =>
  (other: string): boolean =>
    other.toLowerCase() === name.toLowerCase();

/**
 * Whether the names are the list of the entry, word by word. If an unreadable name was left out, or two
 * entries of one EventId were united, the first may not be the leader and the list not the whole truth. (The oldest
 * api-version puts `_` in front of each.)
 */
function standAsListed(names: readonly string[], { raw }: ScheduledEvent): boolean {
  const isOneOf = (listed: unknown): boolean => names.some((name) => listed === name || listed === `_${name}`);
  const lists = Object.values(raw).filter((list) => Array.isArray(list) && list.some(isOneOf)) as unknown[][];
  const isSame = (list: readonly unknown[]): boolean =>
    list.length === names.length && names.every((name, n) => list[n] === name || list[n] === `_${name}`);
  return lists.length > 0 && lists.every(isSame);
}

const onBehalfOf = 'on-behalf-of:';

/** The words of evidence in a cause: `on-behalf-of:web_1` for each name. */
export const evidenceIn = (cause: string): readonly string[] =>
  cause.startsWith(onBehalfOf)
    ? cause
        .slice(onBehalfOf.length)
        .split(',')
        .map((name) => onBehalfOf + name)
    : [];

/** The cause of an approval that an operator requested. */
export const byHand = 'by-hand';

/** What is approved without being asked, in words for an operator; null: nothing. */
export function approvalInWords(policy: ApprovalPolicy): string | null {
  const { userInitiated, freezeUpToSeconds, onBehalfOf: others, onBehalfAfterSeconds } = policy;
  const what = [
    ...(userInitiated ? ['reboots and redeploys that a user requested'] : []),
    ...(freezeUpToSeconds === null
      ? []
      : [`freezes of at most ${Math.min(freezeUpToSeconds, longestFreezeSeconds)} s`]),
  ];
  if (what.length === 0) return null;
  const whose = 'where this VM is the first that the event names';
  const instead = `; user-initiated events also on behalf of ${others.join(', ')}, after ${onBehalfAfterSeconds} s`;
  return `${what.join(', and ')}, ${whose}${userInitiated && others.length > 0 ? instead : ''}`;
}

import { createHash } from 'node:crypto';
import type { EventMemory, LifecycleState } from './state.ts';
import { endsVm } from './urgency.ts';

/** Whose events this VM publishes. */
export interface Scope {
  /** Share (0 to 1) of the other VMs' events that this VM publishes too: a VM that is down cannot report its own failure. */
  readonly witnessRate: number;
}

// assumption: imds-resource-names
/**
 * Is this VM named? Exact and case-insensitive on `compute.name`. Never the host name, never a part of the name: a VM
 * `web1` that takes `web10` for itself approves or reports another VM's reboot.
 */
export function affects(resources: readonly string[] | null, vmName: string): boolean {
  const name = vmName.toLowerCase();
  return (resources ?? []).some((resource) => resource.toLowerCase() === name);
}

// assumption: imds-group-flexible, imds-group-uniform
/** Is this VM sampled to report an event of others? The same answer each time, and evenly spread over VMs and events. */
export function isSampled(scope: Scope, vmId: string, eventId: string): boolean {
  if (scope.witnessRate <= 0) return false;
  const digest = createHash('sha256').update(`${vmId.toLowerCase()} ${eventId.toLowerCase()}`).digest();
  return digest.readUInt32BE(0) / 2 ** 32 < scope.witnessRate;
}

/**
 * Is an impact on this VM happening or due within `withinMs`? An open event that affects us and is Started, or
 * whose notBefore is that near, passed or unknown.
 */
export function impactWithin(state: LifecycleState, at: Date, withinMs: number): boolean {
  const isNear = ({ open, affectsUs, phase, last }: EventMemory): boolean =>
    open &&
    affectsUs &&
    (phase === 'Started' || last.notBefore === null || Date.parse(last.notBefore) - at.getTime() <= withinMs);
  return [...state.events.values()].some(isNear);
}

/** Nearly all events start within this time after their notBefore; the connection is not held for one that does not. */
const lateStartMs = 60_000;

/**
 * Is an event that affects this VM about to start: due within `withinMs`, or late by up to a minute? Not a Preempt or Terminate: their
 * warning is their first record, and what follows it is too late to act on.
 */
export function startDue(state: LifecycleState, at: Date, withinMs: number): boolean {
  const isDue = ({ open, affectsUs, phase, last }: EventMemory): boolean => {
    if (!open || !affectsUs || phase === 'Started' || endsVm(last.eventType)) return false;
    const leftMs = Date.parse(last.notBefore ?? '') - at.getTime();
    return leftMs <= withinMs && leftMs >= -lateStartMs;
  };
  return [...state.events.values()].some(isDue);
}

import type { EventState } from '../consumer/index.ts';
import type { Transition } from './transitions.ts';

/** Which transitions are shown. Whatever is not set restricts nothing; of several values, one has to match. Case does not matter. */
export interface TransitionFilter {
  /** Names of VMs that the event affects, or did. */
  readonly vms: readonly string[];
  /** The beginning of an EventId. */
  readonly event: string | null;
  readonly types: readonly string[];
  readonly phases: readonly string[];
}

const isSame = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
const isOneOf = (wanted: readonly string[], found: string | null): boolean =>
  wanted.length === 0 || wanted.some((one) => found !== null && isSame(one, found));

/** Whether an event is of interest, whatever happens to it. */
export function concernsEvent({ vms, event: wanted, types }: TransitionFilter, event: EventState): boolean {
  const names = [...event.named, ...event.views.filter(({ isAffected }) => isAffected).map(({ vm }) => vm)];
  const last = event.latest ?? event.end;
  return (
    (wanted === null || event.eventId.startsWith(wanted.toLowerCase())) &&
    (vms.length === 0 || names.some(({ name }) => isOneOf(vms, name))) &&
    isOneOf(types, last?.eventType ?? null)
  );
}

export const isShown = (filter: TransitionFilter, { phase, event }: Transition): boolean =>
  isOneOf(filter.phases, phase) && concernsEvent(filter, event);

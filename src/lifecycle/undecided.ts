import { isDeepStrictEqual } from 'node:util';
import { momentOf, type Observation, offsetOf, steadyOffset } from './observation.ts';
import { isPauseMeasured } from './pause.ts';
import type { HostEvidence, PollResult } from './scheduled-event.ts';
import type { LifecycleState } from './state.ts';

/**
 * Stores observations as long as the observer is unknown, to decide them later. Of equal ones in a row the first, the second and
 * the latest are kept: the second confirms the departures in the first, and the latest shows how long the state lasted.
 */
export function bufferUndecided(
  state: LifecycleState,
  poll: PollResult,
  { at: now, monotonicMs, host }: { readonly at: Date; readonly monotonicMs: number; readonly host: HostEvidence },
): LifecycleState {
  const last = state.undecided.at(-1);
  if (poll.kind === 'unavailable' || (poll.kind === 'unchanged' && !last)) return state;
  const { clockOffsetSeconds } = poll;
  const at = now.toISOString();
  const azureTime = poll.azureTime?.toISOString() ?? null;
  const measured = { at, monotonicMs, host, azureTime, clockOffsetSeconds, previousDocument: state.lastDocument };
  const withOffset = state.undecided.findLast((waiting) => waiting.clockOffsetSeconds !== null);
  const known = withOffset?.clockOffsetSeconds ?? state.clockOffsetSeconds;
  const lastDocument = momentOf(measured, steadyOffset(known, offsetOf(measured, known)));
  const after = { ...state, lastDocumentAt: at, lastDocument };
  const document = poll.kind === 'document' ? poll.document : last?.document;
  if (!document) return after;
  const newest: Observation = {
    ...measured,
    previousDocumentAt: state.lastDocumentAt,
    document,
    imdsApiVersion: poll.kind === 'document' ? poll.imdsApiVersion : (last?.imdsApiVersion ?? ''),
  };
  const [first, second, third] = state.undecided.slice(-3);
  const isLasting =
    first && second && third && [second, third, newest].every((observation) => repeats(observation, first));
  // Replaces an equal one: no bound can be exceeded.
  if (isLasting) return { ...after, undecided: [...state.undecided.slice(0, -1), newest] };
  return { ...after, undecided: withinBounds(state.undecided, newest) };
}

/** It shows the same document as the other one, and the machine measured nothing since the observation before. */
const repeats = ({ document, host }: Observation, other: Observation): boolean =>
  host.bootId === other.host.bootId &&
  host.physicalHost === other.host.physicalHost &&
  !isPauseMeasured(host) &&
  isDeepStrictEqual(document, other.document);

/** The most observations, and bytes of JSON, that are stored for an unknown observer. */
const undecidedBounds = { observations: 1000, bytes: 8 * 2 ** 20 } as const;

/**
 * Beyond the bounds the newest observation replaces those before it, but never the first, which shows how it began. After a
 * replacement the newest one has a gap before it.
 */
function withinBounds(waiting: readonly Observation[], newest: Observation): readonly Observation[] {
  const kept = [...waiting];
  const bytes = (): number => Buffer.byteLength(JSON.stringify([...kept, newest]));
  let isCut = false;
  while (kept.length > 1 && (kept.length >= undecidedBounds.observations || bytes() > undecidedBounds.bytes)) {
    kept.pop();
    isCut = true;
  }
  return [...kept, isCut ? { ...newest, previousDocumentAt: null, previousDocument: null } : newest];
}

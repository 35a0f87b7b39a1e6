import { isDeepStrictEqual } from 'node:util';
import { isoOf, momentOf, offsetOf, steadyOffset } from './observation.ts';
import { isPauseMeasured } from './pause.ts';
import type { HostEvidence, PollResult } from './scheduled-event.ts';
import type { LifecycleState, UndecidedDocument } from './state.ts';

/**
 * While the observer is unknown, looks are kept with all it takes to decide them later. Of looks that show and measured the same
 * the first, the second and the latest are: the second confirms what left with the first, and the latest says how long it lasted.
 */
export function bufferUndecided(
  state: LifecycleState,
  seen: PollResult,
  { at, monotonicMs, host }: { readonly at: Date; readonly monotonicMs: number; readonly host: HostEvidence },
): LifecycleState {
  const last = state.undecided.at(-1);
  if (seen.kind === 'unavailable' || (seen.kind === 'unchanged' && !last)) return state;
  const { azureTime, clockOffsetSeconds } = seen;
  const observation = { at, monotonicMs, host, azureTime, clockOffsetSeconds, previousDocument: state.lastDocument };
  const withOffset = state.undecided.findLast((waiting) => waiting.clockOffsetSeconds !== null);
  const known = withOffset?.clockOffsetSeconds ?? state.clockOffsetSeconds;
  const lastDocument = momentOf(observation, steadyOffset(known, offsetOf(observation, known)));
  const after = { ...state, lastDocumentAt: isoOf(at), lastDocument };
  const document = seen.kind === 'document' ? seen.document : last?.document;
  if (!document) return after;
  const newest: UndecidedDocument = {
    at: isoOf(at),
    monotonicMs,
    previousDocumentAt: state.lastDocumentAt,
    previousDocument: state.lastDocument,
    document,
    imdsApiVersion: seen.kind === 'document' ? seen.imdsApiVersion : (last?.imdsApiVersion ?? ''),
    azureTime: azureTime && isoOf(azureTime),
    clockOffsetSeconds,
    host,
  };
  const [first, second, third] = state.undecided.slice(-3);
  const isLasting =
    first && second && third && [second, third, newest].every((observation) => repeats(observation, first));
  // In the place of its like: no bound can be passed.
  if (isLasting) return { ...after, undecided: [...state.undecided.slice(0, -1), newest] };
  return { ...after, undecided: withinBounds(state.undecided, newest) };
}

/** It shows what the other one shows, and the machine measured nothing since the look before. */
const repeats = ({ document, host }: UndecidedDocument, other: UndecidedDocument): boolean =>
  host.bootId === other.host.bootId &&
  host.physicalHost === other.host.physicalHost &&
  !isPauseMeasured(host) &&
  isDeepStrictEqual(document, other.document);

/** At most so many documents, and so many bytes of JSON, wait for the observer. */
const undecidedBounds = { documents: 1000, bytes: 8 * 2 ** 20 } as const;

/**
 * When the room is used up the newest takes the place of those before it, but never of the first: how it all began is not
 * given up. What went is a gap for what comes after it.
 */
function withinBounds(waiting: readonly UndecidedDocument[], newest: UndecidedDocument): readonly UndecidedDocument[] {
  const kept = [...waiting];
  const bytes = (): number => Buffer.byteLength(JSON.stringify([...kept, newest]));
  let isCut = false;
  while (kept.length > 1 && (kept.length >= undecidedBounds.documents || bytes() > undecidedBounds.bytes)) {
    kept.pop();
    isCut = true;
  }
  return [...kept, isCut ? { ...newest, previousDocumentAt: null, previousDocument: null } : newest];
}

import { readDate } from '../http/wire-date.ts';

/** Azure's clock, from the `Date` header of an answer. */
export interface AzureTime {
  readonly azureTime: Date | null;
  /** Azure's clock minus ours, whole seconds; null if the answer took too long to measure it. */
  readonly clockOffsetSeconds: number | null;
}

/**
 * An answer with a longer round trip is ignored: it may have been dated at any time in between, and the error of the offset
 * would look like a clock that had stopped.
 */
const longestRoundTripMs = 1000;

// assumption: imds-date-header
/**
 * The header is cut to whole seconds, so half a second is added: without it a clock that is right would be called one second
 * ahead half of the time. Half the round trip is taken off our time of arrival: about then the answer was dated.
 */
export function readAzureTime(
  date: string | null,
  { arrivedAt, roundTripMs }: { readonly arrivedAt: Date; readonly roundTripMs: number },
): AzureTime {
  const readable = readDate(date);
  if (readable === null) return { azureTime: null, clockOffsetSeconds: null };
  const stamped = Date.parse(readable);
  const aheadMs = stamped + 500 - (arrivedAt.getTime() - roundTripMs / 2);
  const isPrecise = roundTripMs <= longestRoundTripMs;
  return { azureTime: new Date(stamped), clockOffsetSeconds: isPrecise ? Math.round(aheadMs / 1000) + 0 : null };
}

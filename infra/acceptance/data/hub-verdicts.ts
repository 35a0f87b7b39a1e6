type Decision = 'proven' | 'refuted' | null;

/** What the bridge makes of a failure (`src/azure/errors.ts`); null where there was none. */
type Refusal = { readonly cause: string; readonly code: string } | null;

/**
 * On a hub that does not exist. Null for a connection that broke, or an answer that did not come, and for a missing right, which may be
 * verified before the name: none of them is a decision about the name.
 */
export function verdictOnName(refusal: Refusal): Decision {
  if (refusal?.cause === 'transient' || refusal?.code === 'unauthorized') return null;
  return refusal?.code === 'not-found' ? 'proven' : 'refuted';
}

/**
 * On one reader more than a partition takes.
 *
 * @param refused number of each reader that was refused, and the code: `6 too-many-readers`. Null if one has another code, which says
 * nothing about the number of readers
 */
export function verdictOnReaders(refused: readonly string[], readers: number): Decision {
  if (refused.some((one) => !one.endsWith(' too-many-readers'))) return null;
  return refused.length === 1 && refused[0] === `${readers} too-many-readers` ? 'proven' : 'refuted';
}

/** On a namespace that refused a message, and accepted one again after this number of seconds. Null if it did not refuse for the load. */
export function verdictOnThrottling(refusal: Refusal, seconds: number): Decision {
  if (refusal?.cause === 'transient') return null;
  return refusal?.code === 'server-busy' && seconds <= 30 ? 'proven' : 'refuted';
}

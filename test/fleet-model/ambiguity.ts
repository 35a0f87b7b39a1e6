import type { LifecycleRecord } from './observer.ts';

/** Words by which a record says that its pause or outage may be another event's. */
const ambiguityEvidence: readonly string[] = ['impact-ambiguous'];

export const isAmbiguous = ({ evidence }: LifecycleRecord): boolean =>
  evidence.some((word) => ambiguityEvidence.includes(word));

import type { LifecycleRecord } from './observer.ts';

/** Words by which a record says that its pause or outage may be another event's. */
const ambiguityWords: readonly string[] = ['impact-ambiguous'];

export const saysAmbiguous = ({ evidence }: LifecycleRecord): boolean =>
  evidence.some((word) => ambiguityWords.includes(word));

import type { MutantAt } from './mutants.ts';

/** A mutant that no unit test can see, mostly because it behaves as the original. */
export interface Equivalent extends Pick<MutantAt, 'file' | 'original' | 'replacement'> {
  readonly reason: string;
}

export const equivalents: readonly Equivalent[] = [
  {
    file: 'src/lifecycle/impact.ts',
    original: 'time !== null',
    replacement: 'true',
    reason: 'sort() compares null as "null", which is behind every ISO time',
  },
  {
    file: 'src/lifecycle/undecided.ts',
    original: 'last?.document',
    replacement: 'last.document',
    reason: 'a poll without a document has returned before where nothing is buffered',
  },
  {
    file: 'src/lifecycle/undecided.ts',
    original: 'last?.imdsApiVersion',
    replacement: 'last.imdsApiVersion',
    reason: 'a poll without a document has returned before where nothing is buffered',
  },
  {
    file: 'src/relay/batch.ts',
    original: 'request.slots > 0',
    replacement: 'true',
    reason: 'without a slot the loop ends before it takes an event',
  },
  {
    file: 'src/relay/batch.ts',
    original: 'request.slots > 0',
    replacement: 'request.slots >= 0',
    reason: 'without a slot the loop ends before it takes an event',
  },
  {
    file: 'src/relay/batch.ts',
    original: 'eventKey === lead',
    replacement: 'false',
    reason: 'the leader of a mixed batch is ready and not taken, so the other condition holds for it too',
  },
  {
    file: 'src/relay/shorten.ts',
    original: 'kept.characters + marker.length',
    replacement: 'kept.characters - marker.length',
    reason: 'a text that gets no shorter by this is left as it is by the comparison of lengths',
  },
  {
    file: 'src/relay/relay.ts',
    original: "'result-arrived'",
    replacement: '""',
    reason: 'the name of a fault point, which only npm run faults uses',
  },
  {
    file: 'src/relay/delivery-tracker.ts',
    original: "'dead-letter'",
    replacement: '""',
    reason: 'the name of a fault point, which only npm run faults uses',
  },
];

export const isListed = (equivalent: Equivalent, mutant: MutantAt): boolean =>
  equivalent.file === mutant.file &&
  equivalent.original === mutant.original &&
  equivalent.replacement === mutant.replacement;

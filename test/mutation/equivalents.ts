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
    file: 'src/outbox/store/state-store.ts',
    original: 'next.events !== stored.events',
    replacement: 'true',
    reason: 'only saves the comparison of what is equal',
  },
  {
    file: 'src/outbox/store/salvage.ts',
    original: 'Math.max(front.last ?? 0, 0)',
    replacement: 'Math.min(front.last ?? 0, 0)',
    reason: 'reads the rows before the first bad page once more',
  },
  {
    file: 'src/outbox/store/deliveries.ts',
    original: "'in-settle'",
    replacement: '""',
    reason: 'the name of a fault point, which only npm run faults uses',
  },
  {
    file: 'src/outbox/store/disk.ts',
    original: "'before-position-mark'",
    replacement: '""',
    reason: 'the name of a fault point, which only npm run faults uses',
  },
  {
    file: 'src/outbox/durable-outbox.ts',
    original: '{ limit: 1 }',
    replacement: '{}',
    reason: 'only whether there are any counts, so the limit only saves time',
  },
  {
    file: 'src/outbox/store/salvage.ts',
    original: "'ASC'",
    replacement: '""',
    reason: 'the default of SQL',
  },
  {
    file: 'src/outbox/store/state-store.ts',
    original: 'next.undecided === stored.undecided',
    replacement: 'false',
    reason: 'only saves the comparison of what is equal',
  },
  {
    file: 'src/outbox/store/disk.ts',
    original: '(attempt(() => this.#quota.prune(file, remedies)) ?? 0) > 0',
    replacement: '(attempt(() => this.#quota.prune(file, remedies)) ?? 0) >= 0',
    reason: 'what found no space is tried up to three times more, and finds none',
  },
  {
    file: 'src/relay/relay.ts',
    original: 'this.#slots() > 0',
    replacement: 'this.#slots() >= 0',
    reason: 'what is loaded without a slot is loaded at the next pass otherwise, within the same bounds',
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
    file: 'src/relay/backlog.ts',
    original: 'queues.has(eventKey)',
    replacement: 'true',
    reason: 'the event is then loaded by its name, which only takes memory for each new event',
  },
  {
    file: 'src/relay/backlog.ts',
    original: 'position <= comparedUpTo',
    replacement: 'position < comparedUpTo',
    reason: 'the record at this position is among those that were found',
  },
  {
    file: 'src/relay/backlog.ts',
    original: 'others',
    replacement: 'false',
    reason: 'the next load forgets the event all the same; until then it only takes memory',
  },
  {
    file: 'src/relay/backlog.ts',
    original: 'rest.length === 0',
    replacement: 'false',
    reason: 'an event that is complete is queried once more, which finds nothing',
  },
  {
    file: 'src/relay/backlog.ts',
    original: 'queues.get(eventKey)?.filter',
    replacement: 'queues.get(eventKey).filter',
    reason: 'only deliveries that are held are removed; the types do not say so',
  },
  {
    file: 'src/relay/batch.ts',
    original: '[]',
    replacement: '["Stryker was here"]',
    reason: 'every event that has its turn has a queue; the types do not say so',
  },
  {
    file: 'src/relay/delivery-tracker.ts',
    original: "batch.length === 1 && result.kind === 'rejected'",
    replacement: 'true',
    reason: 'several records are halved without this, and no other result has the cause `too-large`',
  },
  {
    file: 'src/relay/relay.ts',
    original: 'this.#slots() > 0',
    replacement: 'true',
    reason: 'what is loaded without a slot is loaded at the next pass otherwise, within the same bounds',
  },
  {
    file: 'src/relay/relay.ts',
    original: "'result-arrived'",
    replacement: '""',
    reason: 'the name of a fault point, which only npm run faults uses',
  },
  {
    file: 'src/relay/urgency.ts',
    original: 'a.position < b.position',
    replacement: 'a.position <= b.position',
    reason: 'no two records have one position',
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

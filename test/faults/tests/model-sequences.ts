import fc from 'fast-check';
import { mountSmallDisk, whyNoMount } from '../../outbox/small-disk.ts';
import type { FaultTest } from '../fault-test.ts';
import { Divergence } from '../model/model.ts';
import { type Played, play } from '../model/play.ts';
import { type Sequence, sequences } from '../model/steps.ts';
import { loadProduct } from '../model/world.ts';

const names = {
  crashes: 'crashes',
  damages: 'damaged files',
  full: 'full disks',
  deadLetters: 'dead letters',
  retried: 'dead letters retried',
  purged: 'deliveries purged',
  expired: 'deliveries expired',
  copies: 'copies',
} as const;

/** Compares the outbox and its relays with a model that is written from the documents, after each step of random sequences. */
export const modelSequences: FaultTest = {
  id: 'model-sequences',
  title:
    'random sequences of appends, answers, crashes, damage, full disks, jumps of the clock and requests of operators',
  kind: 'one process',
  cases: { quick: 100, full: 10_000 },
  load: { seconds: 30, processors: 0.5 },
  whyNot: () => {
    const reason = whyNoMount();
    return reason && `no file system can be mounted: ${reason}`;
  },
  async run(context) {
    const product = await loadProduct(context.sources);
    using small = mountSmallDisk(11);
    using large = mountSmallDisk(48);
    const total: Record<keyof Played, number> = {
      ...{ crashes: 0, damages: 0, full: 0, deadLetters: 0, retried: 0, purged: 0, expired: 0 },
      ...{ copies: 0, allowedCopies: 0, samples: 0, imbalances: 0 },
    };
    let runs = 0;
    let lost = 0;
    const details = await fc.check(
      fc.asyncProperty(sequences, async (sequence: Sequence) => {
        if (context.signal.aborted) return;
        try {
          const played = await play(sequence, product, { small, large });
          for (const [name, count] of Object.entries(played)) total[name as keyof Played] += count;
        } catch (error) {
          lost = error instanceof Divergence ? error.lost : 0;
          throw error;
        }
        runs += 1;
        if (runs % 1000 === 0) context.say(`${runs} sequences`);
      }),
      {
        numRuns: context.cases,
        seed: context.seed,
        interruptAfterTimeLimit: 3 * 3_600_000,
        markInterruptAsFailure: true,
      },
    );
    const { aborted } = context.signal;
    const least = aborted ? runs : context.cases;
    return {
      ...(aborted && { played: runs }),
      lost,
      duplicated: { found: total.copies, allowed: total.allowedCopies },
      happened: [
        { what: 'sequences', count: runs, least },
        ...Object.entries(names).map(([name, what]) => {
          return { what, count: total[name as keyof Played], least: Math.floor(least / 50) };
        }),
      ],
      worst: null,
      // Each sequence ends with one.
      freshArrived: !details.failed,
      conservation: { samples: total.samples, violations: total.imbalances },
      broken: details.failed ? [`${details.errorInstance}\n${fc.defaultReportMessage(details)}`] : [],
    };
  },
};

import fc from 'fast-check';

export const sinkNames = ['hub', 'table', 'stdout'] as const;

/** How a destination behaves from now on. `takes-then-fails`: it stores the batch, and its confirmation is lost. */
export const moods = ['delivers', 'fails', 'throttles', 'forbids', 'refuses-all', 'takes-then-fails'] as const;
export type Mood = (typeof moods)[number];

export const damages = ['page', 'log-bit', 'empty', 'log-removed'] as const;
export type Damage = (typeof damages)[number];

export interface Append {
  readonly eventId: string;
  readonly count: number;
  /** Of the description; over 256 KB in all, an append takes several transactions. */
  readonly kilobytes: number;
  readonly open: boolean;
  readonly isUrgent: boolean;
  /** The destinations refuse the first of these records, whenever it comes. */
  readonly refused: 'none' | 'poison' | 'too-large';
}

export type Step =
  | ({ readonly do: 'append' } & Append)
  /** The process is killed while the append runs, after this many turns of the event loop. */
  | ({ readonly do: 'crash in append'; readonly turns: number } & Append)
  | { readonly do: 'sink'; readonly sink: number; readonly mood: Mood; readonly answerMs: number }
  /** The destinations take from now on what they refused. */
  | { readonly do: 'accept refused' }
  | { readonly do: 'retry' | 'purge dead' | 'purge pending'; readonly sink: number }
  /** `taken`: what was in flight has reached the destination. */
  | { readonly do: 'crash' | 'restart'; readonly taken: boolean }
  | { readonly do: 'restart smaller'; readonly maxMegabytes: number; readonly isDiskFull: boolean }
  | { readonly do: 'configure'; readonly sinks: readonly string[] }
  | { readonly do: 'damage'; readonly damage: Damage; readonly where: number }
  | { readonly do: 'fill disk'; readonly freeKilobytes: number }
  | { readonly do: 'empty disk' | 'maintain' }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'step clock'; readonly ms: number };

export interface Sequence {
  /** `large` has room for the reserve, and its bound exceeds what is written. */
  readonly disk: 'small' | 'large';
  readonly steps: readonly Step[];
}

const minute = 60_000;
const day = 24 * 60 * minute;

const append = (kilobytes: fc.Arbitrary<number>) => ({
  eventId: fc.constantFrom('A', 'B', 'C', 'D'),
  count: fc.integer({ min: 1, max: 3 }),
  kilobytes,
  open: fc.boolean(),
  isUrgent: fc.boolean(),
  refused: fc.constantFrom('none', 'none', 'none', 'none', 'poison', 'too-large'),
});

const sink = fc.nat(2);

/** Each with its weight. */
const stepsWith = (kilobytes: fc.Arbitrary<number>): fc.Arbitrary<Step> => {
  const weighted = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary });
  const one = (name: Step['do'], rest: Record<string, fc.Arbitrary<unknown>> = {}) =>
    fc.record({ do: fc.constant(name), ...rest }) as unknown as fc.Arbitrary<Step>;
  return fc.oneof(
    weighted(14, one('append', append(kilobytes))),
    weighted(
      7,
      one('sink', { sink, mood: fc.constantFrom('delivers', ...moods), answerMs: fc.constantFrom(0, 0, 700, 20_000) }),
    ),
    weighted(6, one('wait', { ms: fc.constantFrom(100, 5_000, 60_000, 20 * minute) })),
    weighted(3, one('crash', { taken: fc.boolean() })),
    weighted(2, one('restart', { taken: fc.boolean() })),
    weighted(2, one('restart smaller', { maxMegabytes: fc.integer({ min: 1, max: 3 }), isDiskFull: fc.boolean() })),
    weighted(2, one('retry', { sink })),
    weighted(1, one('purge dead', { sink })),
    weighted(1, one('purge pending', { sink })),
    weighted(2, one('maintain')),
    weighted(1, one('accept refused')),
    weighted(1, one('configure', { sinks: fc.subarray([...sinkNames], { minLength: 1 }) })),
    weighted(1, one('damage', { damage: fc.constantFrom(...damages), where: fc.nat(1_000_000) })),
    weighted(2, one('fill disk', { freeKilobytes: fc.constantFrom(0, 0, 64, 300) })),
    weighted(3, one('empty disk')),
    weighted(
      2,
      one('step clock', { ms: fc.constantFrom(...[3_600_000, day, 8 * day, 365 * day].flatMap((ms) => [ms, -ms])) }),
    ),
    weighted(
      1,
      one('crash in append', {
        ...append(fc.constantFrom(1, 40)),
        count: fc.integer({ min: 5, max: 15 }),
        turns: fc.nat(4),
      }),
    ),
  );
};

/** With small records nothing is ever discarded for lack of room; with large ones the bound of the outbox is reached. */
export const sequences: fc.Arbitrary<Sequence> = fc.oneof(
  { weight: 4, arbitrary: sequenceOf('small', fc.constant(0)) },
  { weight: 2, arbitrary: sequenceOf('small', fc.constantFrom(0, 20, 40, 60, 120)) },
  { weight: 2, arbitrary: sequenceOf('large', fc.constantFrom(0, 60, 120)) },
);

function sequenceOf(disk: Sequence['disk'], kilobytes: fc.Arbitrary<number>): fc.Arbitrary<Sequence> {
  return fc.record({
    disk: fc.constant(disk),
    steps: fc.array(stepsWith(kilobytes), { minLength: 5, maxLength: 30, size: 'max' }),
  });
}

/** A stream of numbers that a seed determines, so that any world can be shown again. */
export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number, both bounds included. */
  int(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
  /** Each with its probability, in their order. */
  some<T>(choices: readonly T[], probability: number): T[];
}

/** mulberry32: 32 bits of state are enough for worlds that draw a few hundred numbers. */
export function createRandom(seed: number): Random {
  let state = Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (choices) => {
      const choice = choices[int(0, choices.length - 1)];
      if (choice === undefined) throw new Error('nothing to pick from');
      return choice;
    },
    some: (choices, probability) => choices.filter(() => next() < probability),
  };
}

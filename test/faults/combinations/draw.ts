import type { Random } from '../../fleet-model/random.ts';

/**
 * What a combination is drawn from: the values of each dimension, the plainest first. A test that fails is repeated with plainer values, as
 * long as it still fails.
 */
export const dimensions = {
  /** What waits for a sink when the first process ends. `full`: as much as the outbox may hold. */
  backlog: ['nothing', 'a record', 'a large record', 'over a thousand', 'a full outbox'],
  /** How each process but the last one ends. `in flight`: by SIGKILL while a batch is under way. */
  end: ['not at all', 'SIGTERM', 'SIGKILL', 'in flight', 'at a fault point', 'in maintenance'],
  restarts: [1, 2, 3],
  /** The free space from the first restart on, of which the outbox may take 5 %, in proportion to what is stored then. */
  room: ['ample', 'just enough', 'used up', 'less than stored'],
  /** What the wall clock does at the first restart. */
  clock: ['steady', 'forward', 'backward'],
  /** Until everything is healed. */
  hub: ['up', 'slow', 'throttling', 'down', 'loses answers', 'refuses a record'],
  table: ['up', 'slow', 'throttling', 'down', 'loses answers', 'refuses a record'],
  /** What happens to the state directory after the first restart. */
  directory: ['stays', 'moved', 'full', 'read-only'],
  /** Announced by each process after the first one. */
  events: ['none', 'some', 'many'],
} as const;

export type Dimension = keyof typeof dimensions;
export type Combination = { readonly [Name in Dimension]: (typeof dimensions)[Name][number] };
type Draft = { -readonly [Name in Dimension]?: Combination[Name] };

const names = Object.keys(dimensions) as Dimension[];

/** First combinations in which each value of a dimension meets each value of every other one, then random ones. */
export function drawCombinations(random: Random, count: number): readonly Combination[] {
  const missing = new Set(
    names.flatMap((a, index) =>
      names.slice(index + 1).flatMap((b) => dimensions[a].flatMap((x) => dimensions[b].map((y) => pairOf(a, x, b, y)))),
    ),
  );
  const drawn: Combination[] = [];
  while (drawn.length < count) {
    // Of some random ones, that with most pairs that were missing.
    const tries = Array.from({ length: missing.size > 0 ? 40 : 1 }, () => greedy(random, missing));
    const best = tries.reduce((a, b) => (newIn(a, missing) >= newIn(b, missing) ? a : b));
    for (const pair of pairsOf(best)) missing.delete(pair);
    drawn.push(best);
  }
  return drawn;
}

/** How many pairs of values none of these has. */
export function pairsWithout(combinations: readonly Combination[]): number {
  const found = new Set(combinations.flatMap(pairsOf)).size;
  const sizes = names.map((name) => dimensions[name].length);
  const all = sizes.reduce((sum, a, index) => sum + sizes.slice(index + 1).reduce((more, b) => more + a * b, 0), 0);
  return all - found;
}

/** The same combination with one value that is plainer, in each way. */
export const plainer = (combination: Combination): readonly Combination[] =>
  names.flatMap((name) => {
    const values: readonly unknown[] = dimensions[name];
    return values.slice(0, values.indexOf(combination[name])).map((value) => ({ ...combination, [name]: value }));
  });

export const described = (combination: Combination): string =>
  names.map((name) => `${name}: ${combination[name]}`).join('; ');

/** Dimensions in random order, each with the value that adds most missing pairs to those chosen so far. */
function greedy(random: Random, missing: ReadonlySet<string>): Combination {
  const order = names.map((name) => ({ name, at: random.next() })).toSorted((a, b) => a.at - b.at);
  const draft: Draft = {};
  for (const { name } of order) {
    const values: readonly (string | number)[] = dimensions[name];
    const gains = values.map((value) => {
      const added = Object.entries(draft).filter(([other, chosen]) =>
        missing.has(pairOf(name, value, other as Dimension, chosen)),
      );
      return { value, gain: added.length + random.next() / 2 };
    });
    const best = gains.reduce((a, b) => (a.gain >= b.gain ? a : b));
    Object.assign(draft, { [name]: best.value });
  }
  return draft as Combination;
}

const newIn = (combination: Combination, missing: ReadonlySet<string>): number =>
  pairsOf(combination).filter((pair) => missing.has(pair)).length;

const pairsOf = (combination: Combination): string[] =>
  names.flatMap((a, index) => names.slice(index + 1).map((b) => pairOf(a, combination[a], b, combination[b])));

/** The same for both orders. */
function pairOf(a: Dimension, x: string | number, b: Dimension, y: string | number): string {
  const parts = [`${a}=${x}`, `${b}=${y}`];
  return (names.indexOf(a) < names.indexOf(b) ? parts : parts.reverse()).join(' ');
}

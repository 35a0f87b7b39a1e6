/** Thrown where the engine does not know what Kusto would answer: a refusal is right, a guess is not. */
export class Unsupported extends Error {}

/** Refuses the query, saying why. */
export function unsupported(why: string): never {
  throw new Unsupported(why);
}

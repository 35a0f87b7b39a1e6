import { expect, test } from 'vitest';
import { inWords, type Look, tell } from './story.ts';

/** One row of the phase table: what was seen, look by look, and the records that it makes, in words. */
export interface Case {
  readonly name: string;
  readonly seen: readonly Look[];
  readonly records: readonly string[];
}

/** Each case a test; positions never have a gap. */
export function play(cases: readonly Case[]): void {
  test.each(cases)('$name', ({ seen, records }) => {
    const told = tell(seen);
    expect(inWords(told.records)).toEqual(records);
    expect(told.records.map(({ position }) => position)).toEqual(told.records.map((_, n) => n + 1));
  });
}

/** The same look so many times, a second apart. */
export const seconds = (n: number, look: Look): Look[] => Array.from({ length: n }, () => look);

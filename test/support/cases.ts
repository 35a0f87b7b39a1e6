import { expect, test } from 'vitest';
import { type ObservationSpec, observe, phaseLines } from './observations.ts';

/** One row of the phase table: what was observed, poll by poll, and the records that it makes, in words. */
export interface Case {
  readonly name: string;
  readonly seen: readonly ObservationSpec[];
  readonly records: readonly string[];
}

/** Each case a test; positions never have a gap. */
export function play(cases: readonly Case[]): void {
  test.each(cases)('$name', ({ seen, records }) => {
    const result = observe(seen);
    expect(phaseLines(result.records)).toEqual(records);
    expect(result.records.map(({ position }) => position)).toEqual(result.records.map((_, n) => n + 1));
  });
}

/** The same observation this many times, a second apart. */
export const seconds = (n: number, observation: ObservationSpec): ObservationSpec[] =>
  Array.from({ length: n }, () => observation);

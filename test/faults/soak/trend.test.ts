import { expect, test } from 'vitest';
import { growthOf, type SoakHoldings, type SoakSample, slopePerHour } from './trend.ts';

const at = (...pairs: readonly (readonly [hours: number, value: number])[]) =>
  pairs.map(([hours, value]) => ({ hours, value }));

test('a figure that rises by 2 in half an hour rises by 4 in an hour', () => {
  expect(slopePerHour(at([0, 10], [0.5, 12]))).toBeCloseTo(4);
});

// Calculated without a program: means 1.5 and 3.5, sum of products 4.5, sum of squares 5.
test('of scattered figures it is the line of least squares', () => {
  expect(slopePerHour(at([0, 2], [1, 3], [2, 4.5], [3, 4.5]))).toBeCloseTo(0.9);
});

test('one moment shows no trend', () => {
  expect(slopePerHour(at([1, 5]))).toBeNaN();
});

interface Figures {
  readonly residentMb?: number;
  readonly descriptors?: number;
  readonly heapMb?: number;
  readonly listeners?: number;
  readonly timers?: number;
}

/** A run of one process with these figures, in equal pauses. */
function growthIn(runHours: number, figures: readonly Figures[]): readonly string[] {
  const hoursOf = (index: number): number => (runHours * (index + 1)) / figures.length;
  const samples = figures.map(
    ({ residentMb = 150, descriptors = 90 }, index): SoakSample => ({
      hours: hoursOf(index),
      residentMb,
      anonymousMb: 100,
      cpuMs: 0,
      descriptors,
      processes: 1,
      stateMb: 5,
    }),
  );
  const holdings = figures.map(
    ({ heapMb = 13, listeners = 170, timers = 5 }, index): SoakHoldings => ({
      hours: hoursOf(index),
      processes: [{ heapMb, listeners, resources: { Timeout: timers } }],
    }),
  );
  return growthOf(samples, holdings);
}

// The counts of a sender in an hour of 2026-11-23: the connections that faults broke are in four of them, the last one too.
test('listeners and timers of connections that are gone soon are no leak', () => {
  const listeners = [170, 254, 170, 170, 312, 226, 338];
  const timers = [5, 8, 5, 5, 6, 7, 11];
  const figures = listeners.map((count, index) => ({ listeners: count, timers: timers[index] ?? 0 }));
  expect(growthIn(1, figures)).toEqual([]);
});

test('what never goes is found, even below what comes and goes', () => {
  const listeners = [170, 338, 190, 200, 338, 210, 220, 338];
  expect(
    growthIn(
      1,
      listeners.map((count) => ({ listeners: count })),
    ),
  ).toEqual(['listeners of the bridge: at least 210, 170 before']);
  expect(
    growthIn(
      1,
      [5, 7, 9, 10].map((timers) => ({ timers })),
    ),
  ).toEqual(['timers of the bridge: at least 9, 5 before']);
  expect(
    growthIn(
      1,
      [90, 98, 104, 111].map((descriptors) => ({ descriptors })),
    ),
  ).toEqual(['descriptors: at least 104, 90 before']);
});

test('a heap may grow by a megabyte an hour', () => {
  expect(
    growthIn(
      1,
      [12, 13, 13, 13.2].map((heapMb) => ({ heapMb })),
    ),
  ).toEqual([]);
  expect(
    growthIn(
      1,
      [12, 13, 13, 13.5].map((heapMb) => ({ heapMb })),
    ),
  ).toEqual(['the heap of the bridge grows by 2.0 MB an hour, at most 1']);
});

test('resident memory is judged from three hours on, by the second half', () => {
  const figures = [144, 155, 157, 161].map((residentMb) => ({ residentMb }));
  expect(growthIn(1, figures)).toEqual([]);
  expect(growthIn(4, figures)).toEqual(['resident memory grows by 4.0 MB an hour, at most 1']);
  expect(
    growthIn(
      4,
      [140, 160, 161, 161.5].map((residentMb) => ({ residentMb })),
    ),
  ).toEqual([]);
});

test('a run of one minute has no second half', () => {
  expect(growthIn(1 / 60, [{}])).toEqual([]);
  expect(growthIn(0, [])).toEqual([]);
});

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

const usual = { residentMb: 150, descriptors: 90, heapMb: 13, listeners: 170, timers: 5 };

/** What a run of one process reports that had these figures, in equal pauses, and usual ones otherwise. */
function growthIn(
  runHours: number,
  figures: Partial<Record<keyof typeof usual, readonly number[]>>,
): readonly string[] {
  const moments = Math.max(...Object.values(figures).map(({ length }) => length));
  const courses = Array.from({ length: moments }, (_, index) => {
    const figure = (name: keyof typeof usual): number => figures[name]?.[index] ?? usual[name];
    const hours = (runHours * (index + 1)) / moments;
    const rest = { anonymousMb: 100, cpuMs: 0, processes: 1, stateMb: 5 };
    const sample: SoakSample = {
      hours,
      residentMb: figure('residentMb'),
      descriptors: figure('descriptors'),
      ...rest,
    };
    const resources = { Timeout: figure('timers') };
    const process = { heapMb: figure('heapMb'), listeners: figure('listeners'), resources };
    return { sample, holdings: { hours, processes: [process] } satisfies SoakHoldings };
  });
  return growthOf(
    courses.map(({ sample }) => sample),
    courses.map(({ holdings }) => holdings),
  );
}

// The counts of a sender in an hour of 2026-11-23: the connections that faults broke are in four of them, the last one too.
test('listeners and timers of connections that are gone soon are no leak', () => {
  const listeners = [170, 254, 170, 170, 312, 226, 338];
  const timers = [5, 8, 5, 5, 6, 7, 11];
  expect(growthIn(1, { listeners, timers })).toEqual([]);
});

test('what never goes is found, even below what comes and goes', () => {
  expect(growthIn(1, { listeners: [170, 338, 190, 200, 338, 210, 220, 338] })).toEqual([
    'listeners of the bridge: at least 210, 170 before',
  ]);
  expect(growthIn(1, { timers: [5, 7, 9, 10] })).toEqual(['timers of the bridge: at least 9, 5 before']);
  expect(growthIn(1, { descriptors: [90, 98, 104, 111] })).toEqual(['descriptors: at least 104, 90 before']);
});

test('a heap may grow by a megabyte an hour', () => {
  expect(growthIn(1, { heapMb: [12, 13, 13, 13.2] })).toEqual([]);
  expect(growthIn(1, { heapMb: [12, 13, 13, 13.5] })).toEqual([
    'the heap of the bridge grows by 2.0 MB an hour, at most 1',
  ]);
});

test('resident memory is judged from three hours on, by the second half', () => {
  const residentMb = [144, 155, 157, 161];
  expect(growthIn(1, { residentMb })).toEqual([]);
  expect(growthIn(4, { residentMb })).toEqual(['resident memory grows by 4.0 MB an hour, at most 1']);
  expect(growthIn(4, { residentMb: [140, 160, 161, 161.5] })).toEqual([]);
});

test('a sender that starts after the first count is judged as well', () => {
  const bridge = { heapMb: 13, listeners: 170, resources: {} };
  const counts = [null, 100, 100, 100, 150, 160, 170];
  const holdings = counts.map((listeners, index) => ({
    hours: index / 60,
    processes: [bridge, ...(listeners === null ? [] : [{ ...bridge, listeners }])],
  }));
  expect(growthOf([], holdings)).toEqual(['listeners of sender 1: at least 150, 100 before']);
});

test('a run of one minute has no second half', () => {
  expect(growthIn(1 / 60, { timers: [5] })).toEqual([]);
  expect(growthOf([], [])).toEqual([]);
});

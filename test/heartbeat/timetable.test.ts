import { expect, test } from 'vitest';
import { timetable } from '../../src/heartbeat/timetable.ts';

const hour = 3_600_000;
/** In minutes. */
function first(count: number, random: () => number): number[] {
  const times = timetable(hour, random);
  return Array.from({ length: count }, () => Math.round(times.next().value / 60_000));
}

test.for([
  { name: 'a VM with the short timetable sends at its start, then every hour', random: 0, minutes: [0, 0, 60, 120] },
  { name: 'a patient one is never more than an hour silent', random: 0.9999, minutes: [1, 61, 121, 181] },
])('$name', ({ random, minutes }) => {
  expect(first(4, () => random)).toEqual(minutes);
});

test('a fleet that started at the same time is spread over the hour', () => {
  let vm = 0;
  const phases = Array.from({ length: 60 }, () => {
    vm += 1;
    const [, second = 0] = first(2, () => vm / 61);
    return second;
  });
  expect(new Set(phases).size).toBeGreaterThan(55);
});

import { expect, test } from 'vitest';
import { copiesByPoint } from './copies.ts';

test('a copy is due to the first crash after the arrival before it', () => {
  const crashes = [
    { point: 'before-send', at: 1000 },
    { point: 'before-settle', at: 3000 },
    { point: 'in-settle', at: 4000 },
  ];
  const arrivals = [
    { recordId: 'a', at: 2000 },
    { recordId: 'b', at: 3200 },
    { recordId: 'a', at: 5000 },
    { recordId: 'c', at: 5100 },
    { recordId: 'c', at: 5200 },
    { recordId: 'b', at: 3600 },
    { recordId: 'b', at: 6000 },
  ];
  expect(Object.fromEntries(copiesByPoint(arrivals, crashes))).toEqual({ 'before-settle': 2, 'in-settle': 1, none: 1 });
});

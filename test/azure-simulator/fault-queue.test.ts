import { expect, test } from 'vitest';
import { createFaultQueue } from '../../src/azure-simulator/fault-queue.ts';

test('a fault is played the requested number of times, or until it is cleared or replaced', () => {
  const faults = createFaultQueue<string>();
  expect(faults.take()).toBeNull();
  faults.set('twice', 2);
  expect([faults.take(), faults.take(), faults.take()]).toEqual(['twice', 'twice', null]);
  expect(faults.played).toBe(2);
  faults.set('for ever');
  expect([faults.take(), faults.take()]).toEqual(['for ever', 'for ever']);
  faults.set('instead', 1);
  expect(faults.take()).toBe('instead');
  faults.set('cleared');
  faults.set(null);
  expect(faults.take()).toBeNull();
});

test('an occasion that a fault does not fit does not use it up', () => {
  const faults = createFaultQueue<string>();
  faults.set('on attach', 1);
  expect(faults.take((fault) => fault === 'on transfer')).toBeNull();
  expect(faults.take((fault) => fault === 'on attach')).toBe('on attach');
  expect(faults.take()).toBeNull();
});

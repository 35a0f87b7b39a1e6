import { expect, test } from 'vitest';
import { createUrgency } from '../../src/relay/urgency.ts';

const own = (position: number) => ({ position, isOwn: true });
const others = (position: number) => ({ position, isOwn: false });

test('an urgent record makes its event due at once, and first until it is settled', () => {
  const urgency = createUrgency();
  urgency.note('a', own(3));
  expect([...urgency.due(0)]).toEqual(['a']);
  urgency.tried(['a'], 0, true);
  expect([...urgency.due(60_000)]).toEqual([]);
  expect([...urgency.events()]).toEqual(['a']);
  urgency.settled('a', 3);
  expect([...urgency.events()]).toEqual([]);
});

test('a sink gets one attempt out of turn in 5 s, and the next event waits for the next one', () => {
  const urgency = createUrgency();
  urgency.note('a', own(1));
  urgency.tried(['a'], 1_000, true);
  urgency.note('b', own(2));
  expect([...urgency.due(5_999)]).toEqual([]);
  expect(urgency.dueAt()).toBe(6_000);
  expect([...urgency.due(6_000)]).toEqual(['b']);
});

test('an attempt in turn does not use up the attempt out of turn', () => {
  const urgency = createUrgency();
  urgency.note('a', own(1));
  urgency.tried(['a'], 1_000, false);
  urgency.note('b', own(2));
  expect([...urgency.due(1_001)]).toEqual(['b']);
});

test('another urgent record of an event is another attempt', () => {
  const urgency = createUrgency();
  urgency.note('a', own(1));
  urgency.tried(['a'], 0, true);
  urgency.note('a', own(5));
  expect([...urgency.due(5_000)]).toEqual(['a']);
});

test('earlier records of an urgent event leave it urgent', () => {
  const urgency = createUrgency();
  urgency.note('a', own(5));
  urgency.settled('a', 4);
  expect([...urgency.events()]).toEqual(['a']);
  urgency.settled('b', 9);
  expect([...urgency.events()]).toEqual(['a']);
});

test('of more events than a VM has at a time, those with the newest records are urgent', () => {
  const urgency = createUrgency();
  for (let n = 1; n <= 100; n += 1) urgency.note(`event-${n}`, own(n));
  urgency.note('event-1', own(101));
  urgency.note('another', own(102));
  expect(urgency.events().size).toBe(100);
  expect(['event-1', 'event-2', 'event-3', 'another'].filter((key) => urgency.events().has(key))).toEqual([
    'event-1',
    'event-3',
    'another',
  ]);
  expect([...urgency.due(0)].includes('event-2')).toBe(false);
});

test('events of other VMs wait rather than those of this one, however old', () => {
  const urgency = createUrgency();
  urgency.note('own', own(1));
  for (let n = 2; n <= 121; n += 1) urgency.note(`of another VM ${n}`, others(n));
  expect(urgency.events().size).toBe(100);
  expect([...urgency.due(0)]).toContain('own');
  urgency.note('own, new', own(122));
  expect([...urgency.due(0)]).toEqual(expect.arrayContaining(['own', 'own, new', 'of another VM 121']));
  expect(urgency.events().has('of another VM 23')).toBe(false);
});

test('the same record or an older one that is found later changes nothing', () => {
  const urgency = createUrgency();
  urgency.note('a', own(5));
  urgency.tried(['a'], 0, true);
  urgency.note('a', own(3));
  urgency.note('a', own(5));
  expect([...urgency.due(5_000)]).toEqual([]);
  urgency.settled('a', 3);
  expect([...urgency.events()]).toEqual(['a']);
});

test('nothing urgent is due at no time', () => {
  const urgency = createUrgency();
  expect(urgency.dueAt()).toBeNull();
  urgency.note('a', own(1));
  urgency.forget();
  expect(urgency.dueAt()).toBeNull();
  expect([...urgency.events()]).toEqual([]);
});

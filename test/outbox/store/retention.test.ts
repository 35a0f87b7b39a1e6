import { describe, expect, test } from 'vitest';
import {
  deliveredBounds,
  deliveredToDrop,
  eventsToExpire,
  excessBytes,
  fillOf,
  limitBytes,
  logBytes,
  memoryBounds,
  recordsToDiscard,
} from '../../../src/outbox/store/retention.ts';

const megabyte = 2 ** 20;

describe('the quota of the outbox', () => {
  const given = { maxMegabytes: 256, freeBytes: 1e12, ownBytes: 0, usedBytes: 0 };
  test.each([
    { case: 'what is configured, on a large disk', given, limit: 256 * megabyte },
    { case: '5 % of what is free', given: { ...given, freeBytes: 1000 * megabyte }, limit: 50 * megabyte },
    {
      case: 'no less after a restart that finds it grown',
      given: { ...given, freeBytes: 960 * megabyte, ownBytes: 40 * megabyte, usedBytes: 30 * megabyte },
      limit: 50 * megabyte,
    },
    { case: 'one megabyte on a disk that is nearly full', given: { ...given, freeBytes: megabyte }, limit: megabyte },
    {
      case: 'what is stored at 80 % of it, and the log, on a disk that others filled',
      given: { ...given, freeBytes: 100 * megabyte, ownBytes: 56 * megabyte, usedBytes: 56 * megabyte },
      limit: 74 * megabyte,
    },
    {
      case: 'what is configured, before what is stored would make it more',
      given: { ...given, maxMegabytes: 60, ownBytes: 48 * megabyte, usedBytes: 48 * megabyte },
      limit: 60 * megabyte,
    },
    {
      case: 'more than what is configured now, by no more than room for one more, where more is stored',
      given: { ...given, maxMegabytes: 16, ownBytes: 90 * megabyte, usedBytes: 90 * megabyte },
      limit: 104 * megabyte,
    },
  ])('is $case', ({ given: those, limit }) => {
    expect(limitBytes(those)).toBe(limit);
  });

  test.each([
    { content: 'up to the configured size as 80 %', maxMegabytes: 64, share: 0.8 },
    { content: 'above that as 90 %', maxMegabytes: 1, share: 0.9 },
  ])('on a full disk counts the present content $content', ({ maxMegabytes, share }) => {
    const usedBytes = 10 * 2 ** 20;
    const limit = limitBytes({ maxMegabytes, freeBytes: 0, ownBytes: usedBytes, usedBytes });
    expect(usedBytes / (limit - logBytes(limit))).toBeCloseTo(share, 3);
  });

  test('reserves space for the log', () => {
    expect([1, 16, 256].map((n) => logBytes(n * megabyte))).toEqual([megabyte / 8, 2 * megabyte, 4 * megabyte]);
  });

  test('has an alarm from 70 % until it is below 60 %', () => {
    const rings: boolean[] = [];
    let fill = null as ReturnType<typeof fillOf> | null;
    for (const bytes of [69, 70, 65, 60, 59, 65, 70]) {
      fill = fillOf({ bytes, limitBytes: 100 }, fill);
      rings.push(fill.isAlarming);
    }
    expect(rings).toEqual([false, true, true, true, false, false, true]);
  });

  test('requires pruning from 90 % down to 80 %, and for failed writes', () => {
    expect([0, 90, 91, 120].map((used) => excessBytes(used, 100))).toEqual([0, 0, 11, 40]);
    expect([50, 88, 91].map((used) => excessBytes(used, 100, 15))).toEqual([0, 3, 11]);
  });
});

describe('delivered records to drop', () => {
  const at = new Date('2026-03-10T00:00:00.000Z');
  const record = (position: number, daysAgo: number, bytes = 1) => ({
    position,
    bytes,
    appendedAt: new Date(at.getTime() - daysAgo * 24 * 3_600_000).toISOString(),
  });

  test.each([
    { case: 'none that are young and few', records: [record(1, 6)], excess: 0, dropped: [] },
    {
      case: 'those of more than a week',
      records: [record(1, 8), record(2, 7.01), record(3, 7)],
      excess: 0,
      dropped: [1, 2],
    },
    {
      case: 'the oldest beyond 16 MB',
      records: [record(1, 2, 10), record(2, 1, deliveredBounds.bytes - 5)],
      excess: 0,
      dropped: [1],
    },
    {
      case: 'the oldest when room is needed',
      records: [record(1, 2, 10), record(2, 1, 10), record(3, 1, 10)],
      excess: 15,
      dropped: [1, 2],
    },
  ])('delivered records are $case', ({ records, excess, dropped }) => {
    expect(deliveredToDrop(records, at, excess)).toEqual(dropped);
  });
});

describe('events to discard', () => {
  const event = (eventKey: string, lastPosition: number, isOpen = false) => ({
    eventKey,
    lastPosition,
    bytes: 10,
    isOpen,
  });

  test.each([
    { case: 'none without need', events: [event('a', 1)], excess: 0, given: [] },
    {
      case: 'that with the oldest end first',
      events: [event('a', 9), event('b', 3), event('c', 5)],
      excess: 11,
      given: ['b', 'c'],
    },
    { case: 'never an open one', events: [event('a', 1, true), event('b', 2)], excess: 1000, given: ['b'] },
  ])('complete events are $case', ({ events, excess, given }) => {
    expect(eventsToExpire(events, excess)).toEqual(given);
  });
});

describe('records in memory to discard', () => {
  const many = (count: number, from: number, eventKey: string, isDone = false, bytes = 1) =>
    Array.from({ length: count }, (_, n) => ({ position: from + n, eventKey, bytes, isDone }));
  const isOpen = (eventKey: string): boolean => eventKey.startsWith('open');

  test.each([
    { case: 'none within the bounds', records: many(memoryBounds.records, 1, 'ended'), given: [] },
    {
      case: 'first what every sink has',
      records: [...many(999, 1, 'ended'), ...many(3, 1000, 'open', true)],
      given: [1000, 1001],
    },
    {
      case: 'then the event that ended first',
      records: [...many(1, 1, 'late'), ...many(1, 2, 'early'), ...many(999, 3, 'open'), ...many(1, 1002, 'late')],
      given: [2, 1],
    },
    {
      case: 'at last the oldest of open events',
      records: [...many(1001, 1, 'open'), ...many(1, 1002, 'open-too')],
      given: [1, 2],
    },
    {
      case: 'by bytes, too',
      records: [...many(2, 1, 'ended', false, memoryBounds.bytes / 2), ...many(1, 3, 'open', false, 1)],
      given: [1],
    },
  ])('records in memory are $case', ({ records, given }) => {
    expect(recordsToDiscard(records, isOpen)).toEqual(given);
  });
});

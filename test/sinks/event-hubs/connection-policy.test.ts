import { describe, expect, test } from 'vitest';
import { type ConnectionFacts, jitterMs, mayWait, nextMove } from '../../../src/sinks/event-hubs/connection-policy.ts';
import { sampleRecord } from '../../support/sample-record.ts';

const at = new Date('2026-03-14T09:00:00.000Z');
const idle: ConnectionFacts = {
  connected: true,
  startDue: false,
  idleMs: 0,
  idleCloseMs: 60_000,
  sinceFailedOpenMs: null,
};

describe('between sends the connection', () => {
  const cases: { name: string; facts: Partial<ConnectionFacts>; move: string }[] = [
    { name: 'stays while something was sent lately', facts: { idleMs: 59_999 }, move: 'stay' },
    { name: 'is closed when nothing was sent for a while', facts: { idleMs: 60_000 }, move: 'close' },
    { name: 'stays open while a start is due, however idle', facts: { idleMs: 1e9, startDue: true }, move: 'stay' },
    { name: 'is opened for a start that is due', facts: { connected: false, startDue: true }, move: 'open' },
    { name: 'stays closed while no start is due', facts: { connected: false, idleMs: 1e9 }, move: 'stay' },
    {
      name: 'is not opened again right after that failed',
      facts: { connected: false, startDue: true, sinceFailedOpenMs: 29_999 },
      move: 'stay',
    },
    {
      name: 'is opened again some time after that failed',
      facts: { connected: false, startDue: true, sinceFailedOpenMs: 30_000 },
      move: 'open',
    },
  ];
  for (const { name, facts, move } of cases) {
    test(name, () => {
      expect(nextMove({ ...idle, ...facts })).toBe(move);
    });
  }
});

describe('a cold connection is waited for', () => {
  const far = { notBefore: '2026-03-14T12:00:00.000Z', observedAt: at.toISOString() };
  const cases: { name: string; records: Parameters<typeof sampleRecord>[0][]; waits: boolean }[] = [
    { name: 'by an event hours ahead', records: [far], waits: true },
    { name: 'by a cancel of an event hours ahead', records: [{ ...far, phase: 'Canceled' }], waits: true },
    {
      name: 'not by an event ten minutes ahead',
      records: [{ ...far, notBefore: '2026-03-14T09:10:00.000Z' }],
      waits: false,
    },
    { name: 'not by what has no known time', records: [{ ...far, notBefore: null }], waits: false },
    { name: 'not by what has started', records: [{ ...far, phase: 'Started' }], waits: false },
    { name: 'not by a preemption', records: [{ ...far, eventType: 'Preempt' }], waits: false },
    { name: 'not by a termination', records: [{ ...far, eventType: 'Terminate' }], waits: false },
    {
      name: 'not by an end, whose time has passed',
      records: [{ phase: 'Completed', notBefore: '2026-03-14T08:50:00.000Z' }],
      waits: false,
    },
    {
      name: 'not by a batch of which one record is pressing',
      records: [far, { ...far, phase: 'Started' }],
      waits: false,
    },
  ];
  for (const { name, records, waits } of cases) {
    test(name, () => {
      expect(mayWait(records.map(sampleRecord), at)).toBe(waits);
    });
  }

  test('for an evenly spread part of the allowed seconds', () => {
    expect([0, 0.25, 0.999].map((share) => jitterMs(120, () => share))).toEqual([0, 30_000, 119_880]);
  });
});

import { expect, test } from 'vitest';
import { nextEvent } from '../../src/heartbeat/next-event.ts';
import type { ScheduledEvent } from '../../src/lifecycle/scheduled-event.ts';
import { at, event, nothing, observe, started } from '../support/observations.ts';

const [today, tomorrow, friday] = [900, 86_400, 4 * 86_400];
const redeploy = (given: Partial<ScheduledEvent> = {}) =>
  event({ eventId: 'REDEPLOY', eventType: 'Redeploy', notBefore: at(friday), ...given });
const freeze = (given: Partial<ScheduledEvent> = {}) =>
  event({ eventId: 'FREEZE', eventType: 'Freeze', notBefore: at(tomorrow), ...given });

/** The last of these documents, each a list of events, is what the VM web_0 sees now. */
const cases: readonly { name: string; documents: readonly (readonly ScheduledEvent[])[]; next: string | null }[] = [
  { name: 'nothing is announced', documents: [[]], next: null },
  { name: 'one event', documents: [[redeploy()]], next: 'REDEPLOY' },
  { name: 'of two events the earlier one, in any order', documents: [[redeploy(), freeze()]], next: 'FREEZE' },
  {
    name: 'of two events at the same time the first by id',
    documents: [[redeploy(), freeze({ notBefore: at(friday) })]],
    next: 'FREEZE',
  },
  {
    name: 'an event that was brought forward overtakes',
    documents: [
      [redeploy(), freeze()],
      [redeploy({ notBefore: at(today) }), freeze()],
    ],
    next: 'REDEPLOY',
  },
  {
    name: 'an event that has started is no longer next',
    documents: [
      [redeploy(), freeze()],
      [redeploy(), started(freeze())],
    ],
    next: 'REDEPLOY',
  },
  {
    name: 'an event that has ended is no longer next',
    documents: [[redeploy(), freeze()], [redeploy()]],
    next: 'REDEPLOY',
  },
  { name: 'an event that was canceled leaves none', documents: [[redeploy()], []], next: null },
  { name: 'an event of another VM', documents: [[redeploy({ resources: ['web_7'] })]], next: null },
  { name: 'an event without a time from Azure', documents: [[redeploy({ notBefore: null })]], next: null },
];

test.each(cases)('the next event is right with $name', ({ documents, next }) => {
  const { state } = observe([nothing, ...documents.map((events) => ({ events }))], { witnessRate: 1 });
  expect(nextEvent(state)?.eventId ?? null).toBe(next);
});

test('the next event carries type, source and time', () => {
  const { state } = observe([nothing, { events: [redeploy({ eventSource: 'User' })] }]);
  expect(nextEvent(state)).toEqual({
    eventId: 'REDEPLOY',
    eventType: 'Redeploy',
    eventSource: 'User',
    notBefore: at(friday),
  });
});

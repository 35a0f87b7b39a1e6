import { describe, expect, test } from 'vitest';
import { createGroupDocument } from '../../../src/azure-simulator/imds/document.ts';

const freeze = { eventId: 'A', eventType: 'Freeze', resources: ['web_0'] };
const stepsOf = (document: ReturnType<typeof createGroupDocument>): string[] =>
  document.issued.map(({ eventId, step, incarnation }) => `${incarnation} ${eventId} ${step}`);

describe('the document of a placement group', () => {
  test('an event is announced with a date, loses it when it starts, keeps its id and leaves', () => {
    const document = createGroupDocument();
    expect(document.current).toEqual({ DocumentIncarnation: 1, Events: [] });
    document.schedule({ ...freeze, notBefore: new Date('2022-04-11T22:26:58Z') });
    expect(document.current).toMatchObject({
      DocumentIncarnation: 2,
      Events: [{ EventId: 'A', EventStatus: 'Scheduled', NotBefore: 'Mon, 11 Apr 2022 22:26:58 GMT' }],
    });
    document.start('a');
    expect(document.current).toMatchObject({
      DocumentIncarnation: 3,
      Events: [{ EventId: 'A', EventStatus: 'Started', NotBefore: '' }],
    });
    document.remove('A');
    expect(document.current).toEqual({ DocumentIncarnation: 4, Events: [] });
    expect(stepsOf(document)).toEqual(['2 A scheduled', '3 A started', '4 A removed']);
  });

  test('starting or removing twice issues nothing, and an unknown event cannot be updated', () => {
    const document = createGroupDocument();
    document.schedule(freeze);
    document.start('A');
    document.start('A');
    document.remove('A');
    document.remove('A');
    expect(document.current.DocumentIncarnation).toBe(4);
    expect(() => document.update('A', { durationSeconds: 9 })).toThrow('event A is not in the document');
  });

  test('several changes in one step show under one incarnation', () => {
    const document = createGroupDocument();
    document.schedule(freeze);
    document.change(() => {
      document.start('A');
      document.schedule({ ...freeze, eventId: 'B', status: 'Started' });
      document.schedule({ ...freeze, eventId: 'C' });
    });
    document.change((raw) => {
      raw.Events = raw.Events.filter(({ EventId }) => EventId !== 'B');
      raw.DocumentIncarnation += 5;
    });
    expect(stepsOf(document)).toEqual(['2 A scheduled', '3 A started', '3 B started', '3 C scheduled', '8 B removed']);
  });

  test('a change may keep the incarnation, set it back, or change nothing', () => {
    const document = createGroupDocument();
    document.schedule(freeze);
    document.change(() => document.update('A', { durationSeconds: 9 }), { sameIncarnation: true });
    expect(document.current).toMatchObject({ DocumentIncarnation: 2, Events: [{ DurationInSeconds: 9 }] });
    document.change((raw) => {
      raw.DocumentIncarnation = 1;
    });
    document.change(() => {});
    expect(document.current.DocumentIncarnation).toBe(1);
    expect(stepsOf(document)).toEqual(['2 A scheduled', '2 A updated']);
  });

  test('a returned document is a copy', () => {
    const document = createGroupDocument();
    document.schedule(freeze);
    document.current.Events.pop();
    expect(document.current.Events).toHaveLength(1);
  });
});

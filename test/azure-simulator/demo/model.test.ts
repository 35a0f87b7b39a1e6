import { describe, expect, test } from 'vitest';
import { beginningOf, fold, type Moment } from '../../../src/azure-simulator/demo/model.ts';
import { performance, sentRecord, showAt } from './performance.ts';

describe('the show, folded from what happened', () => {
  test("an event keeps Azure's steps and the content of its last record", () => {
    expect(showAt(12.5).events).toEqual([
      {
        eventId: 'f',
        eventType: 'Freeze',
        name: 'Freeze',
        scheduledAt: 1,
        startedAt: 7,
        removedAt: 12,
        notBefore: 7,
        phase: 'Completed',
        noticeSeconds: 6,
        observedPauseMs: 1480,
        fromOthers: 0,
      },
      {
        eventId: 'c',
        eventType: 'Freeze',
        name: 'Freeze 2',
        scheduledAt: 3,
        startedAt: null,
        removedAt: 6,
        notBefore: 600,
        phase: 'Canceled',
        noticeSeconds: null,
        observedPauseMs: null,
        fromOthers: 0,
      },
    ]);
  });
  test('a repeated record counts as a copy and changes nothing else', () => {
    const { hub, table, records } = showAt(30);
    expect(hub).toMatchObject({ copies: 0, recordIds: { length: 6 } });
    expect(table).toEqual({ arrivals: [2, 16.5, 20.5], recordIds: ['f Scheduled', 'r Started'], copies: 1 });
    const again: Moment = { at: 23, kind: 'hub', record: sentRecord('r', 'Reboot', 'Started'), notBefore: null };
    const after = fold(showAt(30), again);
    expect(after.hub).toMatchObject({ copies: 1, recordIds: { length: 6 } });
    expect([after.records, after.events]).toEqual([records, showAt(30).events]);
  });
  test('an outage ends once, and nothing of the fold changes what was', () => {
    const before = showAt(15);
    expect(before.outages).toEqual([{ from: 14, until: null }]);
    expect(showAt(30).outages).toEqual([{ from: 14, until: 21 }]);
    performance.reduce(fold, before);
    expect(before.outages).toEqual([{ from: 14, until: null }]);
  });
  test('an event without notice is added as started', () => {
    const failure: Moment = {
      at: 4,
      kind: 'azure',
      eventId: 'h',
      eventType: 'Reboot',
      step: 'started',
      resources: ['web_0'],
      incarnation: 2,
    };
    expect(fold(beginningOf(['web_0']), failure).events).toMatchObject([
      { scheduledAt: 4, startedAt: 4, removedAt: null },
    ]);
  });
});

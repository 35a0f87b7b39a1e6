import { describe, expect, test } from 'vitest';
import { play } from '../support/cases.ts';
import { at, event, nothing, started, tell } from '../support/story.ts';

const scheduled = event();
const reboot = event({ eventType: 'Reboot', durationSeconds: -1 });

describe('an event changes while it is listed', () => {
  play([
    {
      name: 'notBefore comes nearer, as for a degraded host days ahead',
      seen: [nothing, { events: [event({ notBefore: at(600_000) })] }, { events: [event({ notBefore: at(7200) })] }],
      records: ['Scheduled: said-by-azure', 'Updated: notBefore-earlier'],
    },
    {
      name: 'notBefore goes to and fro',
      seen: [nothing, { events: [scheduled] }, { events: [event({ notBefore: at(1800) })] }, { events: [scheduled] }],
      records: ['Scheduled: said-by-azure', 'Updated: notBefore-later', 'Updated: notBefore-earlier'],
    },
    {
      name: 'notBefore becomes known',
      seen: [nothing, { events: [event({ notBefore: null })] }, { events: [scheduled] }],
      records: ['Scheduled: said-by-azure', 'Updated: notBefore-later'],
    },
    {
      name: 'a notBefore that is missing for once keeps its last value',
      seen: [nothing, { events: [scheduled] }, { events: [event({ notBefore: null })] }, { events: [scheduled] }],
      records: ['Scheduled: said-by-azure'],
    },
    {
      name: 'a fraction of a second of notBefore is no change',
      seen: [nothing, { events: [scheduled] }, { events: [event({ notBefore: at(900.4) })] }],
      records: ['Scheduled: said-by-azure'],
    },
    {
      name: 'type and duration change together: one record',
      seen: [nothing, { events: [reboot] }, { events: [event({ durationSeconds: 9 })] }],
      records: ['Scheduled: said-by-azure', 'Updated: eventType-changed durationSeconds-changed'],
    },
    {
      name: 'duration 0 and -1 are values like any other',
      seen: [nothing, { events: [event({ durationSeconds: -1 })] }, { events: [event({ durationSeconds: 0 })] }],
      records: ['Scheduled: said-by-azure', 'Updated: durationSeconds-changed'],
    },
    {
      name: 'another description, another order or another case of the names is no change',
      seen: [
        nothing,
        { events: [event({ resources: ['web_0', 'web_1'] })] },
        { events: [event({ resources: ['WEB_1', 'web_0'], description: 'Other words.' })] },
      ],
      records: ['Scheduled: said-by-azure'],
    },
    {
      name: 'a second, shorter impact while Started',
      seen: [nothing, { events: [started(scheduled)] }, { events: [started(scheduled, { durationSeconds: 2 })] }],
      records: ['Started: started-without-notice', 'Updated: durationSeconds-changed'],
    },
    {
      name: 'a notBefore while Started is no content',
      seen: [nothing, { events: [started(scheduled)] }, { events: [started(scheduled, { notBefore: at(5000) })] }],
      records: ['Started: started-without-notice'],
    },
    {
      name: 'Started goes back to Scheduled and forth again',
      seen: [
        nothing,
        { events: [started(scheduled)] },
        { events: [scheduled] },
        { events: [scheduled] },
        { events: [started(scheduled)] },
        nothing,
      ],
      records: ['Started: started-without-notice', 'Updated: status-went-back', 'Completed: left-after-started'],
    },
    {
      name: 'a status nobody knows leaves the phase as it is, and back to that phase is no step',
      seen: [
        nothing,
        { events: [scheduled] },
        { events: [event({ eventStatus: 'Paused' })] },
        { events: [event({ eventStatus: 'Paused' })] },
        { events: [event({ eventStatus: 'Suspended' })] },
        { events: [scheduled] },
        { events: [started(scheduled)] },
      ],
      records: [
        'Scheduled: said-by-azure',
        'Updated: status-unknown',
        'Updated: status-unknown',
        'Started: said-by-azure',
      ],
    },
    {
      name: 'an unknown status at first sight',
      seen: [nothing, { events: [event({ eventStatus: 'Paused' })] }, { events: [started(scheduled)] }],
      records: ['Updated: status-unknown', 'Started: said-by-azure'],
    },
    {
      name: 'an unreadable status at the very first look',
      seen: [{ events: [event({ eventStatus: null })] }],
      records: ['Updated: present-at-first-look status-unknown'],
    },
    {
      name: 'an unreadable status later keeps the last one',
      seen: [nothing, { events: [started(scheduled)] }, { events: [event({ eventStatus: null })] }],
      records: ['Started: started-without-notice'],
    },
    {
      name: 'Started with another list and another duration is one Started',
      seen: [
        nothing,
        { events: [scheduled] },
        { events: [started(scheduled, { resources: ['web_0', 'web_1'], durationSeconds: 9 })] },
      ],
      records: ['Scheduled: said-by-azure', 'Started: said-by-azure affectedResources-changed durationSeconds-changed'],
    },
  ]);
});

describe('an event id returns', () => {
  play([
    {
      name: 'a canceled event that is listed again',
      seen: [nothing, { events: [scheduled] }, nothing, { events: [scheduled] }, { events: [started(scheduled)] }],
      records: [
        'Scheduled: said-by-azure',
        'Canceled: left-before-not-before',
        'Scheduled: reappeared',
        'Started: said-by-azure',
      ],
    },
    {
      name: 'a completed event that is listed again as Started',
      seen: [nothing, { events: [started(scheduled)] }, nothing, { events: [started(scheduled)] }],
      records: [
        'Started: started-without-notice',
        'Completed: left-after-started not-before-unknown',
        'Started: reappeared',
      ],
    },
    {
      name: 'an ended event that comes back with a status nobody knows',
      seen: [nothing, { events: [scheduled] }, nothing, { events: [event({ eventStatus: 'Paused' })] }],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before', 'Updated: reappeared status-unknown'],
    },
    {
      name: 'an event that ended more than thirty days ago is a new one',
      seen: [nothing, { events: [scheduled] }, nothing, { events: [scheduled], after: 31 * 86_400 }],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before', 'Scheduled: present-at-first-look'],
    },
  ]);

  test('the steps of the second life have ids of their own', () => {
    const { records } = tell([nothing, { events: [scheduled] }, nothing, { events: [scheduled] }, nothing]);
    expect(records.map(({ repeat }) => repeat)).toEqual([0, 0, 1, 1]);
    expect(new Set(records.map(({ transitionId }) => transitionId)).size).toBe(4);
    expect(records.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
  });
});

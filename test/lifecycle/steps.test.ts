import { describe, expect, test } from 'vitest';
import { play } from '../support/cases.ts';
import { at, event, nothing, type ObservationSpec, observe, phaseLines, started } from '../support/observations.ts';

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
      name: 'Started goes back to Scheduled and forth again: each is a step',
      seen: [
        nothing,
        { events: [started(scheduled)] },
        { events: [scheduled] },
        { events: [scheduled] },
        { events: [started(scheduled)] },
        nothing,
      ],
      records: [
        'Started: started-without-notice',
        'Updated: status-went-back notBefore-later',
        'Started: said-by-azure',
        'Completed: left-after-started',
      ],
    },
    {
      name: 'an unknown status does not change the phase, and back to that phase is no step',
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
      name: 'an unknown status at the first sighting',
      seen: [nothing, { events: [event({ eventStatus: 'Paused' })] }, { events: [started(scheduled)] }],
      records: ['Updated: status-unknown', 'Started: said-by-azure'],
    },
    {
      name: 'an unreadable status in the first observation',
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
      name: 'an ended event that returns with an unknown status',
      seen: [nothing, { events: [scheduled] }, nothing, { events: [event({ eventStatus: 'Paused' })] }],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before', 'Updated: reappeared status-unknown'],
    },
    {
      name: 'an event that ended more than thirty days ago is a new one',
      seen: [nothing, { events: [scheduled] }, nothing, { events: [scheduled], after: 31 * 86_400 }],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before', 'Scheduled: present-at-first-look'],
    },
  ]);

  test('the steps of an event that is listed again have ids of their own', () => {
    const { records } = observe([nothing, { events: [scheduled] }, nothing, { events: [scheduled] }, nothing]);
    expect(records.map(({ repeat }) => repeat)).toEqual([0, 0, 1, 1]);
    expect(new Set(records.map(({ transitionId }) => transitionId)).size).toBe(4);
    expect(records.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
  });
});

describe('the changes of a step', () => {
  const changesOf = (...observations: ObservationSpec[]) => observe([nothing, ...observations]).records.at(-1)?.changes;

  test('a status that was set back, or is unknown, has the values before and after', () => {
    expect(changesOf({ events: [scheduled] }, { events: [started(scheduled)] }, { events: [scheduled] })).toEqual([
      { field: 'eventStatus', from: 'Started', to: 'Scheduled' },
    ]);
    expect(changesOf({ events: [scheduled] }, { events: [event({ eventStatus: 'Paused' })] })).toEqual([
      { field: 'eventStatus', from: 'Scheduled', to: 'Paused' },
    ]);
  });

  test('Started is no Updated: its evidence has the changed list', () => {
    const more = started(scheduled, { resources: ['web_0', 'web_1'] });
    expect(changesOf({ events: [scheduled] }, { events: [more] })).toEqual([]);
  });

  test('a field that is missing for once keeps its last good value', () => {
    const { eventId: _, eventStatus: __, raw: ___, ...fields } = scheduled;
    for (const field of Object.keys(fields)) {
      const [first, last] = observe(
        [
          nothing,
          { events: [scheduled] },
          { events: [event({ ...scheduled, [field]: null, eventId: scheduled.eventId.toLowerCase() })] },
          nothing,
        ].map((observation) => ({ ...observation, incarnation: undefined as never })),
      ).records;
      expect(last).toMatchObject({
        eventId: first?.eventId,
        eventType: first?.eventType,
        affectedResources: first?.affectedResources,
        notBefore: first?.notBefore,
        durationSeconds: first?.durationSeconds,
        description: first?.description,
        eventSource: first?.eventSource,
        resourceType: first?.resourceType,
      });
    }
  });

  test('of two entries of one id the union of their names is compared, and reported once', () => {
    const winner = { ...scheduled, raw: { always: 'the same' } };
    const united = (resources: string[]) => ({ events: [{ ...winner, resources }] });
    const both = united(['web_0', 'web_1']);
    const more = united(['web_0', 'web_1', 'web_2']);
    expect(phaseLines(observe([nothing, both, both, more, more, more]).records)).toEqual([
      'Scheduled: said-by-azure',
      'Updated: affectedResources-changed',
    ]);
  });
});

describe('an event that was hidden', () => {
  play([
    {
      name: 'behind an unreadable entry: its beginning is unknown',
      seen: [nothing, { events: [], unreadable: 1 }, { events: [scheduled] }],
      records: ['Scheduled: present-at-first-look'],
    },
    {
      name: 'behind an unreadable entry, and Started when it is seen',
      seen: [nothing, { events: [], unreadable: 1 }, { events: [started(scheduled)] }],
      records: ['Started: present-at-first-look'],
    },
  ]);

  test('left while it started: the time in Started is unknown', () => {
    const hidden = Array.from({ length: 20 }, () => ({ events: [], unreadable: 1 }));
    const records = observe([
      nothing,
      { events: [scheduled] },
      ...hidden,
      { events: [started(scheduled)] },
      nothing,
    ]).records;
    expect(records.map(({ phase, startedSeconds }) => [phase, startedSeconds])).toEqual([
      ['Scheduled', null],
      ['Started', null],
      ['Completed', null],
    ]);
  });

  test('around a reset while it started: the same', () => {
    const observations: ObservationSpec[] = [
      { events: [], incarnation: 8 },
      { events: [scheduled], incarnation: 9 },
      { events: [], incarnation: 1 },
      { events: [], incarnation: 1, after: 100 },
      { events: [started(scheduled)], incarnation: 2 },
      { events: [], incarnation: 3, after: 400 },
    ];
    expect(observe(observations).records.at(-1)).toMatchObject({ phase: 'Completed', startedSeconds: null });
  });
});

describe('an event that is listed again', () => {
  const back: readonly ObservationSpec[] = [
    nothing,
    { events: [scheduled], pauseMs: 1500 },
    { events: [started(scheduled)], after: 5 },
    nothing,
    { events: [scheduled], after: 5 },
    { events: [started(scheduled)], after: 5 },
    nothing,
  ];

  test('is measured again, since every consumer has recovered', () => {
    const second = observe(back).records.slice(3);
    expect(
      second.map(({ phase, firstSeenAt, noticeSeconds, observedPauseMs }) => [
        phase,
        firstSeenAt,
        noticeSeconds,
        observedPauseMs,
      ]),
    ).toEqual([
      ['Scheduled', at(13), 887, null],
      ['Started', at(13), 5, null],
      ['Completed', at(13), 5, null],
    ]);
  });

  test('that is observed only in its later part has no startedSeconds', () => {
    const { records } = observe([
      nothing,
      { events: [started(scheduled)] },
      nothing,
      { events: [started(scheduled)] },
      nothing,
    ]);
    expect(records.map(({ startedSeconds }) => startedSeconds)).toEqual([null, 1, null, null]);
  });

  test('is published even when it names only other VMs, since it withdraws the reported end', () => {
    const others = event({ resources: ['web_7'] });
    expect(phaseLines(observe([nothing, { events: [scheduled] }, nothing, { events: [others] }]).records).at(-1)).toBe(
      'Scheduled: reappeared',
    );
  });
});

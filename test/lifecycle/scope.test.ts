import { describe, expect, test } from 'vitest';
import { impactWithin, isSampled, startDue } from '../../src/lifecycle/scope.ts';
import { play } from '../support/cases.ts';
import {
  at,
  event,
  nothing,
  type ObservationSpec,
  observe,
  observerNamed,
  phaseLines,
  started,
} from '../support/observations.ts';

const scheduled = event();
const ofOthers = (given = {}) => event({ resources: ['web_7'], ...given });
const id = scheduled.eventId.toLowerCase();

describe('an event concerns this VM, or no longer', () => {
  const withUs = event({ resources: ['web_7', 'web_0'] });
  play([
    {
      name: 'an event of other VMs is in no record',
      seen: [nothing, { events: [ofOthers()] }, { events: [started(ofOthers())] }, nothing],
      records: [],
    },
    {
      name: 'our name joins a Scheduled event',
      seen: [nothing, { events: [ofOthers()] }, { events: [withUs] }],
      records: ['Scheduled: became-affected affectedResources-changed'],
    },
    {
      name: 'our name joins a Started event',
      seen: [nothing, { events: [started(ofOthers())] }, { events: [started(withUs)] }],
      records: ['Started: became-affected affectedResources-changed'],
    },
    {
      name: 'our name joins in the moment it starts',
      seen: [nothing, { events: [ofOthers()] }, { events: [started(withUs)] }],
      records: ['Started: said-by-azure became-affected affectedResources-changed'],
    },
    {
      name: 'our name leaves while the event stays, and its end is still reported',
      seen: [nothing, { events: [withUs] }, { events: [ofOthers()] }, nothing],
      records: [
        'Scheduled: said-by-azure',
        'Updated: left-resources affectedResources-changed',
        'Canceled: left-before-not-before',
      ],
    },
    {
      name: 'our name leaves in the moment it starts',
      seen: [nothing, { events: [withUs] }, { events: [started(ofOthers())] }],
      records: ['Scheduled: said-by-azure', 'Started: said-by-azure left-resources affectedResources-changed'],
    },
    {
      name: 'our name leaves and joins again',
      seen: [nothing, { events: [withUs] }, { events: [ofOthers()] }, { events: [withUs] }],
      records: [
        'Scheduled: said-by-azure',
        'Updated: left-resources affectedResources-changed',
        'Updated: became-affected affectedResources-changed',
      ],
    },
    {
      name: 'a name that only starts with ours is another VM',
      seen: [nothing, { events: [event({ resources: ['web_01', 'xweb_0', 'web'] })] }],
      records: [],
    },
    {
      name: 'the case of our name does not matter',
      seen: [nothing, { events: [event({ resources: ['WEB_0'] })] }],
      records: ['Scheduled: said-by-azure'],
    },
    {
      name: 'a pause is no evidence of an event that no longer affects us',
      seen: [nothing, { events: [withUs] }, { events: [ofOthers()] }, { events: [], incarnation: 9, pauseMs: 5000 }],
      records: [
        'Scheduled: said-by-azure',
        'Updated: left-resources affectedResources-changed',
        'Ended: incarnation-gap',
      ],
    },
  ]);
});

describe('witnesses', () => {
  const others = Array.from({ length: 400 }, (_, n) => ofOthers({ eventId: `event-${n}` }));
  const seenBy = (witnessRate: number, vmName = 'web_0') =>
    observe([nothing, { events: others }], { witnessRate, observer: observerNamed(vmName) }).records;

  test('rate 0: only events that affect this VM', () => expect(seenBy(0)).toHaveLength(0));

  test('rate 1: every event of the group', () => expect(seenBy(1)).toHaveLength(400));

  test('rate 0.25: about a quarter, the same ones each time, other ones on another VM', () => {
    const ids = (vmName: string) => seenBy(0.25, vmName).map(({ eventId }) => eventId);
    expect(ids('web_0').length).toBeGreaterThan(60);
    expect(ids('web_0').length).toBeLessThan(140);
    expect(ids('web_0')).toEqual(ids('web_0'));
    expect(ids('web_0')).not.toEqual(ids('web_1'));
  });

  test('a witness is not affected, and reports every step', () => {
    const { records } = observe([nothing, { events: [ofOthers()] }, { events: [started(ofOthers())] }, nothing], {
      witnessRate: 1,
    });
    expect(phaseLines(records)).toEqual([
      'Scheduled: said-by-azure',
      'Started: said-by-azure',
      'Completed: left-after-started',
    ]);
    expect(records.map(({ observerAffected }) => observerAffected)).toEqual([false, false, false]);
  });

  test('our name joins an event that we witness', () => {
    const { records } = observe([nothing, { events: [ofOthers()] }, { events: [scheduled] }], { witnessRate: 1 });
    expect(phaseLines(records)).toEqual([
      'Scheduled: said-by-azure',
      'Updated: became-affected affectedResources-changed',
    ]);
    expect(records[1]?.firstSeenAt).toBe(at(3));
  });

  test('events of others are counted and remembered with the time since when they are Scheduled', () => {
    const { state, appeared } = observe([
      nothing,
      { events: [ofOthers()] },
      { events: [ofOthers(), event({ eventId: 'x' })] },
    ]);
    expect(appeared).toEqual({ seen: 2, ours: 1 });
    expect(state.events.get(id)).toMatchObject({ inScope: false, scheduledSince: at(2), sequence: 0 });
  });
});

describe('is an impact on this VM near', () => {
  const stateWith = (...observations: ObservationSpec[]) => observe([nothing, ...observations]).state;
  const cases: readonly {
    readonly name: string;
    readonly observations: readonly ObservationSpec[];
    readonly near: boolean;
  }[] = [
    { name: 'nothing is planned', observations: [], near: false },
    {
      name: 'an event exactly five minutes ahead',
      observations: [{ events: [event({ notBefore: at(302) })] }],
      near: true,
    },
    {
      name: 'an event a second further ahead',
      observations: [{ events: [event({ notBefore: at(303) })] }],
      near: false,
    },
    { name: 'an event whose time is unknown', observations: [{ events: [event({ notBefore: null })] }], near: true },
    { name: 'an event whose time has passed', observations: [{ events: [event({ notBefore: at(-9) })] }], near: true },
    {
      name: 'an event days ahead that started',
      observations: [{ events: [event({ notBefore: at(90_000), eventStatus: 'Started' })] }],
      near: true,
    },
    { name: 'an event of other VMs that started', observations: [{ events: [started(ofOthers())] }], near: false },
    { name: 'an event that has ended', observations: [{ events: [started(scheduled)] }, nothing], near: false },
  ];
  test.each(cases)('$name: $near', ({ observations, near }) => {
    expect(impactWithin(stateWith(...observations), new Date(at(2)), 300_000)).toBe(near);
  });
});

describe('is the start of an event on this VM due', () => {
  // The last observation is at(2); due ten seconds ahead, and for a minute afterwards.
  const cases: readonly { readonly name: string; readonly event: ReturnType<typeof event>; readonly due: boolean }[] = [
    { name: 'an event ten seconds ahead', event: event({ notBefore: at(12) }), due: true },
    { name: 'an event a second further ahead', event: event({ notBefore: at(13) }), due: false },
    { name: 'an event that is a minute late', event: event({ notBefore: at(-58) }), due: true },
    { name: 'an event that is later than that', event: event({ notBefore: at(-59) }), due: false },
    { name: 'an event whose time is unknown', event: event({ notBefore: null }), due: false },
    { name: 'an event that started', event: event({ notBefore: at(12), eventStatus: 'Started' }), due: false },
    { name: 'an event of other VMs', event: ofOthers({ notBefore: at(12) }), due: false },
    { name: 'a reboot', event: event({ notBefore: at(12), eventType: 'Reboot' }), due: true },
    { name: 'a preemption', event: event({ notBefore: at(12), eventType: 'Preempt' }), due: false },
    { name: 'a termination', event: event({ notBefore: at(12), eventType: 'Terminate' }), due: false },
  ];
  test.each(cases)('$name: $due', ({ event: planned, due }) => {
    const { state } = observe([nothing, { events: [planned] }]);
    expect(startDue(state, new Date(at(2)), 10_000)).toBe(due);
  });

  test('an event that has ended', () => {
    const planned = event({ notBefore: at(12) });
    expect(startDue(observe([nothing, { events: [planned] }, nothing]).state, new Date(at(3)), 10_000)).toBe(false);
  });
});

describe('the count of events that appeared', () => {
  test('an event that our name joins later counts as ours from then on, once', () => {
    const observations = [nothing, { events: [ofOthers()] }, { events: [scheduled] }, { events: [scheduled] }];
    expect(observe(observations).appeared).toEqual({ seen: 1, ours: 1 });
  });

  test('an event of other VMs that Azure reports as ended is forgotten at once', () => {
    const { state, records } = observe([
      nothing,
      { events: [ofOthers()] },
      { events: [ofOthers({ eventStatus: 'Completed' })] },
    ]);
    expect(records).toEqual([]);
    expect(state.events.size).toBe(0);
  });
});

describe('the share of a witness', () => {
  test('does not depend on the letter case of ids', () => {
    for (const eventId of ['a-1', 'b-2', 'c-3', 'd-4']) {
      expect(isSampled({ witnessRate: 0.5 }, 'VM-ID', eventId.toUpperCase())).toBe(
        isSampled({ witnessRate: 0.5 }, 'vm-id', eventId),
      );
    }
  });
});

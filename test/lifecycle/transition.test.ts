import { describe, expect, test } from 'vitest';
import type { LifecycleState } from '../../src/lifecycle/state.ts';
import { at, event, inWords, type Look, nothing, observerNamed, started, tell } from '../support/story.ts';

const scheduled = event();
const reboot = event({ eventType: 'Reboot', durationSeconds: -1 });
const ofOthers = (given = {}) => event({ resources: ['web_7'], ...given });
const id = scheduled.eventId.toLowerCase();
const approvedByUs = (state: LifecycleState): LifecycleState => ({ ...state, approved: new Set([id]) });
const seconds = (n: number, look: Look): Look[] => Array.from({ length: n }, () => look);

interface Case {
  readonly name: string;
  readonly seen: readonly Look[];
  readonly records: readonly string[];
}

function play(cases: readonly Case[]): void {
  test.each(cases)('$name', ({ seen, records }) => {
    const told = tell(seen);
    expect(inWords(told.records)).toEqual(records);
    expect(told.records.map(({ position }) => position)).toEqual(told.records.map((_, n) => n + 1));
  });
}

describe('an event runs its course', () => {
  play([
    {
      name: 'a freeze is scheduled, starts and leaves',
      seen: [nothing, { events: [scheduled] }, { events: [started(scheduled)], after: 900 }, nothing],
      records: [
        'Scheduled: said-by-azure',
        'Started: said-by-azure',
        'Completed: left-after-started not-before-passed',
      ],
    },
    {
      name: 'the same document again is no step',
      seen: [nothing, { events: [scheduled] }, { events: [scheduled] }, { events: [scheduled], incarnation: 9 }],
      records: ['Scheduled: said-by-azure'],
    },
    {
      name: 'a hardware failure starts without notice',
      seen: [nothing, { events: [started(reboot)] }, nothing],
      records: ['Started: started-without-notice', 'Completed: left-after-started not-before-unknown'],
    },
    {
      name: 'an event that was there at the first look has an unknown beginning',
      seen: [{ events: [scheduled] }],
      records: ['Scheduled: present-at-first-look'],
    },
    {
      name: 'a Started event that was there after a gap has an unknown beginning',
      seen: [nothing, { events: [started(scheduled)], after: 60 }],
      records: ['Started: present-at-first-look'],
    },
    {
      name: 'a list that changed with equal incarnation is a step all the same',
      seen: [
        { events: [], incarnation: 5 },
        { events: [scheduled], incarnation: 5 },
        { events: [started(scheduled)], incarnation: 5 },
      ],
      records: ['Scheduled: said-by-azure', 'Started: said-by-azure'],
    },
    {
      name: 'two events of one document are told in the order of their ids',
      seen: [nothing, { events: [event({ eventId: 'b' }), event({ eventId: 'A' })] }],
      records: ['Scheduled: said-by-azure', 'Scheduled: said-by-azure'],
    },
    {
      name: 'Azure itself says Completed, and leaving afterwards is no step',
      seen: [
        nothing,
        { events: [started(scheduled)] },
        { events: [event({ eventStatus: 'Completed' })] },
        { events: [event({ eventStatus: 'Completed' })] },
        nothing,
      ],
      records: ['Started: started-without-notice', 'Completed: said-by-azure'],
    },
    {
      name: 'Azure itself says Canceled of an event never seen before',
      seen: [nothing, { events: [event({ eventStatus: 'Canceled' })] }, nothing],
      records: ['Canceled: said-by-azure'],
    },
    {
      name: 'a missing document is no observation',
      seen: [nothing, { events: [scheduled] }, { events: [], kind: 'unavailable' }, { events: [scheduled] }],
      records: ['Scheduled: said-by-azure'],
    },
    {
      name: 'a 304 answer keeps every event open',
      seen: [
        nothing,
        { events: [scheduled] },
        ...seconds(20, { events: [], kind: 'unchanged' }),
        { events: [scheduled] },
      ],
      records: ['Scheduled: said-by-azure'],
    },
  ]);
});

describe('an event leaves', () => {
  const soon = event({ notBefore: at(30) });
  const unknown = event({ notBefore: null });
  play([
    {
      name: 'canceled: gone well before notBefore, exactly one incarnation later',
      seen: [nothing, { events: [scheduled] }, nothing],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before'],
    },
    {
      name: 'the public trace 2 -> 4: Started was never visible, so nobody knows how it ended',
      seen: [
        { events: [], incarnation: 1 },
        { events: [scheduled], incarnation: 2 },
        { events: [], incarnation: 4 },
      ],
      records: ['Scheduled: said-by-azure', 'Ended: incarnation-gap'],
    },
    {
      name: 'gone after a gap: it may have run meanwhile',
      seen: [nothing, { events: [scheduled] }, { events: [], after: 11 }],
      records: ['Scheduled: said-by-azure', 'Ended: observation-gap'],
    },
    {
      name: 'gone ten seconds after the last look: no gap yet',
      seen: [nothing, { events: [scheduled] }, { events: [], after: 10 }],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before'],
    },
    {
      name: 'gone within a minute of notBefore: it may just have begun',
      seen: [nothing, { events: [soon] }, nothing],
      records: ['Scheduled: said-by-azure', 'Ended: not-before-near'],
    },
    {
      name: 'gone after notBefore',
      seen: [nothing, { events: [soon] }, ...seconds(40, { events: [soon] }), nothing],
      records: ['Scheduled: said-by-azure', 'Ended: not-before-passed'],
    },
    {
      name: 'notBefore is judged by the time of Azure, not by our clock',
      seen: [nothing, { events: [scheduled], clockOffsetSeconds: 3600 }, { events: [], clockOffsetSeconds: 3600 }],
      records: ['Scheduled: said-by-azure', 'Ended: not-before-passed'],
    },
    {
      name: 'gone without a notBefore ever known',
      seen: [nothing, { events: [unknown] }, nothing],
      records: ['Scheduled: said-by-azure', 'Ended: not-before-unknown'],
    },
    {
      name: 'gone after we approved it',
      seen: [nothing, { events: [scheduled] }, { events: [], meanwhile: approvedByUs }],
      records: ['Scheduled: said-by-azure', 'Ended: approved'],
    },
    {
      name: 'gone while another event of this VM started',
      seen: [
        nothing,
        { events: [soon] },
        { events: [soon, event({ eventId: 'x', eventStatus: 'Started' })] },
        { events: [event({ eventId: 'x', eventStatus: 'Started' })] },
      ],
      records: ['Scheduled: said-by-azure', 'Started: started-without-notice', 'Ended: not-before-near superseded'],
    },
    {
      name: 'a Started event of another VM supersedes nothing',
      seen: [nothing, { events: [soon] }, { events: [ofOthers({ eventId: 'x', eventStatus: 'Started' })] }],
      records: ['Scheduled: said-by-azure', 'Ended: not-before-near'],
    },
    {
      name: 'gone with the clock set back meanwhile: how long it was nobody knows',
      seen: [nothing, { events: [scheduled] }, { events: [], after: -5 }],
      records: ['Scheduled: said-by-azure', 'Ended: observation-gap'],
    },
    {
      name: 'absent beside an entry whose id cannot be read: not counted as absent',
      seen: [nothing, { events: [scheduled] }, { events: [], unreadable: 1 }, { events: [scheduled] }],
      records: ['Scheduled: said-by-azure'],
    },
    {
      name: 'absent beside an unreadable entry, then absent for good: compared with the look that listed it',
      seen: [
        nothing,
        { events: [scheduled] },
        { events: [], unreadable: 1 },
        { events: [], kind: 'unchanged' },
        { events: [event({ eventId: 'other', resources: ['web_9'] })] },
      ],
      records: ['Scheduled: said-by-azure', 'Ended: incarnation-gap'],
    },
  ]);
});

describe('what the machine knows decides how an event ended', () => {
  const user = event({ eventType: 'Reboot', eventSource: 'User' });
  const spot = event({ eventType: 'Preempt', notBefore: at(30) });
  play([
    {
      name: 'a Started reboot whose boot id changed is Completed',
      seen: [nothing, { events: [reboot] }, { events: [started(reboot)] }, { events: [], after: 90, bootId: 'boot-2' }],
      records: [
        'Scheduled: said-by-azure',
        'Started: said-by-azure',
        'Completed: boot-id-changed left-after-started observation-gap',
      ],
    },
    {
      name: 'a Scheduled reboot whose time had passed and whose boot id changed is Completed',
      seen: [nothing, { events: [reboot] }, { events: [], after: 1000, bootId: 'boot-2' }],
      records: ['Scheduled: said-by-azure', 'Completed: boot-id-changed observation-gap not-before-passed'],
    },
    {
      name: 'a reboot that the user asked for is Completed by another boot id, however early',
      seen: [nothing, { events: [user] }, { events: [], after: 30, bootId: 'boot-2' }],
      records: ['Scheduled: said-by-azure', 'Completed: boot-id-changed observation-gap'],
    },
    {
      name: 'an approved reboot is Completed by another boot id',
      seen: [nothing, { events: [reboot] }, { events: [], after: 30, bootId: 'boot-2', meanwhile: approvedByUs }],
      records: ['Scheduled: said-by-azure', 'Completed: boot-id-changed observation-gap approved'],
    },
    {
      name: 'a Spot eviction that the VM comes back from is Completed by another boot id',
      seen: [nothing, { events: [spot] }, { events: [], after: 5, bootId: 'boot-2' }],
      records: ['Scheduled: said-by-azure', 'Completed: boot-id-changed observation-gap not-before-near'],
    },
    {
      name: 'a boot of our own long before notBefore proves nothing about a platform event',
      seen: [nothing, { events: [reboot] }, { events: [], after: 30, bootId: 'boot-2' }],
      records: ['Scheduled: said-by-azure', 'Ended: boot-id-changed observation-gap'],
    },
    {
      name: 'a boot id that is unreadable is evidence of nothing',
      seen: [nothing, { events: [user] }, { events: [], bootId: null }],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before'],
    },
    {
      name: 'a Scheduled freeze that left together with a pause is Completed',
      seen: [nothing, { events: [scheduled] }, { events: [], after: 7, pauseMs: 5300, incarnation: 4 }],
      records: ['Scheduled: said-by-azure', 'Completed: pause-observed incarnation-gap'],
    },
    {
      name: 'a pause of less than a second proves nothing',
      seen: [nothing, { events: [scheduled] }, { events: [], pauseMs: 999, incarnation: 4 }],
      records: ['Scheduled: said-by-azure', 'Ended: incarnation-gap'],
    },
    {
      name: 'a pause seen while the endpoint did not answer counts until the event is listed again',
      seen: [
        nothing,
        { events: [scheduled] },
        { events: [], kind: 'unavailable', pauseMs: 4000 },
        { events: [], incarnation: 4, pauseMs: 0 },
      ],
      records: ['Scheduled: said-by-azure', 'Completed: pause-observed incarnation-gap'],
    },
    {
      name: 'a pause before the event was last listed proves nothing about its leaving',
      seen: [
        nothing,
        { events: [scheduled] },
        { events: [scheduled], pauseMs: 4000 },
        { events: [], incarnation: 4, pauseMs: 0 },
      ],
      records: ['Scheduled: said-by-azure', 'Ended: incarnation-gap'],
    },
    {
      name: 'an NTP step is no pause',
      seen: [nothing, { events: [scheduled] }, { events: [], wallStepMs: 8000, pauseMs: 0 }],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before'],
    },
    {
      name: 'a step of the wall clock together with a skipped incarnation is a pause',
      seen: [nothing, { events: [scheduled] }, { events: [], incarnation: 4, wallStepMs: 8000 }],
      records: ['Scheduled: said-by-azure', 'Completed: pause-observed incarnation-gap'],
    },
    {
      name: 'the clock of Azure running ahead together with a late tick is a pause',
      seen: [nothing, { events: [scheduled] }, { events: [], pauseMs: 300, clockOffsetSeconds: 6 }],
      records: ['Scheduled: said-by-azure', 'Completed: pause-observed left-before-not-before'],
    },
    {
      name: 'a Scheduled redeploy that left on another physical host is Completed',
      seen: [
        nothing,
        { events: [event({ eventType: 'Redeploy' })], physicalHost: 'node-1' },
        { events: [], incarnation: 4, physicalHost: 'node-2' },
      ],
      records: ['Scheduled: said-by-azure', 'Completed: physical-host-changed incarnation-gap'],
    },
    {
      name: 'a physical host that was unknown before proves no move',
      seen: [nothing, { events: [scheduled] }, { events: [], incarnation: 4, physicalHost: 'node-2' }],
      records: ['Scheduled: said-by-azure', 'Ended: incarnation-gap'],
    },
    {
      name: 'a reboot that was a freeze: the pause is there, the boot id is the same',
      seen: [nothing, { events: [reboot] }, { events: [started(reboot)] }, { events: [], after: 8, pauseMs: 6000 }],
      records: [
        'Scheduled: said-by-azure',
        'Started: said-by-azure',
        'Completed: pause-observed reboot-became-freeze left-after-started',
      ],
    },
    {
      name: 'a pause says nothing about an eviction',
      seen: [nothing, { events: [spot] }, { events: [], pauseMs: 3000, incarnation: 4 }],
      records: ['Scheduled: said-by-azure', 'Ended: incarnation-gap not-before-near'],
    },
  ]);
});

describe('the incarnation goes backwards', () => {
  const reset: Look = { events: [], incarnation: 1 };
  const from: readonly Look[] = [
    { events: [], incarnation: 16 },
    { events: [scheduled], incarnation: 17 },
  ];
  play([
    {
      name: 'absent around a reset: it stays open until five minutes have passed',
      seen: [...from, reset, ...seconds(299, { ...reset })],
      records: ['Scheduled: said-by-azure'],
    },
    {
      name: 'absent around a reset and never back: decided after five minutes with the facts of the first absence',
      seen: [...from, reset, ...seconds(300, { ...reset })],
      records: ['Scheduled: said-by-azure', 'Ended: incarnation-reset incarnation-gap'],
    },
    {
      name: 'a Started event absent around a reset is Completed, five minutes later',
      seen: [...from, { events: [started(scheduled)], incarnation: 18 }, reset, ...seconds(300, { ...reset })],
      records: [
        'Scheduled: said-by-azure',
        'Started: said-by-azure',
        'Completed: incarnation-reset left-after-started incarnation-gap',
      ],
    },
    {
      name: 'back within five minutes of a reset: nothing happened',
      seen: [...from, reset, ...seconds(100, { ...reset }), { events: [scheduled], incarnation: 2 }],
      records: ['Scheduled: said-by-azure'],
    },
    {
      name: 'back within five minutes of a reset, by then started',
      seen: [...from, reset, { events: [started(scheduled)], incarnation: 2 }],
      records: ['Scheduled: said-by-azure', 'Started: said-by-azure'],
    },
    {
      name: 'first absent in one of the five minutes after a reset: it waits as well',
      seen: [
        ...from,
        { events: [scheduled], incarnation: 1 },
        { events: [], incarnation: 2, after: 9 },
        ...seconds(299, { events: [], incarnation: 2 }),
      ],
      records: ['Scheduled: said-by-azure'],
    },
    {
      name: 'first absent six minutes after a reset: decided at once',
      seen: [...from, ...seconds(360, { events: [scheduled], incarnation: 1 }), { events: [], incarnation: 2 }],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before'],
    },
    {
      name: 'a reboot that fits the event needs no waiting',
      seen: [...from, { events: [started(scheduled)], incarnation: 18 }, { ...reset, bootId: 'boot-2', after: 100 }],
      records: [
        'Scheduled: said-by-azure',
        'Started: said-by-azure',
        'Completed: boot-id-changed incarnation-reset left-after-started incarnation-gap observation-gap',
      ],
    },
    {
      name: 'a 304 answer five minutes after the first absence decides as well',
      seen: [...from, reset, { events: [], kind: 'unchanged', after: 300 }],
      records: ['Scheduled: said-by-azure', 'Ended: incarnation-reset incarnation-gap'],
    },
    {
      name: 'no answer decides nothing, not even after five minutes',
      seen: [...from, reset, { events: [], kind: 'unavailable', after: 400 }],
      records: ['Scheduled: said-by-azure'],
    },
  ]);
});

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
      name: 'our name leaves while the event stays, and its end is told all the same',
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
      name: 'a name that only begins like ours is another VM',
      seen: [nothing, { events: [event({ resources: ['web_01', 'xweb_0', 'web'] })] }],
      records: [],
    },
    {
      name: 'the case of our name does not matter',
      seen: [nothing, { events: [event({ resources: ['WEB_0'] })] }],
      records: ['Scheduled: said-by-azure'],
    },
    {
      name: 'a pause says nothing about an event that does not affect us any more',
      seen: [nothing, { events: [withUs] }, { events: [ofOthers()] }, { events: [], incarnation: 9, pauseMs: 5000 }],
      records: [
        'Scheduled: said-by-azure',
        'Updated: left-resources affectedResources-changed',
        'Ended: incarnation-gap',
      ],
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

describe('until the observer is known', () => {
  const early: readonly Look[] = [
    { ...nothing, unknownObserver: true },
    { events: [scheduled], unknownObserver: true },
    { events: [scheduled], unknownObserver: true },
    { events: [started(scheduled)], unknownObserver: true },
    { events: [], unknownObserver: true },
  ];

  test('documents are set aside, each once, and nothing is told', () => {
    const { records, state } = tell(early);
    expect(records).toEqual([]);
    expect(state.undecided.map(({ document }) => document.events.length)).toEqual([0, 1, 1, 0]);
  });

  test('they are decided in order, with the time at which each was seen', () => {
    const { records, state } = tell([...early, { events: [], kind: 'unavailable' }]);
    expect(inWords(records)).toEqual([
      'Scheduled: said-by-azure',
      'Started: said-by-azure',
      'Completed: left-after-started',
    ]);
    expect(records.map(({ observedAt }) => observedAt)).toEqual([at(2), at(4), at(5)]);
    expect(state.undecided).toEqual([]);
  });

  test('they give the very records that a known observer would have given', () => {
    const late = tell([...early, nothing]).records;
    const known = tell(early.map((look) => ({ ...look, unknownObserver: false }))).records;
    expect(late).toEqual(known);
  });

  test('a polling pause between two of them is a gap for the later one', () => {
    const { records } = tell([
      { ...nothing, unknownObserver: true },
      { events: [scheduled], unknownObserver: true, after: 60 },
      { events: [scheduled] },
    ]);
    expect(inWords(records)).toEqual(['Scheduled: present-at-first-look']);
  });

  test('no more than a thousand wait: the newest then takes the place of the one before', () => {
    const looks = Array.from({ length: 1010 }, (_, n) => ({
      events: [event({ notBefore: at(n) })],
      unknownObserver: true,
    }));
    const { undecided } = tell(looks).state;
    expect(undecided).toHaveLength(1000);
    expect(undecided[0]?.document.events[0]?.notBefore).toBe(at(0));
    expect(undecided.at(-1)?.document.events[0]?.notBefore).toBe(at(1009));
  });

  test('a 304 answer to a document that is not held says nothing', () => {
    const { records, state } = tell([{ events: [], kind: 'unchanged' }]);
    expect(records).toEqual([]);
    expect(state.lastDocumentAt).toBeNull();
  });
});

describe('witnesses', () => {
  const others = Array.from({ length: 400 }, (_, n) => ofOthers({ eventId: `event-${n}` }));
  const seenBy = (witnessRate: number, vmName = 'web_0') =>
    tell([nothing, { events: others }], { witnessRate, observer: observerNamed(vmName) }).records;

  test('rate 0: only events that affect this VM', () => expect(seenBy(0)).toHaveLength(0));

  test('rate 1: every event of the group', () => expect(seenBy(1)).toHaveLength(400));

  test('rate 0.25: about a quarter, the same ones each time, other ones on another VM', () => {
    const ids = (vmName: string) => seenBy(0.25, vmName).map(({ eventId }) => eventId);
    expect(ids('web_0').length).toBeGreaterThan(60);
    expect(ids('web_0').length).toBeLessThan(140);
    expect(ids('web_0')).toEqual(ids('web_0'));
    expect(ids('web_0')).not.toEqual(ids('web_1'));
  });

  test('a witness is not affected, and tells the whole life', () => {
    const { records } = tell([nothing, { events: [ofOthers()] }, { events: [started(ofOthers())] }, nothing], {
      witnessRate: 1,
    });
    expect(inWords(records)).toEqual([
      'Scheduled: said-by-azure',
      'Started: said-by-azure',
      'Completed: left-after-started',
    ]);
    expect(records.map(({ observerAffected }) => observerAffected)).toEqual([false, false, false]);
  });

  test('our name joins an event that we witness', () => {
    const { records } = tell([nothing, { events: [ofOthers()] }, { events: [scheduled] }], { witnessRate: 1 });
    expect(inWords(records)).toEqual([
      'Scheduled: said-by-azure',
      'Updated: became-affected affectedResources-changed',
    ]);
    expect(records[1]?.firstSeenAt).toBe(at(3));
  });

  test('events of others are counted and remembered with the time since when they are Scheduled', () => {
    const { state, appeared } = tell([
      nothing,
      { events: [ofOthers()] },
      { events: [ofOthers(), event({ eventId: 'x' })] },
    ]);
    expect(appeared).toEqual({ seen: 2, ours: 1 });
    expect(state.events.get(id)).toMatchObject({ inScope: false, scheduledSince: at(2), sequence: 0 });
  });
});

describe('a crowd', () => {
  test('a thousand events of a hundred VMs each are told once and not again', () => {
    const names = Array.from({ length: 100 }, (_, n) => `web_${n}`);
    const crowd = Array.from({ length: 1000 }, (_, n) => event({ eventId: `event-${n}`, resources: names }));
    const { records, state } = tell([nothing, { events: crowd }, { events: crowd }]);
    expect(records).toHaveLength(1000);
    expect(state.position).toBe(1000);
  });

  test('a turn in which nothing changed answers the very same events', () => {
    const before = tell([nothing, { events: [scheduled] }]).state;
    const after = tell([{ events: [event()], incarnation: 2 }], { state: before }).state;
    expect(after.events).toBe(before.events);
  });

  test('of ended events the last thousand are remembered', () => {
    const many = Array.from({ length: 1200 }, (_, n) => event({ eventId: `event-${n}` }));
    const { state } = tell([nothing, { events: many }, nothing]);
    expect(state.events.size).toBe(1000);
  });
});

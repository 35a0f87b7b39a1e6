import { describe, expect, test } from 'vitest';
import type { LifecycleState } from '../../src/lifecycle/state.ts';
import { play, seconds } from '../support/cases.ts';
import { at, event, nothing, type ObservationSpec, observe, phaseLines, started } from '../support/observations.ts';

const scheduled = event();
const reboot = event({ eventType: 'Reboot', durationSeconds: -1 });
const ofOthers = (given = {}) => event({ resources: ['web_7'], ...given });
const approvedByUs = (state: LifecycleState): LifecycleState => ({
  ...state,
  approved: new Set([scheduled.eventId.toLowerCase()]),
});

describe('an event leaves', () => {
  const soon = event({ notBefore: at(30) });
  const unknown = event({ notBefore: null });
  play([
    {
      name: 'canceled: left well before notBefore, exactly one incarnation later',
      seen: [nothing, { events: [scheduled] }, nothing],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before'],
    },
    {
      name: 'the public trace 2 -> 4: Started was never visible, so the end is unknown',
      seen: [
        { events: [], incarnation: 1 },
        { events: [scheduled], incarnation: 2 },
        { events: [], incarnation: 4 },
      ],
      records: ['Scheduled: said-by-azure', 'Ended: incarnation-gap'],
    },
    {
      name: 'left during a gap: it may have run in the gap',
      seen: [nothing, { events: [scheduled] }, { events: [], after: 11 }],
      records: ['Scheduled: said-by-azure', 'Ended: observation-gap'],
    },
    {
      name: 'left ten seconds after the last observation: no gap yet',
      seen: [nothing, { events: [scheduled] }, { events: [], after: 10 }],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before'],
    },
    {
      name: 'left within a minute of notBefore: it may just have started',
      seen: [nothing, { events: [soon] }, nothing],
      records: ['Scheduled: said-by-azure', 'Ended: not-before-near'],
    },
    {
      name: 'left after notBefore',
      seen: [nothing, { events: [soon] }, ...seconds(40, { events: [soon] }), nothing],
      records: ['Scheduled: said-by-azure', 'Ended: not-before-passed'],
    },
    {
      name: 'notBefore is judged by the time of Azure, not by our clock',
      seen: [3600, 3600, 3600].map((clockOffsetSeconds, n) => ({
        events: n === 1 ? [scheduled] : [],
        clockOffsetSeconds,
      })),
      records: ['Scheduled: said-by-azure', 'Ended: not-before-passed'],
    },
    {
      name: 'left without a known notBefore',
      seen: [nothing, { events: [unknown] }, nothing],
      records: ['Scheduled: said-by-azure', 'Ended: not-before-unknown'],
    },
    {
      name: 'left after we approved it',
      seen: [nothing, { events: [scheduled] }, { events: [], meanwhile: approvedByUs }],
      records: ['Scheduled: said-by-azure', 'Ended: approved'],
    },
    {
      name: 'left while another event of this VM started',
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
      name: 'left with the clock set back: the duration is unknown',
      seen: [nothing, { events: [scheduled] }, { events: [], after: -5 }],
      records: ['Scheduled: said-by-azure', 'Ended: observation-gap'],
    },
    {
      name: 'absent beside an entry whose id cannot be read: not counted as absent',
      seen: [nothing, { events: [scheduled] }, { events: [], unreadable: 1 }, { events: [scheduled] }],
      records: ['Scheduled: said-by-azure'],
    },
    {
      name: 'absent beside an unreadable entry, then absent permanently: compared with the observation that listed it',
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

describe('the evidence of the host decides how an event ended', () => {
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
      name: 'a boot long before notBefore is no evidence of a reboot that a user requested: it may have been canceled',
      seen: [nothing, { events: [user] }, { events: [], after: 30, bootId: 'boot-2' }],
      records: ['Scheduled: said-by-azure', 'Ended: boot-id-changed observation-gap'],
    },
    {
      name: 'an approved reboot is Completed by another boot id',
      seen: [nothing, { events: [reboot] }, { events: [], after: 30, bootId: 'boot-2', meanwhile: approvedByUs }],
      records: ['Scheduled: said-by-azure', 'Completed: boot-id-changed observation-gap approved'],
    },
    {
      name: 'a Spot eviction that the VM comes back from after its time is Completed by another boot id',
      seen: [nothing, { events: [spot] }, { events: [], after: 40, bootId: 'boot-2' }],
      records: ['Scheduled: said-by-azure', 'Completed: boot-id-changed observation-gap not-before-passed'],
    },
    {
      name: 'a boot of our own long before notBefore is no evidence of a platform event',
      seen: [nothing, { events: [reboot] }, { events: [], after: 30, bootId: 'boot-2' }],
      records: ['Scheduled: said-by-azure', 'Ended: boot-id-changed observation-gap'],
    },
    {
      name: 'a boot id that is unreadable is evidence of nothing',
      seen: [nothing, { events: [user] }, { events: [], bootId: null }],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before'],
    },
    {
      name: 'a Scheduled freeze that left together with a pause, a document unseen, is Completed',
      seen: [nothing, { events: [scheduled] }, { events: [], after: 7, pauseMs: 5300, incarnation: 4 }],
      records: ['Scheduled: said-by-azure', 'Completed: pause-observed incarnation-gap'],
    },
    {
      name: 'a pause of less than a second is no evidence',
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
      name: 'a pause before the event was last listed is no evidence of its end',
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
      seen: [nothing, { events: [scheduled] }, { events: [], pauseMs: 300, clockOffsetSeconds: 6, incarnation: 4 }],
      records: ['Scheduled: said-by-azure', 'Completed: pause-observed incarnation-gap'],
    },
    {
      name: 'a Scheduled redeploy that left on another physical host, a document unseen, is Completed',
      seen: [
        nothing,
        { events: [event({ eventType: 'Redeploy' })], physicalHost: 'node-1' },
        { events: [], incarnation: 4, physicalHost: 'node-2' },
      ],
      records: ['Scheduled: said-by-azure', 'Completed: physical-host-changed incarnation-gap'],
    },
    {
      name: 'a physical host that was unknown before is no evidence of a move',
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
      name: 'a pause is no evidence of an eviction',
      seen: [nothing, { events: [spot] }, { events: [], pauseMs: 3000, incarnation: 4 }],
      records: ['Scheduled: said-by-azure', 'Ended: incarnation-gap not-before-near'],
    },
  ]);
});

describe('the incarnation goes backwards', () => {
  const reset: ObservationSpec = { events: [], incarnation: 1 };
  const from: readonly ObservationSpec[] = [
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
      name: 'first absent within the five minutes after a reset: it waits too',
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
      seen: [
        { events: [], incarnation: 16 },
        { events: [reboot], incarnation: 17 },
        { events: [started(reboot)], incarnation: 18 },
        { ...reset, bootId: 'boot-2', after: 100 },
      ],
      records: [
        'Scheduled: said-by-azure',
        'Started: said-by-azure',
        'Completed: boot-id-changed incarnation-reset left-after-started incarnation-gap observation-gap',
      ],
    },
    {
      name: 'a 304 answer five minutes after the first absence also decides',
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

describe('evidence of the host counts only for an event that explains it', () => {
  const ofOthersByUser = ofOthers({ eventType: 'Reboot', eventSource: 'User' });
  const lastPhase = (seen: readonly ObservationSpec[]) => phaseLines(observe(seen, { witnessRate: 1 }).records).at(-1);

  test('our reboot is no evidence of the reboot of another VM', () => {
    expect(lastPhase([nothing, { events: [ofOthersByUser] }, { events: [], after: 30, bootId: 'boot-2' }])).toBe(
      'Ended: boot-id-changed observation-gap',
    );
  });

  test('our move is no evidence of an event of another VM, nor of an eviction', () => {
    const move: ObservationSpec = { events: [], incarnation: 4, physicalHost: 'node-2' };
    const eviction = event({ eventType: 'Preempt' });
    for (const listed of [ofOthers(), eviction]) {
      expect(lastPhase([nothing, { events: [listed], physicalHost: 'node-1' }, move])).toBe('Ended: incarnation-gap');
    }
  });

  test('an event of this VM that started is no evidence of an event of other VMs', () => {
    const ours = started(event({ eventId: 'ours' }));
    expect(lastPhase([nothing, { events: [ofOthers()] }, { events: [ofOthers(), ours] }, { events: [ours] }])).toBe(
      'Canceled: left-before-not-before',
    );
  });

  test('an event that started before this one was listed does not supersede it', () => {
    const before = started(event({ eventId: 'before' }));
    const result = lastPhase([nothing, { events: [before] }, { events: [before, scheduled] }, { events: [before] }]);
    expect(result).toBe('Canceled: left-before-not-before');
  });

  test('a reboot is no freeze when the boot id changed or is unknown', () => {
    const reboots = (bootId: string | null, then: string | null) =>
      lastPhase([nothing, { events: [reboot], bootId }, { events: [], incarnation: 4, pauseMs: 5000, bootId: then }]);
    expect(reboots('boot-1', 'boot-1')).toContain('reboot-became-freeze');
    expect(reboots('boot-1', 'boot-2')).not.toContain('reboot-became-freeze');
    expect(reboots(null, null)).not.toContain('reboot-became-freeze');
  });

  test('a VM that is deleted by plan and comes up again was terminated', () => {
    const terminate = event({ eventType: 'Terminate', notBefore: at(30) });
    expect(lastPhase([nothing, { events: [terminate] }, { events: [], after: 40, bootId: 'boot-2' }])).toBe(
      'Completed: boot-id-changed observation-gap not-before-passed',
    );
  });
});

describe('an event that is decided five minutes after a reset', () => {
  const lifecycle: readonly ObservationSpec[] = [
    { events: [], incarnation: 16 },
    { events: [scheduled], incarnation: 17 },
    { events: [started(scheduled)], incarnation: 18 },
    { events: [], incarnation: 1, after: 8 },
    { events: [], incarnation: 2, after: 100, pauseMs: 20_000, bootId: 'boot-2' },
    { events: [], incarnation: 2, after: 200 },
  ];

  test('is decided with the facts of its first absence, at the time of the decision', () => {
    const end = observe(lifecycle).records.at(-1);
    expect(end).toMatchObject({
      phase: 'Completed',
      observedAt: at(311),
      documentIncarnation: 1,
      startedSeconds: null,
      observedPauseMs: null,
      observedOutageSeconds: null,
    });
  });
});

import { describe, expect, test } from 'vitest';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import type { LifecycleState } from '../../src/lifecycle/state.ts';
import { play, seconds } from '../support/cases.ts';
import { at, event, nothing, type ObservationSpec, observe, phaseLines, started } from '../support/observations.ts';

const freeze = event({ eventId: 'a-freeze' });
const ahead = event({ eventId: 'b-redeploy', eventType: 'Redeploy', notBefore: at(86_400) });
const reboot = event({ eventId: 'a-reboot', eventType: 'Reboot', notBefore: at(30) });
const ends = (records: readonly LifecycleRecord[], eventId: string) =>
  records.filter((record) => record.eventId === eventId).at(-1);
const approves =
  (eventId: string) =>
  (state: LifecycleState): LifecycleState => ({ ...state, approved: new Set([eventId]) });

describe('a pause or a change of host belongs to the event whose impact was possible', () => {
  test('a live migration by one event completes no other that is a day ahead', () => {
    const { records } = observe([
      nothing,
      { events: [freeze, ahead], physicalHost: 'node-1' },
      { events: [started(freeze), ahead] },
      { events: [started(freeze)], physicalHost: 'node-2', pauseMs: 3000 },
      nothing,
    ]);
    expect(phaseLines(records).filter((words) => /^(Canceled|Completed|Ended)/.test(words))).toEqual([
      'Canceled: left-before-not-before superseded',
      'Completed: left-after-started',
    ]);
    expect(ends(records, ahead.eventId)).toMatchObject({ observedPauseMs: 0, noticeSeconds: 86_398 });
    expect(ends(records, freeze.eventId)).toMatchObject({ observedPauseMs: 3000, observedPauseTotalMs: 3000 });
  });

  play([
    {
      name: 'a busy processor well before notBefore completes nothing',
      seen: [nothing, { events: [event({ notBefore: at(200) })] }, { events: [], pauseMs: 1100 }],
      records: ['Scheduled: said-by-azure', 'Canceled: left-before-not-before'],
    },
    {
      name: 'a pause after we approved a freeze completes it, however early',
      seen: [nothing, { events: [freeze] }, { events: [], pauseMs: 4000, meanwhile: approves(freeze.eventId) }],
      records: ['Scheduled: said-by-azure', 'Completed: pause-observed approved'],
    },
    {
      name: 'a pause while two started events are listed is ambiguous and completes neither',
      seen: [
        nothing,
        { events: [started(freeze), started(ahead)] },
        { events: [started(ahead)], pauseMs: 4000 },
        nothing,
      ],
      records: [
        'Started: started-without-notice',
        'Started: started-without-notice',
        'Completed: pause-observed left-after-started not-before-unknown impact-ambiguous',
        'Completed: left-after-started not-before-unknown',
      ],
    },
    {
      name: 'a pause of a started event may be that of another that left, unseen to start',
      seen: [
        nothing,
        { events: [started(freeze), event({ eventId: 'b-freeze' })] },
        { events: [started(freeze)], incarnation: 4, pauseMs: 1100 },
        nothing,
      ],
      records: [
        'Started: started-without-notice',
        'Scheduled: said-by-azure',
        'Ended: incarnation-gap',
        'Completed: left-after-started not-before-unknown impact-ambiguous',
      ],
    },
    {
      name: 'a pause that may be that of another event, of one that Azure calls Completed',
      seen: [
        nothing,
        { events: [started(freeze), started(ahead)] },
        { events: [started(freeze, { eventStatus: 'Completed' }), started(ahead)], pauseMs: 4000 },
      ],
      records: [
        'Started: started-without-notice',
        'Started: started-without-notice',
        'Completed: said-by-azure impact-ambiguous',
      ],
    },
    {
      name: 'a pause when two events that were due leave together makes no certain claim',
      seen: [
        nothing,
        { events: [event({ eventId: 'a', notBefore: at(5) }), event({ eventId: 'b', notBefore: at(5) })] },
        { events: [], after: 8, pauseMs: 4000 },
      ],
      records: [
        'Scheduled: said-by-azure',
        'Scheduled: said-by-azure',
        'Ended: pause-observed not-before-passed impact-ambiguous',
        'Ended: not-before-passed',
      ],
    },
  ]);

  test('a pause that ends in a failed poll is counted once', () => {
    const [, , end] = observe([
      nothing,
      { events: [freeze] },
      { events: [started(freeze)] },
      { events: [], kind: 'unavailable', pauseMs: 5000, after: 6 },
      { events: [], clockOffsetSeconds: 5, incarnation: 9 },
    ]).records;
    expect(end).toMatchObject({ observedPauseMs: 5000, observedPauseTotalMs: 5000 });
  });
});

describe('a reboot is evidence only for an event that reboots or removes the VM, and that could have done so', () => {
  play([
    {
      name: 'a freeze that a user requested is not completed by its own boot',
      seen: [nothing, { events: [event({ eventSource: 'User' })] }, { events: [], after: 630, bootId: 'boot-2' }],
      records: ['Scheduled: said-by-azure', 'Ended: boot-id-changed observation-gap'],
    },
    {
      name: 'a termination that is canceled early is not completed by a boot',
      seen: [nothing, { events: [event({ eventType: 'Terminate' })] }, { events: [], after: 160, bootId: 'boot-2' }],
      records: ['Scheduled: said-by-azure', 'Ended: boot-id-changed observation-gap'],
    },
    {
      name: 'a freeze whose time has passed is not completed by a boot',
      seen: [nothing, { events: [event({ notBefore: at(20) })] }, { events: [], after: 60, bootId: 'boot-2' }],
      records: ['Scheduled: said-by-azure', 'Ended: boot-id-changed observation-gap not-before-passed'],
    },
  ]);
});

describe('an outage belongs to one event', () => {
  const boot: ObservationSpec = { events: [started(reboot), ahead], after: 192, bootId: 'boot-2' };
  const observations: readonly ObservationSpec[] = [
    nothing,
    { events: [reboot, ahead] },
    { events: [started(reboot), ahead] },
  ];

  test('to the reboot that had started, not to a redeploy that is later canceled', () => {
    const { records } = observe([...observations, boot, { events: [started(reboot)] }, nothing]);
    expect(ends(records, ahead.eventId)).toMatchObject({ phase: 'Canceled', observedOutageSeconds: null });
    expect(ends(records, reboot.eventId)).toMatchObject({ phase: 'Completed', observedOutageSeconds: 192 });
  });

  test('a reset ends with the first observation after the boot, even without an answer', () => {
    const silent: ObservationSpec = { events: [], kind: 'unavailable' };
    const { records } = observe([
      ...observations,
      { ...silent, after: 52, bootId: 'boot-2' },
      ...seconds(17, { ...silent, after: 10 }),
      { ...boot, after: 10 },
      nothing,
    ]);
    expect(ends(records, reboot.eventId)).toMatchObject({ phase: 'Completed', observedOutageSeconds: 52 });
  });

  test('to a hardware failure that is first listed after the boot: both its ends are known', () => {
    const { records } = observe([nothing, { events: [started(reboot)], after: 95, bootId: 'boot-2' }, nothing]);
    expect(records[0]).toMatchObject({
      phase: 'Started',
      evidence: ['present-at-first-look'],
      observedOutageSeconds: 95,
    });
  });

  test('to none where no event could have done it', () => {
    const { records } = observe([
      nothing,
      { events: [freeze] },
      { events: [freeze], after: 40, bootId: 'boot-2' },
      nothing,
    ]);
    expect(ends(records, freeze.eventId)?.observedOutageSeconds).toBeNull();
  });
});

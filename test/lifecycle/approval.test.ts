import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ApprovalCircumstances, approvalInWords, evidenceIn, mayApprove } from '../../src/lifecycle/approval.ts';
import type { ScheduledEvent } from '../../src/lifecycle/scheduled-event.ts';
import { event } from '../support/observations.ts';
import { runs } from '../support/runs.ts';

const policy = { userInitiated: true, freezeUpToSeconds: 9, onBehalfOf: ['web_1', 'Web_2'], onBehalfAfterSeconds: 60 };

/** All is well: the second document after the start, just fetched. */
const circumstances: ApprovalCircumstances = {
  policy,
  disabled: false,
  vmName: 'web_0',
  documentAgeMs: 3,
  isFirstDocument: false,
  phase: 'Scheduled',
  alreadyApproved: false,
  listedTwice: false,
  scheduledForMs: 0,
};
const given = (more: Partial<ApprovalCircumstances>): ApprovalCircumstances => ({ ...circumstances, ...more });
const withPolicy = (more: Partial<typeof policy> | { readonly freezeUpToSeconds: null }): ApprovalCircumstances =>
  given({ policy: { ...policy, ...more } });

const freeze = event();
const reboot = event({ eventType: 'Reboot', eventSource: 'User', durationSeconds: -1 });
const neighbours = event({ ...reboot, resources: ['web_1'] });
const longEnough = given({ scheduledForMs: 60_000 });

describe('approval by policy', () => {
  test.each<[string, ScheduledEvent, ApprovalCircumstances, string]>([
    ['a reboot that a user requested', reboot, circumstances, 'user-initiated'],
    ['a redeploy that a user requested', event({ ...reboot, eventType: 'Redeploy' }), circumstances, 'user-initiated'],
    ['a short freeze', freeze, circumstances, 'freeze'],
    ['a freeze without any impact', event({ durationSeconds: 0 }), circumstances, 'freeze'],
    ['a freeze of just the longest time', event({ durationSeconds: 9 }), circumstances, 'freeze'],
    ['a freeze that a user requested', event({ eventSource: 'User' }), circumstances, 'freeze'],
    [
      'where freezes of up to 0 s are approved, one of 0 s',
      event({ durationSeconds: 0 }),
      withPolicy({ freezeUpToSeconds: 0 }),
      'freeze',
    ],
    [
      'what names others too, this VM first',
      event({ ...reboot, resources: ['web_0', 'db_7'] }),
      circumstances,
      'user-initiated',
    ],
    ['a type of resource that is missing', event({ ...reboot, resourceType: null }), circumstances, 'user-initiated'],
    [
      'beside a list of other things than names',
      { ...reboot, raw: { ...reboot.raw, tags: ['a'], numbers: [1] } },
      circumstances,
      'user-initiated',
    ],
    ['our name in other letters', event({ ...reboot, resources: ['WEB_0'] }), circumstances, 'user-initiated'],
    ['a document of this very moment', reboot, given({ documentAgeMs: 0 }), 'user-initiated'],
    ['a document of 5 s ago', reboot, given({ documentAgeMs: 5000 }), 'user-initiated'],
    ['without freezes, a reboot all the same', reboot, withPolicy({ freezeUpToSeconds: null }), 'user-initiated'],
    ['without what users ask for, a freeze all the same', freeze, withPolicy({ userInitiated: false }), 'freeze'],
    ['on behalf of a neighbour', neighbours, longEnough, 'on-behalf-of:web_1'],
    [
      'on behalf of two, one in other letters',
      event({ ...reboot, resources: ['web_2', 'web_1'] }),
      longEnough,
      'on-behalf-of:web_2,web_1',
    ],
    [
      'on behalf of a neighbour that is named before this VM',
      event({ ...reboot, resources: ['web_1', 'web_0'] }),
      longEnough,
      'on-behalf-of:web_1',
    ],
    [
      'a freeze that a user requested, on behalf of a neighbour',
      event({ eventSource: 'User', resources: ['web_1'] }),
      longEnough,
      'on-behalf-of:web_1',
    ],
    [
      'on behalf of a neighbour at once, where it gets no time',
      neighbours,
      withPolicy({ onBehalfAfterSeconds: 0 }),
      'on-behalf-of:web_1',
    ],
  ])('%s is approved', (_, listed, around, cause) => {
    expect(mayApprove(listed, around)).toEqual({ approve: true, cause });
  });
});

describe('one condition fails, and it is not approved', () => {
  const rawOf = (listed: ScheduledEvent, resources: unknown): ScheduledEvent => ({
    ...listed,
    raw: { ...listed.raw, resources },
  });
  test.each<[string, ScheduledEvent, ApprovalCircumstances, string]>([
    ['approving is switched off by a file', reboot, given({ disabled: true }), 'approve.disabled'],
    ['it is uncertain which VM this is', reboot, given({ vmName: null }), 'which VM this is'],
    ['the first document after a start', reboot, given({ isFirstDocument: true }), 'first document'],
    ['a document of more than 5 s ago', reboot, given({ documentAgeMs: 5001 }), 'older than 5 s'],
    ['no document', reboot, given({ documentAgeMs: null }), 'older than 5 s'],
    ['a document of unknown age', reboot, given({ documentAgeMs: Number.NaN }), 'older than 5 s'],
    ['a document from the future', reboot, given({ documentAgeMs: -1 }), 'older than 5 s'],
    ['already Started', event({ ...reboot, eventStatus: 'Started' }), circumstances, 'not Scheduled'],
    ['an unknown status', event({ ...reboot, eventStatus: 'scheduled' }), circumstances, 'not Scheduled'],
    ['no status', event({ ...reboot, eventStatus: null }), circumstances, 'not Scheduled'],
    ['Scheduled again after it was Started', reboot, given({ phase: 'Started' }), 'not held as Scheduled'],
    ['an event that the lifecycle does not hold', reboot, given({ phase: null }), 'not held as Scheduled'],
    ['approved before', reboot, given({ alreadyApproved: true }), 'before'],
    ['a document that lists the EventId twice', reboot, given({ listedTwice: true }), 'more than once'],
    ['something that is no VM', event({ ...reboot, resourceType: 'CloudService' }), circumstances, 'not those of VMs'],
    ['what users ask for is not to be approved', reboot, withPolicy({ userInitiated: false }), 'approve.userInitiated'],
    ['a reboot by the platform', event({ ...reboot, eventSource: 'Platform' }), circumstances, 'no user'],
    [
      'a redeploy by the platform',
      event({ ...reboot, eventType: 'Redeploy', eventSource: 'Platform' }),
      circumstances,
      'no user',
    ],
    ['an unknown source', event({ ...reboot, eventSource: null }), circumstances, 'no user'],
    [
      'an eviction, regardless of who asked for it',
      event({ ...reboot, eventType: 'Preempt' }),
      circumstances,
      'need a manual approval',
    ],
    [
      'a deletion, regardless of who asked for it',
      event({ ...reboot, eventType: 'Terminate' }),
      circumstances,
      'need a manual approval',
    ],
    ['an unknown type', event({ ...reboot, eventType: null }), circumstances, 'need a manual approval'],
    ['freezes are not to be approved', freeze, withPolicy({ freezeUpToSeconds: null }), 'approve.freezeUpToSeconds'],
    ['a freeze of a second more', event({ durationSeconds: 10 }), circumstances, 'more than 9 s'],
    [
      'a freeze of more than 30 s, whatever the policy',
      event({ durationSeconds: 31 }),
      withPolicy({ freezeUpToSeconds: 600 }),
      'more than 30 s',
    ],
    ['a freeze of unknown duration', event({ durationSeconds: -1 }), circumstances, 'not known'],
    ['a freeze without a duration', event({ durationSeconds: null }), circumstances, 'not known'],
    ['a freeze of no whole number of seconds', event({ durationSeconds: 1.5 }), circumstances, 'not known'],
    ['a freeze whose duration is no number', event({ durationSeconds: Number.NaN }), circumstances, 'not known'],
    ['no list of VMs', event({ ...reboot, resources: null }), circumstances, 'names no VM'],
    ['an empty list of VMs', event({ ...reboot, resources: [] }), longEnough, 'names no VM'],
    ['a list of VMs with a name that cannot be read', rawOf(reboot, [5, 'web_0']), circumstances, 'in full'],
    [
      'a list of VMs united from two entries',
      rawOf(event({ ...reboot, resources: ['web_0', 'web_1'] }), ['web_0']),
      circumstances,
      'in full',
    ],
    [
      'a list of VMs that another list of the entry contradicts',
      rawOf(reboot, ['db_7', 'web_0']),
      circumstances,
      'full',
    ],
    [
      'a list of VMs that cannot be read, beside one that can',
      { ...reboot, raw: { other: ['web_0'], resources: [5, 'web_0'] } },
      circumstances,
      'in full',
    ],
    ['another VM is the leader', event({ ...reboot, resources: ['db_7', 'web_0'] }), longEnough, 'another VM'],
    ['a name that begins like ours', event({ ...reboot, resources: ['web_01'] }), longEnough, 'another VM'],
    ['a VM for which this one does not approve', event({ ...reboot, resources: ['db_7'] }), longEnough, 'another VM'],
    [
      'one of two for which this one does not approve',
      event({ ...reboot, resources: ['web_1', 'db_7'] }),
      longEnough,
      'another VM',
    ],
    ['a neighbour that still has time', neighbours, given({ scheduledForMs: 59_999 }), 'still have time'],
    ['a neighbour at an unknown time', neighbours, given({ scheduledForMs: Number.NaN }), 'still have time'],
    ['a freeze of a neighbour by the platform', event({ resources: ['web_1'] }), longEnough, 'on behalf'],
  ])('not approved: %s', (_, listed, around, why) => {
    expect(mayApprove(listed, around)).toEqual({ approve: false, why: expect.stringContaining(why) });
  });
});

/** Mostly what is fine, so that many cases miss but one condition. */
const mostly = <T>(fine: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: fc.constant(fine), weight: 8 }, { arbitrary: fc.constantFrom(...others), weight: 1 });

const anyListed = fc
  .record({
    eventStatus: mostly<string | null>('Scheduled', 'Started', 'Completed', null),
    eventType: fc.constantFrom('Freeze', 'Reboot', 'Redeploy', 'Preempt', 'Terminate', 'freeze', null),
    eventSource: fc.constantFrom('User', 'User', 'Platform', null),
    durationSeconds: fc.constantFrom(0, 5, 9, 10, 30, 31, -1, 2.5, Number.NaN, Number.POSITIVE_INFINITY, null),
    resources: fc.oneof(
      fc.constant(['web_0']),
      fc.array(fc.constantFrom('web_0', 'WEB_0', 'web_1', 'web_2', 'db_7', ''), { maxLength: 3 }),
      fc.constant(null),
    ),
  })
  .map(event);

const anyCircumstances: fc.Arbitrary<ApprovalCircumstances> = fc.record({
  policy: fc.record({
    userInitiated: mostly(true, false),
    freezeUpToSeconds: fc.constantFrom(null, 0, 9, 30, 600),
    onBehalfOf: fc.constantFrom([], ['web_1'], ['web_1', 'web_2']),
    onBehalfAfterSeconds: fc.constantFrom(0, 60),
  }),
  disabled: mostly(false, true),
  vmName: mostly<string | null>('web_0', null, ''),
  documentAgeMs: mostly<number | null>(10, 5000, 5001, -5, Number.NaN, null),
  isFirstDocument: mostly(false, true),
  phase: mostly<'Scheduled' | 'Started' | null>('Scheduled', 'Started', null),
  alreadyApproved: mostly(false, true),
  listedTwice: mostly(false, true),
  scheduledForMs: fc.constantFrom(0, 59_999, 60_000, 1e9, Number.NaN),
});

/** The conditions once more, as one would write them down. */
function allHold(listed: ScheduledEvent, given: ApprovalCircumstances): boolean {
  const { eventType: type, eventSource: source, durationSeconds: duration } = listed;
  const names = (listed.resources ?? []).map((name) => name.toLowerCase());
  const ours = given.vmName?.toLowerCase();
  const shortEnough = Array.from({ length: 31 }, (_, n) => n).filter(
    (n) => n <= (given.policy.freezeUpToSeconds ?? -1),
  );
  const leads = names[0] === ours;
  const forOthers =
    source === 'User' &&
    given.scheduledForMs >= given.policy.onBehalfAfterSeconds * 1000 &&
    names.every((name) => [ours, ...given.policy.onBehalfOf].includes(name));
  return [
    !given.disabled && !given.isFirstDocument && !given.alreadyApproved && !given.listedTwice,
    given.vmName === 'web_0' && given.phase === 'Scheduled' && listed.eventStatus === 'Scheduled',
    given.documentAgeMs !== null && given.documentAgeMs >= 0 && given.documentAgeMs <= 5000,
    names.length > 0 && (leads || forOthers),
    (type === 'Freeze' && shortEnough.includes(duration ?? Number.NaN)) ||
      ((type === 'Reboot' || type === 'Redeploy') && source === 'User' && given.policy.userInitiated),
  ].every(Boolean);
}

describe('for every event and every state', () => {
  test('it is approved when all conditions hold, and never when one does not', () => {
    let approved = 0;
    const numRuns = runs('circumstances of an approval', { quick: 5_000, full: 20_000 });
    fc.assert(
      fc.property(anyListed, anyCircumstances, (listed, around) => {
        const { approve } = mayApprove(listed, around);
        approved += approve ? 1 : 0;
        expect(approve).toBe(allHold(listed, around));
      }),
      { numRuns },
    );
    expect(approved).toBeGreaterThan(numRuns / 200);
  });
});

describe('the policy in words', () => {
  test.each([
    [{ ...policy, userInitiated: false, freezeUpToSeconds: null }, null],
    [{ ...policy, userInitiated: false }, 'freezes of at most 9 s, where this VM is the first that the event names'],
    [
      { ...policy, freezeUpToSeconds: null, onBehalfOf: [] },
      'reboots and redeploys that a user requested, where this VM is the first that the event names',
    ],
    [
      policy,
      'reboots and redeploys that a user requested, and freezes of at most 9 s, where this VM is the first that the event names; user-initiated events also on behalf of web_1, Web_2, after 60 s',
    ],
  ])('the policy %#', (some, words) => expect(approvalInWords(some)).toBe(words));

  test('a cause names the VMs concerned', () => {
    expect(evidenceIn('on-behalf-of:web_2,web_1')).toEqual(['on-behalf-of:web_2', 'on-behalf-of:web_1']);
    expect([...evidenceIn('user-initiated'), ...evidenceIn('by-hand'), ...evidenceIn('freeze')]).toEqual([]);
  });
});

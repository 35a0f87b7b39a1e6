import { describe, expect, test } from 'vitest';
import { hasApproved, recordApproval } from '../../src/lifecycle/approved-record.ts';
import { transitionId } from '../../src/lifecycle/record-id.ts';
import { emptyState, type LifecycleState } from '../../src/lifecycle/state.ts';
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

const observer = observerNamed('web_0');
const reboot = event({ eventType: 'Reboot', eventSource: 'User' });
const { eventId } = reboot;
const ofOthers = event({ ...reboot, resources: ['web_1'] });

const approvalOf = (state: LifecycleState, outcome: 'accepted' | 'refused' | 'outcome-unknown', cause = 'by-hand') =>
  recordApproval(state, { eventId, outcome, cause, at: new Date(at(10)), observer, bridgeVersion: '1.2.3' });

/** It is approved just before this observation. */
const approvedBefore = (
  observation: ObservationSpec,
  outcome: 'accepted' | 'refused' = 'accepted',
): ObservationSpec => ({
  ...observation,
  meanwhile: (state) => approvalOf(state, outcome).state,
});

describe('the record of an approval', () => {
  const seen = observe([nothing, { events: [reboot] }]);

  test('is the next of its event and of its stream', () => {
    const { record, state } = approvalOf(seen.state, 'accepted');
    expect(record).toMatchObject({
      phase: 'Approved',
      evidence: ['accepted'],
      eventId,
      eventType: 'Reboot',
      sequence: 2,
      position: 2,
      repeat: 0,
      observedAt: at(10),
      documentIncarnation: 2,
      bootId: 'boot-1',
      vmName: 'web_0',
      observerAffected: true,
    });
    expect(state.position).toBe(2);
    expect(state.events.get(eventId.toLowerCase())?.sequence).toBe(2);
  });

  test('is a step of this VM alone: another VM that approves the same event has its own transition', () => {
    const { record } = approvalOf(seen.state, 'accepted');
    const other = recordApproval(seen.state, {
      eventId,
      outcome: 'accepted',
      cause: 'by-hand',
      at: new Date(at(10)),
      observer: observerNamed('web_1'),
      bridgeVersion: '1.2.3',
    });
    expect(record.transitionId).toBe(transitionId(eventId, 'approved', 0, { vmId: observer.vmId }));
    expect(other.record.transitionId).not.toBe(record.transitionId);
  });

  test('for every outcome, the step is the same and the outcome is its evidence', () => {
    const records = (['accepted', 'refused', 'outcome-unknown'] as const).map(
      (outcome) => approvalOf(seen.state, outcome).record,
    );
    expect(phaseLines(records)).toEqual(['Approved: accepted', 'Approved: refused', 'Approved: outcome-unknown']);
    expect(new Set(records.map(({ recordId }) => recordId)).size).toBe(1);
  });

  test('names those on whose behalf it was', () => {
    const { record } = approvalOf(seen.state, 'accepted', 'on-behalf-of:web_1,web_2');
    expect(record.evidence).toEqual(['accepted', 'on-behalf-of:web_1', 'on-behalf-of:web_2']);
  });

  test('approved once more, it is one more record', () => {
    const once = approvalOf(seen.state, 'refused');
    const { record } = approvalOf(once.state, 'accepted');
    expect(record).toMatchObject({ repeat: 1, sequence: 3, position: 3 });
    expect(record.recordId).not.toBe(once.record.recordId);
  });

  test('of an event that has ended since does not reopen it', () => {
    const { state } = observe([nothing], { state: seen.state });
    const { record, state: after } = approvalOf(state, 'outcome-unknown');
    expect(record).toMatchObject({ sequence: 3, position: 3 });
    expect(after.events.get(eventId.toLowerCase())).toMatchObject({ open: false });
    expect(phaseLines(observe([nothing], { state: after }).records)).toEqual([]);
  });

  test('of an event of other VMs that was forgotten since has the fields known at the approval', () => {
    const before = observe([nothing, { events: [ofOthers] }]).state;
    const known = before.events.get(eventId.toLowerCase());
    const { state } = observe([nothing], { state: before });
    expect(state.events.size).toBe(0);
    const { record, state: after } = recordApproval(state, {
      eventId,
      outcome: 'outcome-unknown',
      cause: 'on-behalf-of:web_1',
      at: new Date(at(10)),
      observer,
      bridgeVersion: '1.2.3',
      known,
    });
    expect(record).toMatchObject({ eventType: 'Reboot', affectedResources: ['web_1'], sequence: 1, position: 1 });
    expect(after.events.get(eventId.toLowerCase())).toMatchObject({ open: false, inScope: true, endedAt: at(10) });
  });

  test('of an event that is completely unknown has its id', () => {
    const { record } = approvalOf(emptyState('stream-of-the-test'), 'outcome-unknown');
    expect(record).toMatchObject({ eventId, eventType: null, affectedResources: [], sequence: 1, position: 1 });
  });
});

describe('after an approval', () => {
  test.each<[string, readonly ObservationSpec[], readonly string[]]>([
    [
      'an event that leaves before its time is not called canceled',
      [nothing, { events: [reboot] }, approvedBefore(nothing)],
      ['Scheduled: said-by-azure', 'Ended: approved'],
    ],
    [
      'an event that Azure refused to start early and that leaves before its time is',
      [nothing, { events: [reboot] }, approvedBefore(nothing, 'refused')],
      ['Scheduled: said-by-azure', 'Canceled: left-before-not-before'],
    ],
    [
      'an event that leaves with another boot is completed',
      [nothing, { events: [event({ eventType: 'Reboot' })] }, approvedBefore({ events: [], bootId: 'boot-2' })],
      ['Scheduled: said-by-azure', 'Completed: boot-id-changed observation-gap approved'],
    ],
    [
      'the steps of an event of others are reported from then on',
      [nothing, { events: [ofOthers] }, approvedBefore({ events: [started(ofOthers)] }), nothing],
      ['Started: said-by-azure', 'Completed: left-after-started approved'],
    ],
  ])('once approved, %s', (_, observations, words) => {
    expect(phaseLines(observe(observations).records)).toEqual(words);
  });

  test('it is recorded that this VM approved it, even when Azure refused', () => {
    const { state } = observe([nothing, { events: [reboot] }]);
    expect(hasApproved(state, eventId, observer.vmId)).toBe(false);
    expect(hasApproved({ ...state, approved: new Set([eventId.toLowerCase()]) }, eventId, observer.vmId)).toBe(true);
    expect(hasApproved(approvalOf(state, 'refused').state, eventId, observer.vmId)).toBe(true);
    expect(hasApproved(approvalOf(state, 'accepted').state, eventId, observerNamed('web_1').vmId)).toBe(true);
  });

  test('the state that went in is not touched', () => {
    const { state } = observe([nothing, { events: [reboot] }]);
    const before = structuredClone(state);
    approvalOf(state, 'accepted');
    expect(state).toEqual(before);
  });
});

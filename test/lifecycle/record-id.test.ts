import { describe, expect, test } from 'vitest';
import { contentKey } from '../../src/lifecycle/content.ts';
import { recordId, stepOf, transitionId } from '../../src/lifecycle/record-id.ts';
import { at, event, nothing, observe, observerNamed, started } from '../support/observations.ts';

describe('ids', () => {
  test('never change: they are written down in the tables of every customer', () => {
    expect(transitionId('C7061BAC-AFDC-4513-B24B-AA5F13A16123', 'scheduled', 0)).toBe(
      '7dc6766b0ec4b309087434de5123c837',
    );
    expect(transitionId('C7061BAC-AFDC-4513-B24B-AA5F13A16123', 'updated', 1, { content: 'c' })).toBe(
      '0ae4e046df00502b48a6523ce85241c1',
    );
    expect(transitionId('C7061BAC-AFDC-4513-B24B-AA5F13A16123', 'approved', 0, { vmId: 'VM' })).toBe(
      '9a29c530acded547cc8e911f417e4b05',
    );
    expect(recordId('t', 'VM')).toBe('406358c769f0d1b45a89821cdada488e');
  });

  test('the case of event id and vmId does not matter', () => {
    expect(transitionId('ABC', 'end', 0)).toBe(transitionId('abc', 'end', 0));
    expect(recordId('t', 'VM')).toBe(recordId('t', 'vm'));
  });

  test('Completed, Canceled and Ended are one step', () => {
    expect(['Completed', 'Canceled', 'Ended'].map((phase) => stepOf(phase as 'Ended'))).toEqual(['end', 'end', 'end']);
  });

  test('two approvals of one event by two VMs are two transitions', () => {
    expect(transitionId('e', 'approved', 0, { vmId: 'a' })).not.toBe(transitionId('e', 'approved', 0, { vmId: 'b' }));
  });

  test('the content ignores order, case, leading underscores, description and fractions of a second', () => {
    const one = event({ resources: ['_B', 'a'], notBefore: at(900.2) });
    const two = event({ resources: ['A', 'b'], notBefore: at(900.9), description: 'other' });
    expect(contentKey(one, 'Scheduled')).toBe(contentKey(two, 'Scheduled'));
  });

  test('notBefore is content only while Scheduled', () => {
    const [early, late] = [event({ notBefore: at(1) }), event({ notBefore: at(9) })];
    expect(contentKey(early, 'Scheduled')).not.toBe(contentKey(late, 'Scheduled'));
    expect(contentKey(early, 'Started')).toBe(contentKey(late, 'Started'));
  });
});

test('a return to Scheduled has its word in the content, so that VMs with other versions give the step the same id', () => {
  const [there, back] = [contentKey(event(), 'Scheduled'), contentKey(event(), 'Scheduled', ['status-went-back'])];
  expect(JSON.parse(back)).toEqual([...JSON.parse(there), 'status-went-back']);
});

describe('copies of one step', () => {
  const scheduled = event({ resources: ['web_0', 'web_1'] });
  const lifecycle = [nothing, { events: [scheduled] }, { events: [started(scheduled)] }, nothing];
  const seenBy = (vm: string, observations = lifecycle) =>
    observe(observations, { observer: observerNamed(vm) }).records;
  const transitions = (records: ReturnType<typeof seenBy>) => records.map((record) => record.transitionId);

  test('two VMs agree on the transition and differ in the record', () => {
    const [zero, one] = [seenBy('web_0'), seenBy('web_1')];
    expect(transitions(zero)).toEqual(transitions(one));
    expect(zero.map(({ recordId }) => recordId)).not.toEqual(one.map(({ recordId }) => recordId));
  });

  test('a VM that joined late agrees on the steps that it still sees', () => {
    const late = seenBy('web_1', [{ events: [started(scheduled)], incarnation: 12 }, nothing]);
    expect(transitions(late)).toEqual(transitions(seenBy('web_0')).slice(1));
  });

  test('repeated updates to and fro differ by their count', () => {
    const [a, b] = [event({ notBefore: at(900) }), event({ notBefore: at(600) })];
    const records = observe([nothing, { events: [a] }, { events: [b] }, { events: [a] }, { events: [b] }]).records;
    expect(records.map(({ repeat }) => repeat)).toEqual([0, 0, 0, 1]);
    expect(new Set(transitions(records)).size).toBe(4);
  });
});

import { expect, test } from 'vitest';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { isUrgent } from '../../src/lifecycle/urgency.ts';
import { sampleRecord } from '../support/sample-record.ts';

const observedAt = '2026-03-14T09:00:00.000Z';
const freeze = { eventType: 'Freeze', phase: 'Scheduled', observedAt, notBefore: '2026-03-14T09:15:00.000Z' } as const;

const cases: readonly { name: string; record: Partial<LifecycleRecord>; urgent: boolean }[] = [
  { name: 'a freeze in 15 minutes', record: {}, urgent: false },
  { name: 'a freeze in 5 minutes', record: { notBefore: '2026-03-14T09:05:00.000Z' }, urgent: false },
  { name: 'a freeze in just under 5 minutes', record: { notBefore: '2026-03-14T09:04:59.999Z' }, urgent: true },
  { name: 'a freeze whose time has passed', record: { notBefore: '2026-03-14T08:00:00.000Z' }, urgent: true },
  { name: 'a freeze at an unknown time', record: { notBefore: null }, urgent: true },
  { name: 'a freeze at an unreadable time', record: { notBefore: 'soon' }, urgent: true },
  {
    name: 'a change that brings it near',
    record: { phase: 'Updated', notBefore: '2026-03-14T09:01:00.000Z' },
    urgent: true,
  },
  { name: 'a change that leaves it far', record: { phase: 'Updated' }, urgent: false },
  { name: 'any start', record: { phase: 'Started' }, urgent: true },
  { name: 'the start of an unknown type', record: { phase: 'Started', eventType: null }, urgent: true },
  { name: 'the end of a freeze', record: { phase: 'Completed', notBefore: null }, urgent: false },
  { name: 'a freeze called off', record: { phase: 'Canceled', notBefore: null }, urgent: false },
  { name: 'a freeze that ended somehow', record: { phase: 'Ended', notBefore: null }, urgent: false },
  { name: 'the approval of a freeze', record: { phase: 'Approved', notBefore: null }, urgent: false },
  {
    name: 'an eviction in an hour',
    record: { eventType: 'Preempt', notBefore: '2026-03-14T10:00:00.000Z' },
    urgent: true,
  },
  { name: 'the end of a termination', record: { eventType: 'Terminate', phase: 'Completed' }, urgent: true },
  { name: 'the approval of an eviction', record: { eventType: 'Preempt', phase: 'Approved' }, urgent: true },
];

test.each(cases)('$name: urgent is $urgent', ({ record, urgent }) => {
  expect(isUrgent(sampleRecord({ ...freeze, ...record }))).toBe(urgent);
});

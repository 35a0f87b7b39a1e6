import { expect, test } from 'vitest';
import { emptyState, type LifecycleState } from '../../src/lifecycle/state.ts';
import { testRecord } from '../../src/lifecycle/test-record.ts';
import { isUrgent } from '../../src/lifecycle/urgency.ts';
import { event, observe, observerNamed, phaseLines, started } from '../support/observations.ts';

const given = {
  unique: '1',
  observer: observerNamed('web_0'),
  at: new Date('2026-03-01T12:00:00.000Z'),
  imdsApiVersion: '2020-07-01',
  bridgeVersion: '1.2.3',
};

test('a test is recognizable as one in every field that a consumer might act on', () => {
  const { record } = testRecord(emptyState('s'), given);
  expect(record).toMatchObject({
    isTest: true,
    eventId: 'emit-test-1',
    eventType: 'Test',
    phase: 'Scheduled',
    evidence: [],
    notBefore: null,
    durationSeconds: 0,
    vmName: 'web_0',
    affectedResources: ['web_0'],
    sequence: 1,
    streamId: 's',
    position: 1,
  });
});

test('a test is urgent, so that a sink in backoff is tried at once', () => {
  expect(isUrgent(testRecord(emptyState('s'), given).record)).toBe(true);
});

test('a test takes a position of the stream and changes nothing else', () => {
  const before = { ...emptyState('s'), position: 41 };
  expect(testRecord(before, given).state).toEqual({ ...before, position: 42 });
});

test('each test is another event, and the same one has the same ids', () => {
  const [one, same, other] = ['1', '1', '2'].map((unique) => testRecord(emptyState('s'), { ...given, unique }).record);
  expect(same?.recordId).toBe(one?.recordId);
  expect(other?.recordId).not.toBe(one?.recordId);
});

test('the next document does not end a test, and its events continue after it', () => {
  const freeze = event();
  const emitTest = (state: LifecycleState): LifecycleState => testRecord(state, given).state;
  const { records } = observe([
    { events: [freeze] },
    { events: [freeze], meanwhile: emitTest },
    { events: [started(freeze)] },
  ]);
  expect(phaseLines(records)).toEqual(['Scheduled: present-at-first-look', 'Started: said-by-azure']);
  expect(records.map(({ position }) => position)).toEqual([1, 3]);
});

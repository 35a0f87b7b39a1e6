import { describe, expect, test } from 'vitest';
import { settledBy } from '../../src/lifecycle/approval-settled.ts';
import type { LifecycleState } from '../../src/lifecycle/state.ts';
import { at, event, nothing, type ObservationSpec, observe, started } from '../support/observations.ts';

/** Noon, and a quarter of an hour until it may start. */
const reboot = event({ eventType: 'Reboot', eventSource: 'User', notBefore: at(900) });
const before: readonly ObservationSpec[] = [nothing, { events: [reboot] }];
/** As the outbox loads an intent without an outcome. */
const intended = (state: LifecycleState): LifecycleState => ({
  ...state,
  approved: new Set([reboot.eventId.toLowerCase()]),
});
const timeless = event({ ...reboot, notBefore: null });

/** What the last observation reports, seconds after noon by Azure's clock. */
function outcomeAfter(observations: readonly ObservationSpec[], seconds: number): string {
  const earlier = observe(observations.slice(0, -1));
  const { state, records } = observe(observations);
  const brought = records.slice(earlier.records.length);
  return (
    settledBy(reboot.eventId.toLowerCase(), { state, records: brought, now: new Date(at(seconds)) })?.outcome ?? 'open'
  );
}

describe('the document settles an approval without an outcome', () => {
  test.each<[what: string, observations: readonly ObservationSpec[], seconds: number, outcome: string]>([
    ['the event still waits', before, 2, 'open'],
    [
      'the event is Started long before its time',
      [...before, { events: [started(reboot)], after: 10 }],
      12,
      'accepted',
    ],
    [
      'the event is Started a minute before its time, as clocks go',
      [...before, { events: [started(reboot)], after: 850 }],
      852,
      'outcome-unknown',
    ],
    [
      'the event is Started after its time',
      [...before, { events: [started(reboot)], after: 1000 }],
      1002,
      'outcome-unknown',
    ],
    [
      'the event is Started in time, which a clock that is a day late does not make early',
      [
        { ...nothing, clockOffsetSeconds: 86_400 },
        { events: [event({ ...reboot, notBefore: at(86_400) })], clockOffsetSeconds: 86_400 },
        { events: [started(reboot)], clockOffsetSeconds: 86_400 },
      ],
      86_402,
      'outcome-unknown',
    ],
    [
      'the event is Started, and its time was never reported',
      [nothing, { events: [timeless] }, { events: [started(timeless)] }],
      3,
      'outcome-unknown',
    ],
    ['the event left', [...before, nothing], 3, 'outcome-unknown'],
    [
      'the event rebooted this VM long before its time',
      [...before, { ...nothing, bootId: 'boot-2', after: 10, meanwhile: intended }],
      12,
      'accepted',
    ],
    [
      'the event rebooted this VM after its time',
      [...before, { ...nothing, bootId: 'boot-2', after: 1000, meanwhile: intended }],
      1002,
      'outcome-unknown',
    ],
    ['the event was never listed', [nothing, nothing], 2, 'outcome-unknown'],
  ])('%s', (_, observations, seconds, outcome) => expect(outcomeAfter(observations, seconds)).toBe(outcome));
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentKey } from '../../src/lifecycle/content.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { stepOf } from '../../src/lifecycle/record-id.ts';
import type { ScheduledEvent } from '../../src/lifecycle/scheduled-event.ts';
import type { LifecycleState } from '../../src/lifecycle/state.ts';
import { at, event, type ObservationSpec, observe, observerNamed } from '../support/observations.ts';

/** What a process that starts again finds in its file. */
const restarted = (state: LifecycleState): LifecycleState => ({
  ...structuredClone(state),
  ...(JSON.parse(JSON.stringify({ undecided: state.undecided })) as Pick<LifecycleState, 'undecided'>),
});

/** The same, without the observations of the last minute: `lastDocumentAt` is stored once a minute. */
const crashed = (state: LifecycleState): LifecycleState => ({
  ...restarted(state),
  lastDocumentAt: state.lastDocumentAt && new Date(Date.parse(state.lastDocumentAt) - 59_000).toISOString(),
});

/** Maps are not frozen by `Object.freeze`: their values are. */
function deepFrozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const inner of value instanceof Map ? value.values() : Object.values(value)) deepFrozen(inner);
  return Object.freeze(value);
}

const anyEvent = fc
  .record({
    eventId: fc.constantFrom('A', 'b', 'C'),
    eventStatus: fc.constantFrom('Scheduled', 'Scheduled', 'Started', 'Started', 'Paused', 'Completed', null),
    eventType: fc.constantFrom('Freeze', 'Reboot', 'Preempt'),
    resources: fc.constantFrom(['web_0'], ['web_0', 'web_1'], ['web_1'], null),
    notBefore: fc.constantFrom(at(900), at(30), at(5000), null),
    eventSource: fc.constantFrom('Platform', 'User'),
    durationSeconds: fc.constantFrom(5, -1, 0, null),
  })
  .map(event);

const anyObservation: fc.Arbitrary<ObservationSpec> = fc.record({
  events: fc.uniqueArray(anyEvent, { selector: ({ eventId }) => eventId.toLowerCase(), maxLength: 3 }),
  after: fc.constantFrom(2, 2, 2, 4, 8, 30, 400),
  incarnation: fc.integer({ min: 1, max: 6 }),
  unreadable: fc.constantFrom(0, 0, 0, 0, 1),
  kind: fc.constantFrom('document', 'document', 'document', 'unavailable', 'unchanged'),
  bootId: fc.constantFrom('boot-1', 'boot-1', 'boot-1', 'boot-2', null),
  physicalHost: fc.constantFrom('node-1', 'node-1', 'node-2', null),
});

/** Repeats would count a pause twice: histories with pauses have a generator of their own. */
const anyObservationWithPauses: fc.Arbitrary<ObservationSpec> = fc
  .tuple(anyObservation, fc.constantFrom(undefined, 0, 300, 5000))
  .map(([observation, pauseMs]) => (pauseMs === undefined ? observation : { ...observation, pauseMs }));

const anyHistory = fc.array(anyObservation, { minLength: 1, maxLength: 14 });
const anyHistoryWithPauses = fc.array(anyObservationWithPauses, { minLength: 1, maxLength: 14 });

const recordsOf = (observations: readonly ObservationSpec[], witnessRate = 1): readonly LifecycleRecord[] =>
  observe(observations, { witnessRate }).records;

describe('for every history', () => {
  test('repeats, orderly restarts and another order within a document change no record', () => {
    const disturbed = (observations: readonly ObservationSpec[]): ObservationSpec[] =>
      observations.flatMap((observation, n) => {
        const shuffled: ObservationSpec = {
          ...observation,
          events: [...observation.events].reverse(),
          meanwhile: restarted,
        };
        return n % 2 === 0
          ? [shuffled, { ...shuffled, after: 0.001 }]
          : [{ ...shuffled, after: (observation.after ?? 1) - 0.001 }];
      });
    const even = (observations: readonly ObservationSpec[]): ObservationSpec[] =>
      observations.length % 2 === 0 ? [...observations] : observations.slice(0, -1);
    fc.assert(
      fc.property(anyHistory.map(even), (observations) => {
        expect(inWholeSeconds(recordsOf(disturbed(observations)))).toEqual(inWholeSeconds(recordsOf(observations)));
      }),
    );
  });

  test('documents set aside until the observer is known give the very records that a known observer gives', () => {
    fc.assert(
      fc.property(anyHistory, (observations) => {
        const known = observations.map((observation): ObservationSpec => ({ ...observation, kind: 'document' }));
        const aside = known.map((observation): ObservationSpec => ({ ...observation, unknownObserver: true }));
        const last: ObservationSpec = { ...(known.at(-1) as ObservationSpec), after: 2 };
        // Of equal documents only three are kept, so an end may be confirmed later: with the host that the VM is on by then.
        const waiting = (all: readonly ObservationSpec[]) =>
          observe([...all, last], { witnessRate: 1, confirms: false }).records.map((record) =>
            stepOf(record.phase) === 'end' ? { ...record, ...unknownMachine } : record,
          );
        expect(waiting(aside)).toEqual(waiting(known));
      }),
    );
  });

  test('the input is not modified', () => {
    fc.assert(
      fc.property(anyHistoryWithPauses, (observations) => {
        const frozen = deepFrozen(observations.map((observation) => ({ ...observation, meanwhile: deepFrozen })));
        expect(recordsOf(frozen)).toEqual(recordsOf(observations));
      }),
    );
  });

  test('a crash at any point leaves the steps and their ids, and makes nothing stronger', () => {
    fc.assert(
      fc.property(anyHistoryWithPauses, fc.nat(13), (observations, n) => {
        const quiet = recordsOf(observations);
        const crash = recordsOf(
          observations.map((observation, k) => (k === n ? { ...observation, meanwhile: crashed } : observation)),
        );
        expect(crash.map(({ transitionId }) => transitionId)).toEqual(quiet.map(({ transitionId }) => transitionId));
        for (const [k, record] of crash.entries()) expectNotStronger(record, quiet[k]);
      }),
    );
  });

  test('sequence and position have no gaps', () => {
    fc.assert(
      fc.property(anyHistoryWithPauses, (observations) => {
        const records = recordsOf(observations);
        expect(records.map(({ position }) => position)).toEqual(records.map((_, n) => n + 1));
        for (const ofEvent of Map.groupBy(records, ({ eventId }) => eventId.toLowerCase()).values()) {
          expect(ofEvent.map(({ sequence }) => sequence)).toEqual(ofEvent.map((_, n) => n + 1));
        }
      }),
    );
  });

  test('an occurrence ends at most once: between two ends the event came back', () => {
    fc.assert(
      fc.property(anyHistory, (observations) => {
        for (const ofEvent of Map.groupBy(recordsOf(observations), ({ eventId }) => eventId.toLowerCase()).values()) {
          let isOpen = true;
          for (const { phase, evidence } of ofEvent) {
            if (!isOpen)
              expect(evidence.includes('reappeared') || evidence.includes('present-at-first-look')).toBe(true);
            isOpen = stepOf(phase) !== 'end';
          }
        }
      }),
    );
  });

  test('no id is given twice', () => {
    fc.assert(
      fc.property(anyHistory, (observations) => {
        const ids = recordsOf(observations).map(({ recordId }) => recordId);
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });
});

const inWhole = (seconds: number | null): number | null => (seconds === null ? null : Math.round(seconds));

const unknownMachine = { bootId: null, physicalHost: null, previousPhysicalHost: null };

/** A repeat is a millisecond nearer to the next observation: an outage after it is shorter by that, and a notice longer. */
const inWholeSeconds = (records: readonly LifecycleRecord[]): readonly LifecycleRecord[] =>
  records.map((record) => ({
    ...record,
    observedOutageSeconds: inWhole(record.observedOutageSeconds),
    noticeSeconds: inWhole(record.noticeSeconds),
  }));

function expectNotStronger(after: LifecycleRecord, before: LifecycleRecord | undefined): void {
  if (!before) throw new Error('a crash made a record more');
  const allowed = before.phase === 'Canceled' ? ['Canceled', 'Ended'] : [before.phase];
  expect(allowed).toContain(after.phase);
  for (const field of ['noticeSeconds', 'startedSeconds'] as const) {
    expect([before[field], null]).toContain(after[field]);
  }
  // After a power cut the last observation on disk may be a minute older than the last one made: an upper bound.
  const outage = { before: before.observedOutageSeconds, after: after.observedOutageSeconds };
  if (outage.before === null) expect(outage.after).toBeNull();
  else {
    expect(outage.after).toBeGreaterThanOrEqual(outage.before);
    expect(outage.after).toBeLessThanOrEqual(outage.before + 59);
  }
  const weakened = ['present-at-first-look', 'observation-gap'];
  const gained = after.evidence.filter((word) => !before.evidence.includes(word));
  expect(gained.filter((word) => !weakened.includes(word))).toEqual([]);
}

describe('for every two observers of one event that each miss any documents', () => {
  /** One event from Scheduled to its end, no content twice, and it never returns. */
  const anyLifecycle = fc
    .record({
      planned: fc.uniqueArray(fc.integer({ min: 100, max: 10_000 }), { minLength: 1, maxLength: 5 }),
      startedWith: fc.uniqueArray(fc.integer({ min: 0, max: 60 }), { maxLength: 3 }),
    })
    .map(({ planned, startedWith }): ScheduledEvent[] => [
      ...planned.map((seconds) => event({ notBefore: at(seconds), resources: ['web_0', 'web_1'] })),
      ...startedWith.map((durationSeconds) =>
        event({ eventStatus: 'Started', notBefore: null, durationSeconds, resources: ['web_0', 'web_1'] }),
      ),
    ]);
  const observationsOf = (listings: readonly ScheduledEvent[], missed: readonly boolean[]): ObservationSpec[] =>
    [[], ...listings.map((listed) => [listed]), []]
      .map((events, n): ObservationSpec => ({ events, incarnation: n + 1 }))
      .filter((_, n) => !missed[n]);
  const anyMissed = fc.array(fc.boolean(), { maxLength: 10 });
  const stepName = ({ phase, evidence, durationSeconds, notBefore, rawEvent, startedAt }: LifecycleRecord): string =>
    stepOf(phase) === 'updated'
      ? `updated ${contentKey(event({ ...rawEvent, durationSeconds, notBefore }), startedAt ? 'Started' : 'Scheduled', evidence)}`
      : stepOf(phase);

  test('a step that both saw has the same id', () => {
    fc.assert(
      fc.property(anyLifecycle, anyMissed, anyMissed, (listings, missedByZero, missedByOne) => {
        const idsOf = (vm: string, missed: readonly boolean[]) =>
          new Map(
            observe(observationsOf(listings, missed), { observer: observerNamed(vm) }).records.map((record) => [
              stepName(record),
              record.transitionId,
            ]),
          );
        const zero = idsOf('web_0', missedByZero);
        for (const [step, id] of idsOf('web_1', missedByOne)) expect(zero.get(step) ?? id).toBe(id);
      }),
    );
  });
});

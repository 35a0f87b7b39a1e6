import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldEvents } from '../../../src/lifecycle/fold.ts';
import { endEvidence, type LifecycleRecord, type Phase, phases, stepEvidence } from '../../../src/lifecycle/record.ts';
import { recordId, stepOf, transitionId } from '../../../src/lifecycle/record-id.ts';
import { encodeRow } from '../../../src/sinks/log-analytics/encode.ts';
import { sampleRecord } from '../../support/sample-record.ts';
import { at } from '../../support/story.ts';
import { kql } from './query.ts';

const isEnd = (phase: Phase): boolean => stepOf(phase) === 'end';

/** Of few events, VMs and moments, so that everything meets everything: returns, several ends, equal times, wrong clocks, lost state. */
const record: fc.Arbitrary<LifecycleRecord> = fc
  .record({
    event: fc.constantFrom('Event-1', 'event-1', 'event-2'),
    vm: fc.constantFrom('vm-a', 'VM-A', 'vm-b', 'vm-c'),
    stream: fc.constantFrom('first', 'second'),
    phase: fc.constantFrom(...phases, 'Completed' as const, 'Ended' as const),
    repeat: fc.constantFrom(0, 0, 1),
    second: fc.integer({ min: 0, max: 6 }),
    sequence: fc.integer({ min: 1, max: 5 }),
    ends: fc.uniqueArray(fc.constantFrom(...endEvidence), { maxLength: 3 }),
    steps: fc.uniqueArray(fc.constantFrom(...stepEvidence), { maxLength: 2 }),
    returns: fc.constantFrom(true, false, false, false),
    ahead: fc.constantFrom(0, 0, 0, 3, -2, null),
    inSight: fc.constantFrom(['Event-1'], ['EVENT-2', 'event-3'], [], null),
  })
  .map(({ event, vm, stream, phase, repeat, second, sequence, ends, steps, returns, ahead, inSight }) => {
    const transition = transitionId(event, stepOf(phase), repeat, { vmId: vm });
    return sampleRecord({
      recordId: recordId(transition, vm),
      transitionId: transition,
      eventId: event,
      vmId: vm,
      streamId: stream,
      phase,
      repeat,
      sequence,
      evidence: isEnd(phase) ? ends : [...steps, ...(returns ? ['reappeared'] : [])],
      observedAt: at(second),
      clockOffsetSeconds: ahead,
      eventsInSight: phase === 'Snapshot' ? inSight : null,
    });
  });

/** What was sent, and what arrives of it: some of it twice, in any order. */
const arrivals = fc
  .uniqueArray(record, { minLength: 1, maxLength: 40, selector: (one) => `${one.recordId} ${one.observedAt}` })
  .chain((sent) =>
    fc.subarray(sent).chain((again) => fc.shuffledSubarray([...sent, ...again], { minLength: sent.length })),
  );

const ofEvent = (eventId: string, { phase, recordId: id, observedAt }: LifecycleRecord): string =>
  `${eventId} ${phase} ${id} ${observedAt}`;

/** An event as the bridge's own code folds it, a step a line. */
const folded = (records: readonly LifecycleRecord[]): string[] =>
  foldEvents(records)
    .flatMap(({ eventId, steps, end }) =>
      [...steps, ...(end === null ? [] : [end])].map((one) => ofEvent(eventId, one)),
    )
    .sort();

const asked = (records: readonly LifecycleRecord[]): string[] =>
  kql
    .execute('VmLifecycle() | project tolower(EventId), Phase, RecordId, ObservedAt', {
      tables: { VmLifecycle_CL: records.map(encodeRow) },
      now: at(60),
    })
    .rows.map(([event, phase, id, time]) => [event, phase, id, new Date(String(time)).toISOString()].join(' '))
    .sort();

test('VmLifecycle folds any records as foldEvents does', () => {
  fc.assert(
    fc.property(arrivals, (records) => {
      expect(asked(records)).toEqual(folded(records));
    }),
    { numRuns: 150 },
  );
});

test('VmLifecycleSights presumes the ends that foldEvents does', () => {
  const presumed = (records: readonly LifecycleRecord[]): string[] =>
    kql
      .execute('VmLifecycleSights() | where IsPresumedEnded | distinct Event', {
        tables: { VmLifecycle_CL: records.map(encodeRow) },
        now: at(60),
      })
      .rows.map(([event]) => String(event))
      .sort();
  const openly = (records: readonly LifecycleRecord[]): LifecycleRecord[] =>
    records.filter(({ phase }) => !isEnd(phase));
  fc.assert(
    fc.property(arrivals.map(openly), (records) => {
      const folded = foldEvents(records).filter(({ presumedEnd }) => presumedEnd !== null);
      expect(presumed(records)).toEqual(folded.map(({ eventId }) => eventId).sort());
    }),
    { numRuns: 100 },
  );
});

test('the records that are compared hold withdrawn ends, several ends and equal times', () => {
  const samples = fc.sample(arrivals, { numRuns: 300, seed: 7 });
  const some = (holds: (records: readonly LifecycleRecord[]) => boolean): boolean => samples.some(holds);
  const ends = (records: readonly LifecycleRecord[]) => records.filter(({ phase }) => isEnd(phase));
  expect(some((records) => ends(records).length > 1 && foldEvents(records).every(({ end }) => end === null))).toBe(
    true,
  );
  expect(some((records) => ends(records).length > 3 && foldEvents(records).some(({ end }) => end !== null))).toBe(true);
  expect(some((records) => new Set(records.map(({ observedAt }) => observedAt)).size < records.length)).toBe(true);
});

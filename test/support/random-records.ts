import fc from 'fast-check';
import { endEvidence, type LifecycleRecord, type Phase, phases, stepEvidence } from '../../src/lifecycle/record.ts';
import { recordId, stepOf, transitionId } from '../../src/lifecycle/record-id.ts';
import { at } from './observations.ts';
import { sampleRecord } from './sample-record.ts';

export const isEnd = (phase: Phase): boolean => stepOf(phase) === 'end';

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
export const arrivals = fc
  .uniqueArray(record, { minLength: 1, maxLength: 40, selector: (one) => `${one.recordId} ${one.observedAt}` })
  .chain((sent) =>
    fc.subarray(sent).chain((again) => fc.shuffledSubarray([...sent, ...again], { minLength: sent.length })),
  );

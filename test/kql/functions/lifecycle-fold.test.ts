import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldEvents } from '../../../src/lifecycle/fold.ts';
import type { LifecycleRecord } from '../../../src/lifecycle/record.ts';
import { encodeRow } from '../../../src/sinks/log-analytics/encode.ts';
import { at } from '../../support/observations.ts';
import { arrivals, isEnd } from '../../support/random-records.ts';
import { kql } from './query.ts';

/** By Azure's time: of two copies with the same one, from streams of different clocks, either is right. */
function ofEvent(eventId: string, { phase, recordId: id, observedAt, clockOffsetSeconds }: LifecycleRecord): string {
  const offset = clockOffsetSeconds ?? 0;
  const azureAt = Date.parse(observedAt) + (Math.abs(offset) < 2 ? 0 : 1000 * offset);
  return `${eventId} ${phase} ${id} ${new Date(azureAt).toISOString()}`;
}

/** An event as the bridge's own code folds it, a step a line. */
const folded = (records: readonly LifecycleRecord[]): string[] =>
  foldEvents(records)
    .flatMap(({ eventId, steps, end }) =>
      [...steps, ...(end === null ? [] : [end])].map((one) => ofEvent(eventId, one)),
    )
    .sort();

const asked = (records: readonly LifecycleRecord[]): string[] =>
  kql
    .execute('VmLifecycle() | project tolower(EventId), Phase, RecordId, AzureAt', {
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

test('the records that are compared hold revoked ends, several ends and equal times', () => {
  const samples = fc.sample(arrivals, { numRuns: 300, seed: 7 });
  const some = (holds: (records: readonly LifecycleRecord[]) => boolean): boolean => samples.some(holds);
  const ends = (records: readonly LifecycleRecord[]) => records.filter(({ phase }) => isEnd(phase));
  expect(some((records) => ends(records).length > 1 && foldEvents(records).every(({ end }) => end === null))).toBe(
    true,
  );
  expect(some((records) => ends(records).length > 3 && foldEvents(records).some(({ end }) => end !== null))).toBe(true);
  expect(some((records) => new Set(records.map(({ observedAt }) => observedAt)).size < records.length)).toBe(true);
});

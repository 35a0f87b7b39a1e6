import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PendingDelivery } from '../../src/outbox/outbox.ts';
import { type BatchRequest, nextBatches } from '../../src/relay/batch.ts';

const appendedAt = '2026-01-01T00:00:00.000Z';

/** `a1` is the entry at position 1 of event `a`; `a1:3` belongs to group 3, `a1!2` had two attempts, `a1*40` has 40 bytes. */
function entry(text: string): PendingDelivery {
  const [, eventKey = '', position, group, attempts, bytes] =
    /^([a-z])(\d+)(?::(\d+))?(?:!(\d+))?(?:\*(\d+))?$/.exec(text) ?? [];
  const json = Buffer.alloc(Number(bytes ?? 10));
  const [own, tries] = [Number(group ?? 0), Number(attempts ?? 0)];
  return { eventKey, position: Number(position), group: own, attempts: tries, appendedAt, json };
}

function queuesOf(texts: readonly string[]): Map<string, PendingDelivery[]> {
  const queues = new Map<string, PendingDelivery[]>();
  for (const each of texts.map(entry)) queues.set(each.eventKey, [...(queues.get(each.eventKey) ?? []), each]);
  return queues;
}

interface Case {
  readonly name: string;
  readonly waiting: readonly string[];
  readonly busy?: string;
  readonly urgent?: string;
  readonly held?: string;
  readonly apart?: string;
  readonly with?: Partial<BatchRequest>;
  readonly batches: readonly string[];
}

function batchesOf(
  { waiting, busy = '', urgent = '', held = '', apart = '', with: overrides = {} }: Case,
  batchBy: 'event' | 'any',
): string[] {
  const batches = nextBatches({
    queues: queuesOf(waiting),
    busy: new Set(busy),
    urgent: new Set(urgent),
    status: (eventKey) => (held.includes(eventKey) ? 'held' : apart.includes(eventKey) ? 'isolated' : 'ready'),
    batchBy,
    slots: 4,
    records: 10,
    bytes: 1_000,
    probing: false,
    ...overrides,
  });
  return batches.map((batch) => batch.map(({ eventKey, position }) => `${eventKey}${position}`).join(' '));
}

describe('batches of one event each', () => {
  const cases: readonly Case[] = [
    { name: 'one record goes at once', waiting: ['a1'], batches: ['a1'] },
    { name: 'nothing waits, nothing goes', waiting: [], batches: [] },
    { name: 'each event makes its own batch', waiting: ['a1', 'b2', 'a3', 'c4'], batches: ['a1 a3', 'b2', 'c4'] },
    { name: 'an event in flight waits, others go', waiting: ['a1', 'b2', 'a3'], busy: 'a', batches: ['b2'] },
    {
      name: 'there are at most as many batches as slots',
      waiting: ['a1', 'b2', 'c3'],
      with: { slots: 2 },
      batches: ['a1', 'b2'],
    },
    { name: 'without a slot nothing starts', waiting: ['a1'], with: { slots: 0 }, batches: [] },
    { name: 'a slot too many in use starts nothing either', waiting: ['a1'], with: { slots: -3 }, batches: [] },
    {
      name: 'a batch has at most the limit of records',
      waiting: ['a1', 'a2', 'a3'],
      with: { records: 2 },
      batches: ['a1 a2'],
    },
    {
      name: 'a batch that has exactly the limit of bytes is not split',
      waiting: ['a1*40', 'a2*60', 'a3*1'],
      with: { bytes: 100 },
      batches: ['a1 a2'],
    },
    {
      name: 'without failures of the sink, an event that was refused keeps its turn',
      waiting: ['a1!3', 'b2'],
      with: { slots: 1 },
      batches: ['a1'],
    },
    {
      name: 'a probe is of the oldest record among those with equally many attempts',
      waiting: ['b7!2', 'c5!2', 'a3!2'],
      with: { slots: 1, probing: true },
      batches: ['a3'],
    },
    {
      name: 'a batch has at most the limit of bytes',
      waiting: ['a1*40', 'a2*50', 'a3*20'],
      with: { bytes: 100 },
      batches: ['a1 a2'],
    },
    {
      name: 'a record larger than a batch is sent alone',
      waiting: ['a1*400', 'a2'],
      with: { bytes: 100 },
      batches: ['a1'],
    },
    {
      name: 'urgent events go first',
      waiting: ['a1', 'b2', 'c3'],
      urgent: 'c',
      with: { slots: 2 },
      batches: ['c3', 'a1'],
    },
    {
      name: 'the earlier records of an urgent event are sent with it',
      waiting: ['a1', 'b2', 'c3', 'c4'],
      urgent: 'c',
      with: { slots: 1 },
      batches: ['c3 c4'],
    },
    { name: 'an urgent event in flight still waits', waiting: ['a1', 'c3'], urgent: 'c', busy: 'c', batches: ['a1'] },
    { name: 'an event in backoff does not delay others', waiting: ['a1', 'b2'], held: 'a', batches: ['b2'] },
    { name: 'a batch ends where a half ends', waiting: ['a1:1', 'a2:1', 'a3:2', 'a4:2'], batches: ['a1 a2'] },
    { name: 'a half does not mix with later records', waiting: ['a3:2', 'a4'], batches: ['a3'] },
    {
      name: 'a probe takes the event with the fewest attempts',
      waiting: ['a1!3', 'b2!1', 'c3!1'],
      with: { probing: true, slots: 1, records: 1 },
      batches: ['b2'],
    },
    {
      name: 'a probe prefers what is urgent',
      waiting: ['a1!3', 'b2', 'c3!9'],
      urgent: 'c',
      with: { probing: true, slots: 1, records: 1 },
      batches: ['c3'],
    },
  ];
  test.each(cases)('by event: $name', (each) => {
    expect(batchesOf(each, 'event')).toEqual(each.batches);
  });
});

describe('batches of any events', () => {
  const cases: readonly Case[] = [
    { name: 'the oldest go first, whatever the event', waiting: ['a1', 'a4', 'b2', 'c3'], batches: ['a1 b2 c3 a4'] },
    {
      name: 'records beyond one batch wait for the next drain',
      waiting: ['a1', 'b2', 'a3'],
      with: { records: 2, slots: 1 },
      batches: ['a1 b2'],
    },
    {
      name: 'two batches never share an event',
      waiting: ['a1', 'b2', 'a3', 'c4'],
      with: { records: 2 },
      batches: ['a1 b2', 'c4'],
    },
    {
      name: 'urgent events go first in a mixed batch',
      waiting: ['a1', 'b2', 'c3', 'c4'],
      urgent: 'c',
      with: { slots: 1 },
      batches: ['c3 c4 a1 b2'],
    },
    { name: 'a held event is left out', waiting: ['a1', 'b2', 'a3', 'c4'], held: 'a', batches: ['b2 c4'] },
    {
      name: 'an isolated event shares no batch',
      waiting: ['a1', 'b2', 'a3', 'c4'],
      apart: 'a',
      batches: ['a1 a3', 'b2 c4'],
    },
    {
      name: 'an event isolated later shares no batch either',
      waiting: ['b2', 'a3', 'c4'],
      apart: 'a',
      batches: ['b2 c4', 'a3'],
    },
    { name: 'a half goes by itself', waiting: ['a1:1', 'b2:1', 'a3:2', 'c4:2', 'd5'], batches: ['a1 b2', 'c4', 'd5'] },
    { name: 'records after a partial batch wait for it', waiting: ['a1:1', 'a2', 'b3'], batches: ['a1', 'b3'] },
    {
      name: 'bytes end a mixed batch',
      waiting: ['a1*60', 'b2*60', 'c3*10'],
      with: { bytes: 100, slots: 1 },
      batches: ['a1'],
    },
    {
      name: 'a mixed probe takes the record with the fewest attempts',
      waiting: ['a1!3', 'b2!1', 'c3!1'],
      with: { probing: true, slots: 1, records: 1 },
      batches: ['b2'],
    },
  ];
  test.each(cases)('mixed: $name', (each) => {
    expect(batchesOf(each, 'any')).toEqual(each.batches);
  });
});

test('for any backlog, no event is in two batches, none has a gap, and every sendable record is sent', () => {
  const events = fc.constantFrom(...'abcde');
  const rows = fc.array(
    fc.record({
      eventKey: events,
      group: fc.constantFrom(0, 0, 0, 1, 2),
      bytes: fc.integer({ min: 1, max: 60 }),
      attempts: fc.nat(3),
    }),
    { maxLength: 30 },
  );
  const some = fc.uniqueArray(events).map((list) => new Set(list));
  fc.assert(
    fc.property(
      rows,
      some,
      some,
      some,
      some,
      fc.boolean(),
      fc.boolean(),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 8 }),
      (list, busy, urgent, held, apart, probing, byEvent, slots, records) => {
        const queues = new Map<string, PendingDelivery[]>();
        for (const [position, { bytes, ...row }] of list.entries()) {
          queues.set(row.eventKey, [
            ...(queues.get(row.eventKey) ?? []),
            { ...row, position, appendedAt, json: Buffer.alloc(bytes) },
          ]);
        }
        const status = (eventKey: string) => (held.has(eventKey) ? 'held' : apart.has(eventKey) ? 'isolated' : 'ready');
        const batches = nextBatches({
          queues,
          busy,
          urgent,
          status,
          probing,
          slots,
          records,
          bytes: 100,
          batchBy: byEvent ? 'event' : 'any',
        });

        const mayGo = [...queues.keys()].filter((eventKey) => !busy.has(eventKey) && !held.has(eventKey));
        expect(batches.length > 0).toBe(mayGo.length > 0);
        expect(batches.length).toBeLessThanOrEqual(slots);
        const seen = new Set<string>();
        for (const batch of batches) {
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(records);
          expect(batch.length === 1 || batch.reduce((size, { json }) => size + json.length, 0) <= 100).toBe(true);
          expect(new Set(batch.map(({ group }) => group)).size).toBe(1);
          for (const eventKey of new Set(batch.map((each) => each.eventKey))) {
            expect(mayGo).toContain(eventKey);
            expect(seen.has(eventKey)).toBe(false);
            seen.add(eventKey);
            const ours = batch.filter((each) => each.eventKey === eventKey);
            expect(ours).toEqual(queues.get(eventKey)?.slice(0, ours.length));
            if (byEvent || apart.has(eventKey)) expect(ours).toHaveLength(batch.length);
          }
        }
      },
    ),
  );
});

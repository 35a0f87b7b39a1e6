import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ParsedEntry, parsed, type SendResult } from '../../src/sinks/sink.ts';
import { runs } from '../support/runs.ts';
import { type Harness, openHarness } from './harness.ts';
import { delivered, poison, tooLarge, unavailable } from './scripted-sink.ts';

/** What the destination makes of one record, wherever it comes. */
type Fate = 'good' | 'poison' | 'too-large' | 'fails-once' | 'fails-thrice';

const fates = fc.constantFrom<Fate>(
  'good',
  'good',
  'good',
  'good',
  'poison',
  'too-large',
  'fails-once',
  'fails-thrice',
);

const scenarios = fc.record({
  records: fc.array(fc.record({ event: fc.constantFrom(...'abcdef'), fate: fates, urgent: fc.boolean() }), {
    minLength: 1,
    maxLength: 25,
  }),
  /** After how many records the process dies and restarts. */
  restartAfter: fc.option(fc.nat(25), { nil: null }),
  batchBy: fc.constantFrom('event' as const, 'any' as const),
  inFlight: fc.integer({ min: 1, max: 4 }),
  most: fc.integer({ min: 1, max: 8 }),
  /** How long answers take, in turn. */
  answerMs: fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 5 }),
  /** How long after the one before a record is appended, in turn. */
  appendMs: fc.array(fc.constantFrom(0, 0, 0, 100, 5_000, 90_000), { minLength: 1, maxLength: 5 }),
  random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
});

const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

/** A destination with a fate for every record; it checks on the way what must hold for every single batch. */
function destination(fateOf: (position: number) => Fate) {
  const failures = new Map<number, number>();
  const flying = new Set<string>();
  const arrived = new Map<string, number[]>();

  const left = (position: number): number => {
    const fate = fateOf(position);
    const all = fate === 'fails-once' ? 1 : fate === 'fails-thrice' ? 3 : 0;
    return all - (failures.get(position) ?? 0);
  };

  const answer = (positions: readonly number[]): SendResult => {
    if (positions.some((position) => fateOf(position) === 'poison')) return poison;
    if (positions.some((position) => fateOf(position) === 'too-large')) return tooLarge;
    const failing = positions.find((position) => left(position) > 0);
    if (failing === undefined) return delivered;
    failures.set(failing, (failures.get(failing) ?? 0) + 1);
    return unavailable;
  };

  return {
    arrived,
    /** A process that died has nothing in flight. */
    forgetFlying: () => flying.clear(),
    take(batch: readonly ParsedEntry[], batchBy: 'event' | 'any') {
      const events = new Set(batch.map(({ record }) => record.eventId));
      if (batchBy === 'event') expect(events.size).toBe(1);
      for (const event of events) expect(flying.has(event), `${event} is in two batches at once`).toBe(false);
      for (const event of events) flying.add(event);
      const result = answer(batch.map(({ record }) => record.position));
      return () => {
        for (const event of events) flying.delete(event);
        if (result.kind !== 'delivered') return result;
        for (const { record } of batch) {
          arrived.set(record.eventId, [...(arrived.get(record.eventId) ?? []), record.position]);
        }
        return result;
      };
    },
  };
}

test('for any answers of a sink, every record is delivered in order per event, or becomes a dead letter if it alone is refused', async () => {
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const { records, batchBy, inFlight, most, answerMs, appendMs, random } = scenario;
      const fateOf = (position: number): Fate => records[position - 1]?.fate ?? 'good';
      const hub = destination(fateOf);
      let broken: unknown = null;

      const begin = (harness: Harness): Promise<void> => {
        let sends = 0;
        harness.sink.send = async (batch, signal) => {
          sends += 1;
          try {
            const finish = hub.take(batch.map(parsed), batchBy);
            await harness.clock.sleep(at(answerMs, sends), signal);
            return signal.aborted ? unavailable : finish();
          } catch (error) {
            broken ??= error;
            throw error;
          }
        };
        return harness.relay.run(harness.stop.signal);
      };

      let harness = openHarness(
        { batchBy, inFlight, limits: { records: most, bytes: 20_000 } },
        { random: () => random },
      );
      let running = begin(harness);
      try {
        for (const [index, { event, urgent }] of records.entries()) {
          if (index === scenario.restartAfter) {
            harness.stop.abort();
            await harness.clock.advance(2_000);
            await running;
            hub.forgetFlying();
            harness = harness.restart();
            running = begin(harness);
          }
          harness.append({ eventId: event, eventType: urgent ? 'Preempt' : 'Freeze' });
          await harness.clock.advance(at(appendMs, index));
        }
        // A refusal is believed once another record got through: new events bring that proof.
        for (let more = 0; more < 60 && harness.counters().pending > 0; more += 1) {
          harness.append(`proof-${more}`);
          await harness.clock.advance(600_000);
        }
        expect(broken).toBeNull();

        const refused = records.filter(({ fate }) => fate === 'poison' || fate === 'too-large').length;
        expect(harness.counters()).toMatchObject({ pending: 0, dead: refused });
        for (const event of 'abcdef') {
          const ours = records.flatMap((record, index) => (record.event === event ? [index + 1] : []));
          const wanted = ours.filter((position) => ['good', 'fails-once', 'fails-thrice'].includes(fateOf(position)));
          // A copy is a record sent again after a crash; what counts is when each came first.
          expect([...new Set(hub.arrived.get(event) ?? [])]).toEqual(wanted);
        }
      } finally {
        harness.stop.abort();
        await harness.clock.advance(2_000);
        await running;
        harness.close();
      }
    }),
    { numRuns: runs('histories of a relay', { quick: 20, full: 60 }) },
  );
}, 120_000);

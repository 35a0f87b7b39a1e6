import { afterEach, describe, expect, test } from 'vitest';
import { settled } from '../support/fake-clock.ts';
import { type Harness, openHarness, positions, range } from './harness.ts';
import { delivered, poison, tooLarge, unavailable } from './scripted-sink.ts';

const harnesses: Harness[] = [];
const harnessWith = (...options: Parameters<typeof openHarness>): Harness => {
  const harness = openHarness(...options);
  harnesses.push(harness);
  return harness;
};
afterEach(() => {
  for (const harness of harnesses.splice(0)) harness.close();
});

describe('an event that fails while others are accepted', () => {
  test('is paused, and the others are sent', async () => {
    const harness = harnessWith();
    harness.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'bad') ? unavailable : delivered));
    harness.append('bad', 'a', 'b', 'bad', 'c');
    await harness.drainFor(30_000);
    expect(harness.sink.arrived.toSorted()).toEqual([2, 3, 5]);
    harness.append('d');
    await harness.drainFor(10_000);
    expect(harness.sink.arrived.toSorted()).toEqual([2, 3, 5, 6]);
    harness.sink.does(() => delivered);
    await harness.drainFor(400_000);
    expect(harness.sink.arrived.slice(4)).toEqual([1, 4]);
    harness.append('bad', 'e');
    await harness.drain();
    expect(positions(harness).at(-1)).toEqual([7, 8]);
  });

  test('fails no other event once it is isolated', async () => {
    const harness = harnessWith();
    harness.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'bad') ? unavailable : delivered));
    harness.append('bad');
    for (const eventId of 'abcdefgh') {
      harness.append(eventId);
      await harness.drainFor(40_000);
    }
    const together = harness.sink.sent.filter(
      ({ records }) => records.length > 1 && records.some(({ eventId }) => eventId === 'bad'),
    );
    expect(together.length).toBeLessThanOrEqual(1);
    expect(harness.sink.arrived).toEqual(range(2, 9));
  });

  test('is retried when its own pause ends, however long another event is paused', async () => {
    const harness = harnessWith();
    const refused = new Set(['bad', 'worse']);
    harness.sink.does((batch) => (batch.some(({ record }) => refused.has(record.eventId)) ? unavailable : delivered));
    harness.append('worse');
    for (const eventId of 'abcdefgh') {
      harness.append(eventId);
      await harness.drainFor(40_000);
    }
    harness.append('bad');
    for (const eventId of 'ijk') {
      harness.append(eventId);
      await harness.drainFor(1_000);
    }
    refused.clear();
    const begin = harness.clock.monotonicMs();
    await harness.drainFor(20_000);
    const retried = harness.sink.sent.findLast((sent) => sent.positions.includes(10));
    expect(harness.sink.arrived).toContain(10);
    expect(harness.sink.arrived).not.toContain(1);
    expect((retried?.at ?? 0) - begin).toBeLessThan(15_000);
  });

  test('is sent with others again after it was delivered, while some are still pending', async () => {
    const harness = harnessWith({ batchBy: 'any', inFlight: 2 });
    const refused = new Set(['bad', 'worse']);
    harness.sink.does((batch) => (batch.some(({ record }) => refused.has(record.eventId)) ? unavailable : delivered));
    harness.append('bad', 'worse');
    for (const eventId of 'abcdef') {
      harness.append(eventId);
      await harness.drainFor(40_000);
    }
    refused.delete('bad');
    await harness.drainFor(400_000);
    harness.append('g');
    await harness.drain();
    expect(harness.counters()).toMatchObject({ pending: 1, delivered: 8 });
    harness.append('bad', 'good');
    await harness.drain();
    expect(positions(harness).at(-1)).toEqual([10, 11]);
  });

  test('is retried when its own pause ends, also where that of the sink ends at this very moment', async () => {
    const harness = harnessWith();
    harness.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'bad') ? unavailable : delivered));
    harness.append('bad');
    await harness.drain();
    harness.append('good');
    await harness.clock.advance(2_000);
    // `good` shows that the sink accepts records; `bad` fails for the second time, and is paused for 4 s, the sink for 2 s.
    expect(await harness.drain()).toBe(2_000);
    expect(harness.sink.arrived).toEqual([2]);
    await harness.clock.advance(2_000);
    expect(await harness.drain()).toBe(2_000);
  });

  test('with hundreds of records does not delay later events', async () => {
    const harness = harnessWith({ batchBy: 'event', inFlight: 4 });
    harness.append('first');
    await harness.drain();
    harness.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'bad') ? unavailable : delivered));
    await harness.appendMany(Array<string>(400).fill('bad'));
    for (const eventId of ['x', 'y']) {
      await harness.drain();
      harness.append(eventId);
      await harness.drainFor(2_000);
    }
    expect(harness.relay.health()).toMatchObject({ state: 'waiting', step: 0 });
    harness.append('z');
    await harness.drain();
    expect(harness.sink.arrived).toEqual([1, 402, 403, 404]);
  });

  test('leaves memory for others, however many records it has', async () => {
    const harness = harnessWith({ batchBy: 'event', inFlight: 4 });
    harness.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'bad') ? unavailable : delivered));
    harness.append('first');
    await harness.drain();
    await harness.appendMany(Array<string>(1_500).fill('bad'));
    await harness.drainFor(2_000);
    harness.append(...Array<string>(150).fill('good'));
    await harness.drainFor(60_000);
    expect(harness.sink.arrived).toEqual([1, ...range(1_502, 1_651)]);
    harness.sink.does(() => delivered);
    await harness.drainFor(400_000);
    expect(harness.sink.arrived.slice(151)).toEqual(range(2, 1_501));
  });
});

describe('a record that a sink refuses', () => {
  const refusing =
    (...eventIds: string[]) =>
    (batch: readonly { readonly record: { readonly eventId: string } }[]) =>
      batch.some(({ record }) => eventIds.includes(record.eventId)) ? poison : delivered;

  test('is isolated, becomes a dead letter when another was accepted, and its event continues', async () => {
    const harness = harnessWith();
    harness.sink.does((batch) => (batch.some(({ record }) => record.position === 3) ? poison : delivered));
    harness.append('a', 'b', 'c', 'c', 'd', 'e', 'f', 'g');
    await harness.drain();
    expect([...harness.sink.arrived].sort((a, b) => a - b)).toEqual([1, 2, 4, 5, 6, 7, 8]);
    expect(harness.counters()).toEqual({ pending: 0, delivered: 7, dead: 1 });
    expect(harness.sink.sent.length).toBeLessThanOrEqual(1 + 2 * 3 + 2);
    expect(harness.lines).toEqual([expect.stringMatching(/becomes a dead letter.*does not fit the table/)]);
    expect(harness.relay.health().deadLetterCounts).toEqual({ 'http-400': 1 });
  });

  test('alone is kept while nothing else shows that the sink accepts records, and the sink counts as failing', async () => {
    const harness = harnessWith();
    harness.sink.does(refusing('bad'));
    harness.append('bad', 'bad');
    await harness.drainFor(600_000);
    expect(harness.counters()).toEqual({ pending: 2, delivered: 0, dead: 0 });
    expect(harness.relay.health()).toMatchObject({ state: 'failing', lastErrorCode: 'http-400' });
    expect(harness.sink.sent.length).toBeLessThan(20);
  });

  test('has the time of its next attempt in the progress, until it was accepted', async () => {
    const harness = harnessWith();
    harness.sink.does(refusing('bad'));
    harness.append('bad');
    const waitMs = await harness.drain();
    expect(waitMs).toBeGreaterThan(1_000);
    const retryAt = new Date(harness.clock.now().getTime() + waitMs).toISOString();
    expect(harness.relay.health()).toMatchObject({ state: 'failing', step: 0, retryAt });
    expect(harness.outbox.progress('scripted')).toMatchObject({ step: 0, retryAt });
    harness.sink.does(() => delivered);
    await harness.drainFor(waitMs + 1);
    expect(harness.relay.health().retryAt).toBeNull();
    expect(harness.outbox.progress('scripted').retryAt).toBeNull();
  });

  test('repeatedly counts as failing all the time: no recovery is logged before a delivery', async () => {
    const harness = harnessWith();
    harness.sink.does(() => 'later');
    harness.append('bad');
    for (let refusal = 0; refusal < 8; refusal += 1) {
      const drained = harness.drain();
      await settled();
      if (refusal > 0) expect(harness.relay.health().state).toBe('failing');
      harness.sink.sent.at(-1)?.answer(poison);
      await harness.clock.advance(await drained);
    }
    expect(harness.sink.sent.length).toBeGreaterThan(5);
    expect(harness.lines.filter((line) => line.includes('is back'))).toEqual([]);
    harness.sink.does(() => delivered);
    await harness.drainFor(600_000);
    expect(harness.lines.at(-1)).toMatch(/^scripted recovered after/);
  });

  test('alone for a day becomes a dead letter, when no other record was sent that could show the cause', async () => {
    const harness = harnessWith();
    harness.sink.does(refusing('bad'));
    harness.append('bad');
    await harness.drainFor(23 * 3_600_000);
    expect(harness.counters()).toEqual({ pending: 1, delivered: 0, dead: 0 });
    await harness.drainFor(2 * 3_600_000);
    expect(harness.counters()).toEqual({ pending: 0, delivered: 0, dead: 1 });
    expect(harness.lines.filter((line) => line.includes('is back'))).toEqual([]);
  });

  test('alone for a day becomes a dead letter, also while another event fails without being refused', async () => {
    const harness = harnessWith();
    harness.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'bad') ? poison : unavailable));
    harness.append('bad', 'failing');
    await harness.drainFor(30 * 3_600_000);
    expect(harness.counters()).toEqual({ pending: 1, delivered: 0, dead: 1 });
  });

  test('together with those of another event proves nothing about a record, however long it lasts', async () => {
    const harness = harnessWith();
    harness.sink.does(() => poison);
    harness.append('bad', 'worse');
    await harness.drainFor(72 * 3_600_000);
    expect(harness.counters()).toEqual({ pending: 2, delivered: 0, dead: 0 });
  });

  test('does not delay the record that proves it', async () => {
    const harness = harnessWith();
    harness.sink.does(refusing('bad'));
    harness.append('bad');
    await harness.drain();
    harness.append('good');
    await harness.drain();
    expect(harness.sink.arrived).toEqual([2]);
    expect(harness.counters()).toEqual({ pending: 0, delivered: 1, dead: 1 });
    expect(harness.relay.health()).toMatchObject({ state: 'idle', step: 0 });
  });

  test('like all others means a table with another schema: none becomes a dead letter, and all arrive once it is fixed', async () => {
    const harness = harnessWith();
    harness.sink.does(() => poison);
    harness.append(...range(1, 40).map((index) => `event-${index}`));
    await harness.drainFor(1_800_000);
    expect(harness.counters()).toEqual({ pending: 40, delivered: 0, dead: 0 });
    expect(harness.relay.health()).toMatchObject({ state: 'failing', lastErrorCode: 'http-400' });
    const requests = harness.sink.sent.length;
    expect(requests).toBeLessThan(25);
    harness.sink.does(() => delivered);
    await harness.drainFor(1_800_000);
    expect(harness.counters()).toEqual({ pending: 0, delivered: 40, dead: 0 });
    expect(harness.sink.arrived.toSorted((a, b) => a - b)).toEqual(range(1, 40));
  });

  test('is sent alone when it is retried', async () => {
    const harness = harnessWith();
    harness.sink.does((batch, attempt) =>
      attempt === 1 ? unavailable : batch.some(({ record }) => record.position === 1) ? poison : delivered,
    );
    harness.append('a', 'a');
    await harness.drainFor(10_000);
    harness.append('good');
    await harness.drainFor(120_000);
    expect(positions(harness)).toEqual([[1, 2], [1], [3], [1], [2]]);
    expect(harness.counters()).toEqual({ pending: 0, delivered: 2, dead: 1 });
  });

  test('once and then no longer is delivered', async () => {
    const harness = harnessWith();
    let refusals = 0;
    harness.sink.does((batch) => {
      if (!batch.some(({ record }) => record.eventId === 'bad') || refusals > 0) return delivered;
      refusals += 1;
      return poison;
    });
    harness.append('bad');
    await harness.drain();
    harness.append('good');
    await harness.drain();
    expect(harness.counters()).toEqual({ pending: 0, delivered: 2, dead: 0 });
  });

  test('several times is isolated each time', async () => {
    const harness = harnessWith({ batchBy: 'event', inFlight: 2 });
    harness.sink.does((batch) => (batch.some(({ record }) => record.position % 5 === 0) ? poison : delivered));
    harness.append(...range(1, 40).map((index) => `event-${index % 3}`));
    await harness.drainFor(600_000);
    // The last ones wait for a record that shows that the sink takes any.
    for (const eventId of ['x', 'y', 'z']) {
      harness.append(eventId);
      await harness.drainFor(600_000);
    }
    expect(harness.counters()).toEqual({ pending: 0, delivered: 35, dead: 8 });
  });
});

describe('a record that is too large', () => {
  test('makes the batch smaller, in order', async () => {
    const harness = harnessWith();
    harness.sink.does((batch) => (batch.length > 3 ? tooLarge : delivered));
    harness.append(...Array<string>(10).fill('a'));
    await harness.drain();
    expect(positions(harness)).toEqual([
      range(1, 10),
      range(1, 5),
      [1, 2, 3],
      [4, 5],
      range(6, 10),
      [6, 7, 8],
      [9, 10],
    ]);
  });

  test('alone is sent shortened, as much as needed', async () => {
    const harness = harnessWith();
    harness.sink.does(([entry]) => ((entry?.json.length ?? 0) > 6_000 ? tooLarge : delivered));
    const affectedResources = Array.from({ length: 200 }, (_, index) => `node_${index}`);
    harness.append({
      eventId: 'a',
      description: 'x'.repeat(4_000),
      rawEvent: { Resources: affectedResources },
      affectedResources,
    });
    await harness.drain();
    expect(harness.counters()).toEqual({ pending: 0, delivered: 1, dead: 0 });
    const [, , last] = harness.sink.sent;
    expect(last?.records[0]).toMatchObject({ description: expect.stringMatching(/shortened/), affectedResources });
  });

  test('alone that cannot be shortened further becomes a dead letter, and its event continues', async () => {
    const harness = harnessWith();
    harness.sink.does((batch) => (batch.some(({ record }) => record.position === 1) ? tooLarge : delivered));
    harness.append('a', 'a');
    await harness.drain();
    expect(harness.counters()).toEqual({ pending: 2, delivered: 0, dead: 0 });
    harness.append('good');
    await harness.drainFor(600_000);
    expect(harness.sink.arrived).toEqual([3, 2]);
    expect(harness.counters()).toEqual({ pending: 0, delivered: 2, dead: 1 });
  });

  test('like all others stays in the outbox, and all arrive once the destination accepts records again', async () => {
    const harness = harnessWith();
    harness.sink.does(() => tooLarge);
    harness.append(...range(1, 10).map((index) => `event-${index}`));
    await harness.drainFor(1_800_000);
    expect(harness.counters()).toEqual({ pending: 10, delivered: 0, dead: 0 });
    expect(harness.relay.health()).toMatchObject({ state: 'failing', lastErrorCode: 'http-413' });
    harness.sink.does(() => delivered);
    await harness.drainFor(1_800_000);
    expect(harness.counters()).toEqual({ pending: 0, delivered: 10, dead: 0 });
  });
});

describe('a stored pause', () => {
  const hour = 3_600_000;
  test.each([
    { stepped: -hour, name: 'set back by an hour', atMost: 2 },
    { stepped: -30_000, name: 'set back by half a minute', atMost: 2 },
    { stepped: 0, name: 'not stepped', atMost: 2 },
    { stepped: hour, name: 'set forward by an hour', atMost: 0 },
  ])('is never longer after a restart than when it began, with the clock $name', async ({ stepped, atMost }) => {
    const harness = harnessWith();
    harness.sink.does(() => unavailable);
    harness.append('a');
    const waitMs = await harness.drain();
    expect(waitMs).toBe(2_000);
    harness.clock.stepWall(stepped);
    const again = harness.restart();
    harnesses.push(again);
    const began = harness.clock.monotonicMs();
    harness.sink.does(() => delivered);
    await again.drainFor(2 * hour);
    expect(again.counters().delivered).toBe(1);
    expect((harness.clock.monotonicMs() - began) / 1_000).toBeLessThanOrEqual(atMost);
  });

  test('of a refused record does not pause the sink', async () => {
    const harness = harnessWith();
    harness.sink.does(() => poison);
    harness.append('bad');
    await harness.drain();
    expect(harness.outbox.progress('scripted')).toMatchObject({ step: 0, retryAt: expect.any(String) });
    const again = harness.restart();
    harnesses.push(again);
    again.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'bad') ? poison : delivered));
    again.append('good');
    await again.drain();
    expect(again.sink.arrived).toEqual([2]);
  });

  test('is as long as the Retry-After of the destination', async () => {
    const harness = harnessWith();
    const throttled = { kind: 'retry', cause: 'throttled', code: 'http-429', reason: 'too fast' } as const;
    harness.sink.does(() => ({ ...throttled, retryAfterMs: 600_000 }));
    harness.append('a');
    await harness.drain();
    const again = harness.restart();
    harnesses.push(again);
    expect(await again.drain()).toBe(600_000);
  });
});

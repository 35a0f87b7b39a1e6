import { afterEach, describe, expect, test } from 'vitest';
import { settled } from '../support/fake-clock.ts';
import { openRig, positions, type Rig, range } from './rig.ts';
import { delivered, poison, tooLarge, unavailable } from './scripted-sink.ts';

const rigs: Rig[] = [];
const rigWith = (...options: Parameters<typeof openRig>): Rig => {
  const rig = openRig(...options);
  rigs.push(rig);
  return rig;
};
afterEach(() => {
  for (const rig of rigs.splice(0)) rig.close();
});

describe('an event that fails while others get through', () => {
  test('is held for itself, and the others pass', async () => {
    const rig = rigWith();
    rig.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'bad') ? unavailable : delivered));
    rig.append('bad', 'a', 'b', 'bad', 'c');
    await rig.drainFor(30_000);
    expect(rig.sink.arrived.toSorted()).toEqual([2, 3, 5]);
    rig.append('d');
    await rig.drainFor(10_000);
    expect(rig.sink.arrived.toSorted()).toEqual([2, 3, 5, 6]);
    rig.sink.does(() => delivered);
    await rig.drainFor(400_000);
    expect(rig.sink.arrived.slice(4)).toEqual([1, 4]);
    rig.append('bad', 'e');
    await rig.drain();
    expect(positions(rig).at(-1)).toEqual([7, 8]);
  });

  test('takes no other down with it once it is known', async () => {
    const rig = rigWith();
    rig.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'bad') ? unavailable : delivered));
    rig.append('bad');
    for (const eventId of 'abcdefgh') {
      rig.append(eventId);
      await rig.drainFor(40_000);
    }
    const together = rig.sink.sent.filter(
      ({ records }) => records.length > 1 && records.some(({ eventId }) => eventId === 'bad'),
    );
    expect(together.length).toBeLessThanOrEqual(1);
    expect(rig.sink.arrived).toEqual(range(2, 9));
  });

  test('and has hundreds of records lets what comes later pass at once', async () => {
    const rig = rigWith({ batchBy: 'event', inFlight: 4 });
    rig.append('first');
    await rig.drain();
    rig.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'bad') ? unavailable : delivered));
    await rig.appendMany(Array<string>(400).fill('bad'));
    for (const eventId of ['x', 'y']) {
      await rig.drain();
      rig.append(eventId);
      await rig.drainFor(2_000);
    }
    expect(rig.relay.health()).toMatchObject({ state: 'waiting', step: 0 });
    rig.append('z');
    await rig.drain();
    expect(rig.sink.arrived).toEqual([1, 402, 403, 404]);
  });

  test('does not keep others out of memory, however many records it has', async () => {
    const rig = rigWith({ batchBy: 'event', inFlight: 4 });
    rig.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'bad') ? unavailable : delivered));
    rig.append('first');
    await rig.drain();
    await rig.appendMany(Array<string>(1_500).fill('bad'));
    await rig.drainFor(2_000);
    rig.append(...Array<string>(150).fill('good'));
    await rig.drainFor(60_000);
    expect(rig.sink.arrived).toEqual([1, ...range(1_502, 1_651)]);
    rig.sink.does(() => delivered);
    await rig.drainFor(400_000);
    expect(rig.sink.arrived.slice(151)).toEqual(range(2, 1_501));
  });
});

describe('a record that a sink refuses', () => {
  const refusing =
    (...eventIds: string[]) =>
    (batch: readonly { readonly record: { readonly eventId: string } }[]) =>
      batch.some(({ record }) => eventIds.includes(record.eventId)) ? poison : delivered;

  test('is found, put aside when another got through, and its event goes on', async () => {
    const rig = rigWith();
    rig.sink.does((batch) => (batch.some(({ record }) => record.position === 3) ? poison : delivered));
    rig.append('a', 'b', 'c', 'c', 'd', 'e', 'f', 'g');
    await rig.drain();
    expect([...rig.sink.arrived].sort((a, b) => a - b)).toEqual([1, 2, 4, 5, 6, 7, 8]);
    expect(rig.counters()).toEqual({ pending: 0, delivered: 7, dead: 1 });
    expect(rig.sink.sent.length).toBeLessThanOrEqual(1 + 2 * 3 + 2);
    expect(rig.lines).toEqual([expect.stringMatching(/put aside.*does not fit the table/)]);
    expect(rig.relay.health().deadLetterCounts).toEqual({ 'http-400': 1 });
  });

  test('alone is kept while nothing else shows that the sink takes records, and the sink counts as failing', async () => {
    const rig = rigWith();
    rig.sink.does(refusing('bad'));
    rig.append('bad', 'bad');
    await rig.drainFor(600_000);
    expect(rig.counters()).toEqual({ pending: 2, delivered: 0, dead: 0 });
    expect(rig.relay.health()).toMatchObject({ state: 'failing', lastErrorCode: 'http-400' });
    expect(rig.sink.sent.length).toBeLessThan(20);
  });

  test('again and again is failing all the time: nobody is told that it is back before something is delivered', async () => {
    const rig = rigWith();
    rig.sink.does(() => 'later');
    rig.append('bad');
    for (let refusal = 0; refusal < 8; refusal += 1) {
      const drained = rig.drain();
      await settled();
      if (refusal > 0) expect(rig.relay.health().state).toBe('failing');
      rig.sink.sent.at(-1)?.answer(poison);
      await rig.clock.advance((await drained).waitMs);
    }
    expect(rig.sink.sent.length).toBeGreaterThan(5);
    expect(rig.lines.filter((line) => line.includes('is back'))).toEqual([]);
    rig.sink.does(() => delivered);
    await rig.drainFor(600_000);
    expect(rig.lines.at(-1)).toMatch(/^scripted is back after/);
  });

  test('alone for a day is put aside, where nothing else was sent that could show whose fault it is', async () => {
    const rig = rigWith();
    rig.sink.does(refusing('bad'));
    rig.append('bad');
    await rig.drainFor(23 * 3_600_000);
    expect(rig.counters()).toEqual({ pending: 1, delivered: 0, dead: 0 });
    await rig.drainFor(2 * 3_600_000);
    expect(rig.counters()).toEqual({ pending: 0, delivered: 0, dead: 1 });
    expect(rig.lines.filter((line) => line.includes('is back'))).toEqual([]);
  });

  test('with those of another event is no record’s fault, however long it takes', async () => {
    const rig = rigWith();
    rig.sink.does(() => poison);
    rig.append('bad', 'worse');
    await rig.drainFor(72 * 3_600_000);
    expect(rig.counters()).toEqual({ pending: 2, delivered: 0, dead: 0 });
  });

  test('and waits for proof does not hold back the record that brings it', async () => {
    const rig = rigWith();
    rig.sink.does(refusing('bad'));
    rig.append('bad');
    await rig.drain();
    rig.append('good');
    await rig.drain();
    expect(rig.sink.arrived).toEqual([2]);
    expect(rig.counters()).toEqual({ pending: 0, delivered: 1, dead: 1 });
    expect(rig.relay.health()).toMatchObject({ state: 'idle', step: 0 });
  });

  test('as all others are is a table that does not fit: nothing is put aside, and all arrives when it is mended', async () => {
    const rig = rigWith();
    rig.sink.does(() => poison);
    rig.append(...range(1, 40).map((index) => `event-${index}`));
    await rig.drainFor(1_800_000);
    expect(rig.counters()).toEqual({ pending: 40, delivered: 0, dead: 0 });
    expect(rig.relay.health()).toMatchObject({ state: 'failing', lastErrorCode: 'http-400' });
    const requests = rig.sink.sent.length;
    expect(requests).toBeLessThan(25);
    rig.sink.does(() => delivered);
    await rig.drainFor(1_800_000);
    expect(rig.counters()).toEqual({ pending: 0, delivered: 40, dead: 0 });
    expect(rig.sink.arrived.toSorted((a, b) => a - b)).toEqual(range(1, 40));
  });

  test('stays alone when it is asked for again', async () => {
    const rig = rigWith();
    rig.sink.does((batch, attempt) =>
      attempt === 1 ? unavailable : batch.some(({ record }) => record.position === 1) ? poison : delivered,
    );
    rig.append('a', 'a');
    await rig.drainFor(10_000);
    rig.append('good');
    await rig.drainFor(120_000);
    expect(positions(rig)).toEqual([[1, 2], [1], [3], [1], [2]]);
    expect(rig.counters()).toEqual({ pending: 0, delivered: 2, dead: 1 });
  });

  test('once and then no longer is delivered', async () => {
    const rig = rigWith();
    let refusals = 0;
    rig.sink.does((batch) => {
      if (!batch.some(({ record }) => record.eventId === 'bad') || refusals > 0) return delivered;
      refusals += 1;
      return poison;
    });
    rig.append('bad');
    await rig.drain();
    rig.append('good');
    await rig.drain();
    expect(rig.counters()).toEqual({ pending: 0, delivered: 2, dead: 0 });
  });

  test('several times over is found each time', async () => {
    const rig = rigWith({ batchBy: 'event', inFlight: 2 });
    rig.sink.does((batch) => (batch.some(({ record }) => record.position % 5 === 0) ? poison : delivered));
    rig.append(...range(1, 40).map((index) => `event-${index % 3}`));
    await rig.drainFor(600_000);
    // The last ones wait for a record that shows that the sink takes any.
    for (const eventId of ['x', 'y', 'z']) {
      rig.append(eventId);
      await rig.drainFor(600_000);
    }
    expect(rig.counters()).toEqual({ pending: 0, delivered: 35, dead: 8 });
  });
});

describe('a record that is too large', () => {
  test('makes the batch smaller, in order', async () => {
    const rig = rigWith();
    rig.sink.does((batch) => (batch.length > 3 ? tooLarge : delivered));
    rig.append(...Array<string>(10).fill('a'));
    await rig.drain();
    expect(positions(rig)).toEqual([range(1, 10), range(1, 5), [1, 2, 3], [4, 5], range(6, 10), [6, 7, 8], [9, 10]]);
  });

  test('alone goes with less in it, as much as is needed', async () => {
    const rig = rigWith();
    rig.sink.does(([entry]) => ((entry?.json.length ?? 0) > 6_000 ? tooLarge : delivered));
    const affectedResources = Array.from({ length: 200 }, (_, index) => `node_${index}`);
    rig.append({
      eventId: 'a',
      description: 'x'.repeat(4_000),
      rawEvent: { Resources: affectedResources },
      affectedResources,
    });
    await rig.drain();
    expect(rig.counters()).toEqual({ pending: 0, delivered: 1, dead: 0 });
    const [, , last] = rig.sink.sent;
    expect(last?.records[0]).toMatchObject({ description: expect.stringMatching(/shortened/), affectedResources });
  });

  test('alone and with nothing left to leave out is put aside, and its event goes on', async () => {
    const rig = rigWith();
    rig.sink.does((batch) => (batch.some(({ record }) => record.position === 1) ? tooLarge : delivered));
    rig.append('a', 'a');
    await rig.drain();
    expect(rig.counters()).toEqual({ pending: 2, delivered: 0, dead: 0 });
    rig.append('good');
    await rig.drainFor(600_000);
    expect(rig.sink.arrived).toEqual([3, 2]);
    expect(rig.counters()).toEqual({ pending: 0, delivered: 2, dead: 1 });
  });

  test('as all others are stays in the outbox, and all arrives when the destination takes records again', async () => {
    const rig = rigWith();
    rig.sink.does(() => tooLarge);
    rig.append(...range(1, 10).map((index) => `event-${index}`));
    await rig.drainFor(1_800_000);
    expect(rig.counters()).toEqual({ pending: 10, delivered: 0, dead: 0 });
    expect(rig.relay.health()).toMatchObject({ state: 'failing', lastErrorCode: 'http-413' });
    rig.sink.does(() => delivered);
    await rig.drainFor(1_800_000);
    expect(rig.counters()).toEqual({ pending: 0, delivered: 10, dead: 0 });
  });
});

describe('a pause that was stored', () => {
  const hour = 3_600_000;
  test.each([
    { stepped: -hour, name: 'set back by an hour', atMost: 2 },
    { stepped: -30_000, name: 'set back by half a minute', atMost: 2 },
    { stepped: 0, name: 'left alone', atMost: 2 },
    { stepped: hour, name: 'set forward by an hour', atMost: 0 },
  ])('is never longer after a restart than when it began, with the clock $name', async ({ stepped, atMost }) => {
    const rig = rigWith();
    rig.sink.does(() => unavailable);
    rig.append('a');
    const { waitMs } = await rig.drain();
    expect(waitMs).toBe(2_000);
    rig.clock.stepWall(stepped);
    const again = rig.restart();
    rigs.push(again);
    const began = rig.clock.monotonicMs();
    rig.sink.does(() => delivered);
    await again.drainFor(2 * hour);
    expect(again.counters().delivered).toBe(1);
    expect((rig.clock.monotonicMs() - began) / 1_000).toBeLessThanOrEqual(atMost);
  });

  test('is as long as a destination asked for', async () => {
    const rig = rigWith();
    const throttled = { kind: 'retry', cause: 'throttled', code: 'http-429', reason: 'too fast' } as const;
    rig.sink.does(() => ({ ...throttled, retryAfterMs: 600_000 }));
    rig.append('a');
    await rig.drain();
    const again = rig.restart();
    rigs.push(again);
    expect(await again.drain()).toMatchObject({ waitMs: 600_000 });
  });
});

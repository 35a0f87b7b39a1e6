import { afterEach, describe, expect, test } from 'vitest';
import { noProgress } from '../../src/outbox/outbox.ts';
import { memoryOf } from '../outbox/harness.ts';
import { settled } from '../support/fake-clock.ts';
import { type Harness, openHarness, positions, preempt, range } from './harness.ts';
import { delivered, unavailable } from './scripted-sink.ts';

const rigs: Harness[] = [];
const rigWith = (...options: Parameters<typeof openHarness>): Harness => {
  const harness = openHarness(...options);
  rigs.push(harness);
  return harness;
};
afterEach(() => {
  for (const harness of rigs.splice(0)) harness.close();
});

describe('an urgent record', () => {
  const failing = async (options: Parameters<typeof openHarness>[0] = {}): Promise<Harness> => {
    const harness = rigWith(options);
    harness.sink.does(() => unavailable);
    harness.append('a', { ...preempt, eventType: 'Freeze' }, 'b');
    await harness.drainFor(130_000);
    expect(harness.relay.health()).toMatchObject({ step: 7, state: 'failing' });
    harness.sink.sent.length = 0;
    return harness;
  };

  test('is tried at once despite a pause, after the earlier records of its event, in its own batch', async () => {
    const harness = await failing();
    harness.append('c', preempt);
    await harness.drain();
    expect(positions(harness)).toEqual([[2, 5]]);
  });

  test('does not prolong the pause when it fails', async () => {
    const harness = await failing();
    const before = harness.relay.health();
    harness.append(preempt);
    await harness.drain();
    expect(harness.relay.health()).toEqual(before);
  });

  test('ends the pause of the sink when it is accepted', async () => {
    const harness = await failing();
    harness.sink.does(() => delivered);
    harness.append('c', preempt);
    await harness.drain();
    expect(harness.sink.arrived.slice(0, 2)).toEqual([2, 5]);
    expect(harness.counters()).toMatchObject({ pending: 0 });
    expect(harness.relay.health()).toMatchObject({ state: 'idle', step: 0 });
  });

  test('is tried once in 5 seconds, however many are appended', async () => {
    const harness = await failing({ batchBy: 'event', inFlight: 16 });
    for (const eventId of ['x', 'y', 'z']) {
      harness.append({ ...preempt, eventId });
      await harness.drain();
    }
    expect(positions(harness)).toEqual([[4]]);
    await harness.drainFor(5_000);
    await harness.drainFor(5_000);
    expect(positions(harness)).toEqual([[4], [5], [6]]);
    await harness.drainFor(20_000);
    expect(harness.sink.sent).toHaveLength(3);
  });

  test('does not wait for a Retry-After', async () => {
    const harness = rigWith();
    harness.sink.does((_batch, attempt) => (attempt === 1 ? { ...unavailable, retryAfterMs: 900_000 } : delivered));
    harness.append('a');
    await harness.drain();
    harness.append(preempt);
    await harness.drain();
    expect(harness.sink.arrived.toSorted()).toEqual([1, 2]);
  });

  test('is not retried before the longer Retry-After of its failure', async () => {
    const harness = await failing();
    harness.sink.does(() => ({ ...unavailable, retryAfterMs: 600_000 }));
    harness.append(preempt);
    await harness.drain();
    expect(await harness.drain()).toBe(600_000);
  });

  test('is sent before a backlog of thousands', async () => {
    const harness = rigWith({ limits: { records: 50, bytes: 1_000_000 } });
    await harness.appendMany(range(1, 3_000).map((index) => `event-${index % 200}`));
    harness.sink.does((_batch, attempt) => {
      if (attempt === 3) harness.append(preempt);
      return delivered;
    });
    await harness.drain();
    expect(harness.sink.sent[3]?.positions[0]).toBe(3_001);
    expect(harness.counters()).toMatchObject({ pending: 0 });
  });

  test('that was pending at the start of the process is tried at once, while it is recent', async () => {
    const before = rigWith();
    before.sink.does(() => unavailable);
    before.append('a');
    await before.drainFor(130_000);
    before.append(preempt);
    const harness = before.restart();
    rigs.splice(0, rigs.length, harness);
    harness.sink.sent.length = 0;
    await harness.drain();
    expect(positions(harness)).toEqual([[2]]);
  });

  test.each([
    { minutes: 14, attempts: [[2]] },
    { minutes: 16, attempts: [] },
  ])('of $minutes minutes ago is tried $attempts out of turn after a restart', async ({ minutes, attempts }) => {
    const before = rigWith();
    before.sink.does(() => ({ ...unavailable, retryAfterMs: 900_000 }));
    before.append('a');
    await before.drain();
    const observedAt = new Date(before.clock.now().getTime() - minutes * 60_000).toISOString();
    before.append({ ...preempt, observedAt });
    const harness = before.restart();
    rigs.splice(0, rigs.length, harness);
    harness.sink.sent.length = 0;
    await harness.drain();
    expect(positions(harness)).toEqual(attempts);
  });

  test('of this VM is tried at once after a restart, however many wait before it', async () => {
    const before = rigWith();
    before.sink.does(() => unavailable);
    await before.appendMany(range(1, 300).map((index) => `event-${index}`));
    await before.drainFor(130_000);
    before.append(preempt);
    const { outbox } = before;
    outbox.append({ ...outbox.state, events: new Map([['spot', memoryOf('spot')]]) }, []);
    const harness = before.restart();
    rigs.splice(0, rigs.length, harness);
    harness.sink.sent.length = 0;
    await harness.drain();
    expect(positions(harness)).toEqual([[301]]);
  });

  test('that is appended before the first drain goes before the backlog', async () => {
    const before = rigWith({ limits: { records: 1, bytes: 1_000_000 } });
    before.append(preempt, ...range(1, 80).map((index) => `event-${index}`));
    const harness = before.restart();
    rigs.splice(0, rigs.length, harness);
    harness.append({ ...preempt, phase: 'Started' });
    await harness.drain();
    expect(positions(harness).slice(0, 2)).toEqual([[1], [82]]);
  });

  test('of an hour ago gets no attempt of its own after a restart', async () => {
    const before = rigWith();
    before.sink.does(() => unavailable);
    before.append({ ...preempt, observedAt: '2026-03-14T08:00:00.000Z' });
    await before.drainFor(130_000);
    const harness = before.restart();
    rigs.splice(0, rigs.length, harness);
    harness.sink.sent.length = 0;
    await harness.drain();
    expect(harness.sink.sent).toEqual([]);
  });

  test('that left the outbox before its attempt is forgotten', async () => {
    const harness = await failing();
    harness.append({ ...preempt, eventId: 'gone' });
    harness.outbox.settle('scripted', [{ position: 4, state: 'dead', code: 'expired', reason: '' }], noProgress);
    expect(await harness.drain()).toBeGreaterThan(5_000);
    harness.append({ ...preempt, eventId: 'gone', eventType: 'Freeze' });
    await harness.drain();
    expect(harness.sink.sent).toEqual([]);
  });

  test('follows the earlier records of its event that are in flight, once', async () => {
    const harness = rigWith();
    harness.sink.does((_batch, attempt) => (attempt === 1 ? 'later' : delivered));
    harness.append('spot');
    const drained = harness.drain();
    await settled();
    harness.append(preempt, 'a', { ...preempt, eventId: 'other' });
    await settled();
    expect(positions(harness)).toEqual([[1]]);
    harness.sink.sent[0]?.answer(delivered);
    await drained;
    expect(positions(harness)).toEqual([[1], [2, 4, 3]]);
  });

  test('that is appended when the earlier ones arrive repeats none of them', async () => {
    const harness = rigWith();
    harness.sink.does((_batch, attempt) => (attempt === 1 ? 'later' : delivered));
    harness.append('spot');
    const drained = harness.drain();
    await settled();
    harness.sink.sent[0]?.answer(delivered);
    harness.append(preempt);
    await drained;
    expect(positions(harness)).toEqual([[1], [2]]);
  });

  test('makes no other record of its event urgent', async () => {
    const harness = rigWith({ limits: { records: 1, bytes: 1_000_000 } });
    harness.append(preempt);
    await harness.drain();
    harness.append('a', { ...preempt, eventType: 'Freeze' });
    await harness.drain();
    expect(harness.sink.arrived).toEqual([1, 2, 3]);
  });

  test('that was delivered gives no precedence to the later records of its event', async () => {
    const harness = rigWith({ limits: { records: 1, bytes: 1_000_000 } });
    harness.append(preempt, 'a', { ...preempt, eventType: 'Freeze' });
    await harness.drain();
    expect(harness.sink.arrived).toEqual([1, 2, 3]);
  });

  test('does not wait until a sink that recovers allows another batch', async () => {
    const harness = rigWith({ batchBy: 'event', inFlight: 4 });
    harness.sink.does((_batch, attempt) => (attempt <= 4 ? unavailable : attempt === 5 ? delivered : 'later'));
    harness.append('a', 'b', 'c', 'd');
    await harness.drain();
    await harness.clock.advance(2_000);
    void harness.drain();
    await settled();
    const inFlight = harness.relay.health().inFlight;
    expect(inFlight).toBeLessThan(4);
    harness.append('e');
    await settled();
    expect(harness.relay.health().inFlight).toBe(inFlight);
    harness.append(preempt);
    await settled();
    expect(positions(harness).at(-1)).toEqual([6]);
  });

  test('does not prolong the pause of its event when it fails', async () => {
    const harness = rigWith();
    harness.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'spot') ? unavailable : delivered));
    harness.append({ ...preempt, eventType: 'Freeze' });
    for (const eventId of 'abcdef') {
      harness.append(eventId);
      await harness.drainFor(6_000);
    }
    const waitMs = await harness.drain();
    await harness.append(preempt);
    const attempts = harness.sink.sent.length;
    expect(await harness.drain()).toBe(waitMs);
    expect(harness.sink.sent).toHaveLength(attempts + 1);
  });

  test('that is stored and cannot be read is sent in order', async () => {
    const harness = rigWith();
    harness.append(preempt);
    const { pending } = harness.outbox;
    harness.outbox.pending = (...query) =>
      pending.apply(harness.outbox, query).map((row) => ({ ...row, json: Buffer.from('{') }));
    await harness.drain();
    expect(harness.relay.health()).toMatchObject({ state: 'failing', lastErrorCode: 'unreadable' });
    expect(harness.counters()).toMatchObject({ pending: 1 });
  });

  test('does not wait for the pause of its event', async () => {
    const harness = rigWith();
    harness.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'spot') ? unavailable : delivered));
    harness.append({ ...preempt, eventType: 'Freeze' });
    for (const eventId of 'abcdef') {
      harness.append(eventId);
      await harness.drainFor(60_000);
    }
    harness.sink.does(() => delivered);
    harness.append(preempt);
    await harness.drain();
    expect(harness.sink.arrived.slice(-2)).toEqual([1, 8]);
  });
});

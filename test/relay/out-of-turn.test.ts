import { afterEach, describe, expect, test } from 'vitest';
import { noProgress } from '../../src/outbox/outbox.ts';
import { settled } from '../support/fake-clock.ts';
import { openRig, positions, preempt, type Rig, range } from './rig.ts';
import { delivered, unavailable } from './scripted-sink.ts';

const rigs: Rig[] = [];
const rigWith = (...options: Parameters<typeof openRig>): Rig => {
  const rig = openRig(...options);
  rigs.push(rig);
  return rig;
};
afterEach(() => {
  for (const rig of rigs.splice(0)) rig.close();
});

describe('what is urgent', () => {
  const failing = async (options: Parameters<typeof openRig>[0] = {}): Promise<Rig> => {
    const rig = rigWith(options);
    rig.sink.does(() => unavailable);
    rig.append('a', { ...preempt, eventType: 'Freeze' }, 'b');
    await rig.drainFor(130_000);
    expect(rig.relay.health()).toMatchObject({ step: 7, state: 'failing' });
    rig.sink.sent.length = 0;
    return rig;
  };

  test('is tried at once whatever the pause, the earlier records of its event first, and alone', async () => {
    const rig = await failing();
    rig.append('c', preempt);
    await rig.drain();
    expect(positions(rig)).toEqual([[2, 5]]);
  });

  test('and fails prolongs nothing', async () => {
    const rig = await failing();
    const before = rig.relay.health();
    rig.append(preempt);
    await rig.drain();
    expect(rig.relay.health()).toEqual(before);
  });

  test('and gets through opens the sink for all', async () => {
    const rig = await failing();
    rig.sink.does(() => delivered);
    rig.append('c', preempt);
    await rig.drain();
    expect(rig.sink.arrived.slice(0, 2)).toEqual([2, 5]);
    expect(rig.counters()).toMatchObject({ pending: 0 });
    expect(rig.relay.health()).toMatchObject({ state: 'idle', step: 0 });
  });

  test('is tried once in 5 seconds, however much comes', async () => {
    const rig = await failing({ batchBy: 'event', inFlight: 16 });
    for (const eventId of ['x', 'y', 'z']) {
      rig.append({ ...preempt, eventId });
      await rig.drain();
    }
    expect(positions(rig)).toEqual([[4]]);
    await rig.drainFor(5_000);
    await rig.drainFor(5_000);
    expect(positions(rig)).toEqual([[4], [5], [6]]);
    await rig.drainFor(20_000);
    expect(rig.sink.sent).toHaveLength(3);
  });

  test('does not wait for a Retry-After either', async () => {
    const rig = rigWith();
    rig.sink.does((_batch, attempt) => (attempt === 1 ? { ...unavailable, retryAfterMs: 900_000 } : delivered));
    rig.append('a');
    await rig.drain();
    rig.append(preempt);
    await rig.drain();
    expect(rig.sink.arrived.toSorted()).toEqual([1, 2]);
  });

  test('and fails with a longer Retry-After is not asked for again before that', async () => {
    const rig = await failing();
    rig.sink.does(() => ({ ...unavailable, retryAfterMs: 600_000 }));
    rig.append(preempt);
    await rig.drain();
    expect((await rig.drain()).waitMs).toBe(600_000);
  });

  test('goes before a backlog of thousands', async () => {
    const rig = rigWith({ limits: { records: 50, bytes: 1_000_000 } });
    await rig.appendMany(range(1, 3_000).map((index) => `event-${index % 200}`));
    rig.sink.does((_batch, attempt) => {
      if (attempt === 3) rig.append(preempt);
      return delivered;
    });
    await rig.drain();
    expect(rig.sink.sent[3]?.positions[0]).toBe(3_001);
    expect(rig.counters()).toMatchObject({ pending: 0 });
  });

  test('and was there when the process started is tried at once, while it is fresh', async () => {
    const before = rigWith();
    before.sink.does(() => unavailable);
    before.append('a');
    await before.drainFor(130_000);
    before.append(preempt);
    const rig = before.restart();
    rigs.splice(0, rigs.length, rig);
    rig.sink.sent.length = 0;
    await rig.drain();
    expect(positions(rig)).toEqual([[2]]);
  });

  test('of an hour ago is not worth an attempt of its own after a restart', async () => {
    const before = rigWith();
    before.sink.does(() => unavailable);
    before.append({ ...preempt, observedAt: '2026-03-14T08:00:00.000Z' });
    await before.drainFor(130_000);
    const rig = before.restart();
    rigs.splice(0, rigs.length, rig);
    rig.sink.sent.length = 0;
    await rig.drain();
    expect(rig.sink.sent).toEqual([]);
  });

  test('and is gone from the outbox before its turn is forgotten', async () => {
    const rig = await failing();
    rig.append({ ...preempt, eventId: 'gone' });
    rig.outbox.settle('scripted', [{ position: 4, outcome: 'dead', code: 'expired', reason: '' }], noProgress);
    expect((await rig.drain()).waitMs).toBeGreaterThan(5_000);
    expect(rig.sink.sent).toEqual([]);
  });

  test('and comes while earlier records of its event are on their way follows them, once', async () => {
    const rig = rigWith();
    rig.sink.does((_batch, attempt) => (attempt === 1 ? 'later' : delivered));
    rig.append('spot');
    const drained = rig.drain();
    await settled();
    rig.append(preempt, 'a', { ...preempt, eventId: 'other' });
    await settled();
    expect(positions(rig)).toEqual([[1]]);
    rig.sink.sent[0]?.answer(delivered);
    await drained;
    expect(positions(rig)).toEqual([[1], [2, 4, 3]]);
  });

  test('and comes in the moment in which the earlier ones arrive repeats none of them', async () => {
    const rig = rigWith();
    rig.sink.does((_batch, attempt) => (attempt === 1 ? 'later' : delivered));
    rig.append('spot');
    const drained = rig.drain();
    await settled();
    rig.sink.sent[0]?.answer(delivered);
    rig.append(preempt);
    await drained;
    expect(positions(rig)).toEqual([[1], [2]]);
  });

  test('makes nothing else of its event urgent', async () => {
    const rig = rigWith({ limits: { records: 1, bytes: 1_000_000 } });
    rig.append(preempt);
    await rig.drain();
    rig.append('a', { ...preempt, eventType: 'Freeze' });
    await rig.drain();
    expect(rig.sink.arrived).toEqual([1, 2, 3]);
  });

  test('and fails does not prolong its event’s own pause', async () => {
    const rig = rigWith();
    rig.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'spot') ? unavailable : delivered));
    rig.append({ ...preempt, eventType: 'Freeze' });
    for (const eventId of 'abcdef') {
      rig.append(eventId);
      await rig.drainFor(6_000);
    }
    const { waitMs } = await rig.drain();
    await rig.append(preempt);
    const attempts = rig.sink.sent.length;
    expect((await rig.drain()).waitMs).toBe(waitMs);
    expect(rig.sink.sent).toHaveLength(attempts + 1);
  });

  test('cannot be told of a stored record that nobody can read: it has its ordinary turn', async () => {
    const rig = rigWith();
    rig.append(preempt);
    const { pending } = rig.outbox;
    rig.outbox.pending = (...query) =>
      pending.apply(rig.outbox, query).map((row) => ({ ...row, json: Buffer.from('{') }));
    await rig.drain();
    expect(rig.relay.health()).toMatchObject({ state: 'failing', lastErrorCode: 'unreadable' });
    expect(rig.counters()).toMatchObject({ pending: 1 });
  });

  test('does not wait for its event’s own pause', async () => {
    const rig = rigWith();
    rig.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'spot') ? unavailable : delivered));
    rig.append({ ...preempt, eventType: 'Freeze' });
    for (const eventId of 'abcdef') {
      rig.append(eventId);
      await rig.drainFor(60_000);
    }
    rig.sink.does(() => delivered);
    rig.append(preempt);
    await rig.drain();
    expect(rig.sink.arrived.slice(-2)).toEqual([1, 8]);
  });
});

import { afterEach, describe, expect, test } from 'vitest';
import { noProgress } from '../../src/outbox/outbox.ts';
import { settled } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { openRig, preempt, type Rig } from './rig.ts';
import { delivered, poison, unavailable } from './scripted-sink.ts';

const rigs: Rig[] = [];
const rigWith = (...options: Parameters<typeof openRig>): Rig => {
  const rig = openRig(...options);
  rigs.push(rig);
  return rig;
};
afterEach(() => {
  for (const rig of rigs.splice(0)) rig.close();
});

describe('the loop', () => {
  test('sends what is appended while it runs, and stops when it is told', async () => {
    const rig = rigWith();
    const running = rig.relay.run(rig.stop.signal);
    await settled();
    rig.append('a');
    await until(() => rig.counters().delivered === 1);
    rig.append('b');
    await until(() => rig.counters().delivered === 2);
    rig.stop.abort();
    await running;
  });

  test('asks a failing sink again when it is time', async () => {
    const rig = rigWith();
    rig.sink.does((_batch, attempt) => (attempt < 3 ? unavailable : delivered));
    const running = rig.relay.run(rig.stop.signal);
    rig.append('a');
    await rig.clock.advance(2_000);
    await rig.clock.advance(3_999);
    expect(rig.sink.sent).toHaveLength(2);
    await rig.clock.advance(1);
    expect(rig.sink.arrived).toEqual([1]);
    rig.stop.abort();
    await running;
  });

  test('finds within a minute what nobody told it about, or at once when it is woken', async () => {
    const rig = rigWith();
    const deaf = rig.outbox.onAppended;
    rig.relay.close();
    const running = rig.relay.run(rig.stop.signal);
    await settled();
    rig.append('a');
    await settled();
    expect(rig.sink.sent).toHaveLength(0);
    await rig.clock.advance(60_000);
    expect(rig.sink.arrived).toEqual([1]);
    rig.append('b');
    rig.relay.wake();
    await settled();
    expect(rig.sink.arrived).toEqual([1, 2]);
    expect(deaf).toBeDefined();
    rig.stop.abort();
    await running;
  });

  test('that is stopped settles what the sink still takes, and keeps the rest as it was', async () => {
    const rig = rigWith({ batchBy: 'event', inFlight: 2 });
    rig.sink.does(() => 'later');
    rig.append('a', 'b', 'c');
    const running = rig.relay.run(rig.stop.signal);
    await settled();
    rig.stop.abort();
    expect(rig.sink.sent.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    rig.sink.sent[0]?.answer(delivered);
    rig.sink.sent[1]?.answer(unavailable);
    await running;
    expect(rig.counters()).toEqual({ pending: 2, delivered: 1, dead: 0 });
    expect(rig.relay.health()).toMatchObject({ step: 0, state: 'waiting', inFlight: 0 });
  });

  test('joins a drain that is under way', async () => {
    const rig = rigWith();
    rig.append('a');
    expect(await Promise.all([rig.drain(), rig.drain()])).toHaveLength(2);
    expect(rig.sink.sent).toHaveLength(1);
  });

  test('does not let another VM wait for what one VM was refused', async () => {
    const rig = rigWith();
    rig.append('a');
    rig.sink.does(() => unavailable);
    await rig.drainFor(70_000);
    rig.sink.does(() => delivered);
    rig.outbox.archive('another VM');
    rig.append('b');
    const { state } = await rig.drain();
    expect(state).toBe('empty');
    expect(rig.relay.health()).toMatchObject({ state: 'idle', step: 0 });
  });

  test('drops what belongs to a stream that was archived', async () => {
    const rig = rigWith({ batchBy: 'event', inFlight: 3 });
    rig.sink.does(() => 'later');
    rig.append('a', 'a', preempt);
    const drained = rig.drain();
    await settled();
    rig.outbox.archive('another VM');
    rig.append('b');
    await until(() => rig.sink.sent.length === 3);
    expect(rig.sink.sent[2]?.records.map(({ eventId, position }) => [eventId, position])).toEqual([['b', 1]]);
    rig.sink.sent[0]?.answer(unavailable);
    rig.sink.sent[1]?.answer(delivered);
    await settled();
    expect(rig.counters()).toEqual({ pending: 1, delivered: 0, dead: 0 });
    rig.sink.sent[2]?.answer(delivered);
    expect((await drained).state).toBe('empty');
    expect(rig.sink.sent).toHaveLength(3);
    expect(rig.relay.health()).toMatchObject({ state: 'idle', step: 0 });
  });

  test('forgets a refused record that is gone from the outbox', async () => {
    const rig = rigWith();
    rig.sink.does(() => poison);
    rig.append('a');
    await rig.drain();
    expect(rig.relay.health()).toMatchObject({ state: 'failing' });
    rig.outbox.settle('scripted', [{ position: 1, outcome: 'dead', code: 'expired', reason: '' }], noProgress);
    rig.relay.wake();
    expect((await rig.drain()).state).toBe('empty');
    expect(rig.relay.health()).toMatchObject({ state: 'idle' });
  });
});

describe('flushing before an end', () => {
  test('sends what is left', async () => {
    const rig = rigWith();
    rig.append('a', 'b');
    expect(await rig.relay.flush(5_000)).toBe(true);
    expect(rig.sink.arrived).toEqual([1, 2]);
    expect(rig.clock.sleepers()).toBe(0);
  });

  test('does not wait for a sink that fails', async () => {
    const rig = rigWith();
    rig.sink.does(() => unavailable);
    rig.append('a');
    expect(await rig.relay.flush(5_000)).toBe(false);
    expect(rig.clock.monotonicMs()).toBe(1_000);
  });

  test('ends when the time is over, also while the loop runs', async () => {
    const rig = rigWith();
    rig.sink.does(() => 'later');
    rig.append('a');
    const running = rig.relay.run(rig.stop.signal);
    const flushed = rig.relay.flush(5_000);
    await rig.clock.advance(5_000);
    expect(await flushed).toBe(false);
    rig.stop.abort();
    await rig.clock.advance(1_000);
    await running;
  });

  test('waits for an event that is held for a moment', async () => {
    const rig = rigWith();
    rig.sink.does((batch, attempt) =>
      attempt < 3 && batch.some(({ record }) => record.eventId === 'bad') ? unavailable : delivered,
    );
    rig.append('bad', 'good');
    await rig.drain();
    await rig.clock.advance(2_000);
    rig.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'bad') ? unavailable : delivered));
    await rig.drainFor(10_000);
    expect(rig.sink.arrived).toEqual([2]);
    rig.sink.does(() => delivered);
    await rig.clock.advance(300_000);
    expect(await rig.relay.flush(5_000)).toBe(true);
    expect(rig.sink.arrived).toEqual([2, 1]);
  });

  test('that did not begin leaves nothing on its way', async () => {
    const rig = rigWith();
    rig.sink.does(() => 'later');
    rig.append('a');
    const flushed = rig.relay.flush(5_000);
    await rig.clock.advance(5_000);
    expect(await flushed).toBe(false);
    expect(rig.sink.sent[0]?.signal.aborted).toBe(true);
    await rig.clock.advance(1_000);
    expect(rig.relay.health()).toMatchObject({ inFlight: 0 });
    expect(rig.counters()).toMatchObject({ pending: 1 });
  });
});

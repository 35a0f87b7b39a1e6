import { mkdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { noProgress } from '../../src/outbox/outbox.ts';
import { settled } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { type Harness, openHarness, preempt } from './harness.ts';
import { delivered, poison, unavailable } from './scripted-sink.ts';

const rigs: Harness[] = [];
const rigWith = (...options: Parameters<typeof openHarness>): Harness => {
  const harness = openHarness(...options);
  rigs.push(harness);
  return harness;
};
afterEach(() => {
  for (const harness of rigs.splice(0)) harness.close();
});

describe('the loop', () => {
  test('sends what is appended while it runs, and stops when it is aborted', async () => {
    const harness = rigWith();
    const running = harness.relay.run(harness.stop.signal);
    await settled();
    harness.append('a');
    await until(() => harness.counters().delivered === 1);
    harness.append('b');
    await until(() => harness.counters().delivered === 2);
    harness.stop.abort();
    await running;
  });

  test('retries a failing sink at the end of its pause', async () => {
    const harness = rigWith();
    harness.sink.does((_batch, attempt) => (attempt < 3 ? unavailable : delivered));
    const running = harness.relay.run(harness.stop.signal);
    harness.append('a');
    await harness.clock.advance(2_000);
    await harness.clock.advance(3_999);
    expect(harness.sink.sent).toHaveLength(2);
    await harness.clock.advance(1);
    expect(harness.sink.arrived).toEqual([1]);
    harness.stop.abort();
    await running;
  });

  test('drains again at once when the pause of the sink ended while its failure was written', async () => {
    const harness = rigWith();
    const { clock, outbox } = harness;
    const [monotonicMs, settle] = [clock.monotonicMs, outbox.settle.bind(outbox)];
    let slowMs = 0;
    clock.monotonicMs = () => monotonicMs() + slowMs;
    outbox.settle = (...given) => {
      slowMs += 5_000;
      settle(...given);
    };
    harness.sink.does((_batch, attempt) => (attempt < 2 ? unavailable : delivered));
    harness.append('a');
    await settled();
    expect(await harness.drain()).toBe(0);
    await harness.drain();
    expect(harness.sink.arrived).toEqual([1]);
  });

  test('finds changes without a notification within a minute, or at once when it is woken', async () => {
    const harness = rigWith();
    const deaf = harness.outbox.onAppended;
    harness.relay.close();
    const running = harness.relay.run(harness.stop.signal);
    await settled();
    harness.append('a');
    await settled();
    expect(harness.sink.sent).toHaveLength(0);
    await harness.clock.advance(60_000);
    expect(harness.sink.arrived).toEqual([1]);
    harness.append('b');
    harness.relay.wake();
    await settled();
    expect(harness.sink.arrived).toEqual([1, 2]);
    expect(deaf).toBeDefined();
    harness.stop.abort();
    await running;
  });

  test('sends at once what the disk gives back that could not be read at the start', async () => {
    const before = rigWith();
    before.append('a', 'b');
    let giveBack = (): void => {};
    const harness = before.restart((directory) => {
      const [file, aside] = [join(directory, 'outbox.sqlite'), join(directory, 'aside')];
      renameSync(file, aside);
      mkdirSync(file);
      giveBack = () => {
        rmdirSync(file);
        renameSync(aside, file);
      };
    });
    const running = harness.relay.run(harness.stop.signal);
    await harness.clock.advance(10_000);
    expect(harness.outbox.storage.fault?.kind).toBe('unavailable');
    giveBack();
    harness.outbox.retry();
    await settled();
    expect(harness.outbox.storage.fault).toBeNull();
    expect(harness.sink.arrived).toEqual([1, 2]);
    harness.stop.abort();
    await running;
  });

  test('that is stopped settles what the sink still accepts, and keeps the rest unchanged', async () => {
    const harness = rigWith({ batchBy: 'event', inFlight: 2 });
    harness.sink.does(() => 'later');
    harness.append('a', 'b', 'c');
    const running = harness.relay.run(harness.stop.signal);
    await settled();
    harness.stop.abort();
    expect(harness.sink.sent.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    harness.sink.sent[0]?.answer(delivered);
    harness.sink.sent[1]?.answer(unavailable);
    await running;
    expect(harness.counters()).toEqual({ pending: 2, delivered: 1, dead: 0 });
    expect(harness.relay.health()).toMatchObject({ step: 0, state: 'waiting', inFlight: 0 });
  });

  test('joins a running drain', async () => {
    const harness = rigWith();
    harness.append('a');
    expect(await Promise.all([harness.drain(), harness.drain()])).toHaveLength(2);
    expect(harness.sink.sent).toHaveLength(1);
  });

  test('does not delay another VM when the record of one VM was refused', async () => {
    const harness = rigWith();
    harness.append('a');
    harness.sink.does(() => unavailable);
    await harness.drainFor(70_000);
    harness.sink.does(() => delivered);
    harness.outbox.archive('another VM');
    harness.append('b');
    expect(await harness.drain()).toBe(Number.POSITIVE_INFINITY);
    expect(harness.relay.health()).toMatchObject({ state: 'idle', step: 0 });
  });

  test('drops the records of an archived stream', async () => {
    const harness = rigWith({ batchBy: 'event', inFlight: 3 });
    harness.sink.does(() => 'later');
    harness.append('a', 'a', preempt);
    const drained = harness.drain();
    await settled();
    harness.outbox.archive('another VM');
    harness.append('b');
    await until(() => harness.sink.sent.length === 3);
    expect(harness.sink.sent[2]?.records.map(({ eventId, position }) => [eventId, position])).toEqual([['b', 1]]);
    harness.sink.sent[0]?.answer(unavailable);
    harness.sink.sent[1]?.answer(delivered);
    await settled();
    expect(harness.counters()).toEqual({ pending: 1, delivered: 0, dead: 0 });
    harness.sink.sent[2]?.answer(delivered);
    expect(await drained).toBe(Number.POSITIVE_INFINITY);
    expect(harness.sink.sent).toHaveLength(3);
    expect(harness.relay.health()).toMatchObject({ state: 'idle', step: 0 });
  });

  test('forgets a refused record that left the outbox', async () => {
    const harness = rigWith();
    harness.sink.does(() => poison);
    harness.append('a');
    await harness.drain();
    expect(harness.relay.health()).toMatchObject({ state: 'failing' });
    harness.outbox.settle('scripted', [{ position: 1, state: 'dead', code: 'expired', reason: '' }], noProgress);
    harness.relay.wake();
    expect(await harness.drain()).toBe(Number.POSITIVE_INFINITY);
    expect(harness.relay.health()).toMatchObject({ state: 'idle' });
  });
});

describe('the flush before the stop', () => {
  test('sends the pending records', async () => {
    const harness = rigWith();
    harness.append('a', 'b');
    expect(await harness.relay.flush(5_000)).toBe(true);
    expect(harness.sink.arrived).toEqual([1, 2]);
    expect(harness.clock.sleepers()).toBe(0);
  });

  test('does not wait for a sink that fails', async () => {
    const harness = rigWith();
    harness.sink.does(() => unavailable);
    harness.append('a');
    expect(await harness.relay.flush(5_000)).toBe(false);
    expect(harness.clock.monotonicMs()).toBe(1_000);
  });

  test('ends at its deadline, also while the loop runs', async () => {
    const harness = rigWith();
    harness.sink.does(() => 'later');
    harness.append('a');
    const running = harness.relay.run(harness.stop.signal);
    const flushed = harness.relay.flush(5_000);
    await harness.clock.advance(5_000);
    expect(await flushed).toBe(false);
    harness.stop.abort();
    await harness.clock.advance(1_000);
    await running;
  });

  test('waits for an event with a short pause', async () => {
    const harness = rigWith();
    harness.sink.does((batch, attempt) =>
      attempt < 3 && batch.some(({ record }) => record.eventId === 'bad') ? unavailable : delivered,
    );
    harness.append('bad', 'good');
    await harness.drain();
    await harness.clock.advance(2_000);
    harness.sink.does((batch) => (batch.some(({ record }) => record.eventId === 'bad') ? unavailable : delivered));
    await harness.drainFor(10_000);
    expect(harness.sink.arrived).toEqual([2]);
    harness.sink.does(() => delivered);
    await harness.clock.advance(300_000);
    expect(await harness.relay.flush(5_000)).toBe(true);
    expect(harness.sink.arrived).toEqual([2, 1]);
  });

  test('that did not start leaves nothing in flight', async () => {
    const harness = rigWith();
    harness.sink.does(() => 'later');
    harness.append('a');
    const flushed = harness.relay.flush(5_000);
    await harness.clock.advance(5_000);
    expect(await flushed).toBe(false);
    expect(harness.sink.sent[0]?.signal.aborted).toBe(true);
    await harness.clock.advance(1_000);
    expect(harness.relay.health()).toMatchObject({ inFlight: 0 });
    expect(harness.counters()).toMatchObject({ pending: 1 });
  });
});

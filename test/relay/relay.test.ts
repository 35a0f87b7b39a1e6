import { afterEach, describe, expect, test } from 'vitest';
import { settled } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { type Harness, openHarness, positions, range, seconds } from './harness.ts';
import { delivered, forbidden, unavailable } from './scripted-sink.ts';

const rigs: Harness[] = [];
const rigWith = (...options: Parameters<typeof openHarness>): Harness => {
  const harness = openHarness(...options);
  rigs.push(harness);
  return harness;
};
afterEach(() => {
  for (const harness of rigs.splice(0)) harness.close();
});

describe('a healthy sink', () => {
  test('gets a record at once, and no further call', async () => {
    const harness = rigWith();
    harness.append('a');
    expect(await harness.drain()).toBe(Number.POSITIVE_INFINITY);
    expect(positions(harness)).toEqual([[1]]);
    expect(harness.counters()).toEqual({ pending: 0, delivered: 1, dead: 0 });
    await harness.drain();
    expect(harness.sink.sent).toHaveLength(1);
  });

  test('gets the bytes that were appended', async () => {
    const harness = rigWith();
    harness.append({ eventId: 'a', description: 'Ünïcode — 例' });
    const [row] = harness.outbox.pending('scripted', { limit: 1 });
    let bytes = '';
    harness.sink.does(([entry]) => {
      bytes = entry?.json.toString() ?? '';
      return delivered;
    });
    await harness.drain();
    expect(bytes).toBe(row?.json.toString());
  });

  test('gets records appended while a batch is in flight in the next one, without delay', async () => {
    const harness = rigWith();
    harness.sink.does((_batch, attempt) => (attempt === 1 ? 'later' : delivered));
    harness.append('a');
    const drained = harness.drain();
    await settled();
    harness.append('b');
    harness.append('c', 'b');
    await settled();
    expect(positions(harness)).toEqual([[1]]);
    harness.sink.sent[0]?.answer(delivered);
    await drained;
    expect(positions(harness)).toEqual([[1], [2, 3, 4]]);
    expect(harness.clock.monotonicMs()).toBe(1_000);
  });

  test('has as many batches in flight as it allows, each of other events', async () => {
    const harness = rigWith({ batchBy: 'event', inFlight: 3 });
    harness.sink.does(() => 'later');
    harness.append('a', 'b', 'a', 'c', 'd');
    const drained = harness.drain();
    await settled();
    expect(positions(harness)).toEqual([[1, 3], [2], [4]]);
    expect(harness.relay.health()).toMatchObject({ state: 'sending', inFlight: 3, recordsInFlight: 4 });
    harness.append('a');
    await settled();
    expect(harness.sink.sent).toHaveLength(3);
    harness.sink.sent[0]?.answer(delivered);
    await until(() => harness.sink.sent.length === 4);
    expect(positions(harness).at(-1)).toEqual([5]);
    for (const { answer } of harness.sink.sent) answer(delivered);
    await until(() => harness.sink.sent.length === 5);
    expect(positions(harness).at(-1)).toEqual([6]);
    harness.sink.sent[4]?.answer(delivered);
    expect(await drained).toBe(Number.POSITIVE_INFINITY);
  });

  test('gets a large backlog in order, and never more of it in memory than a thousand records', async () => {
    const harness = rigWith({ limits: { records: 300, bytes: 10_000_000 } });
    const eventIds = range(1, 3_500).map((index) => `event-${index % 700}`);
    await harness.appendMany(eventIds);
    const asked: number[] = [];
    const { pending } = harness.outbox;
    harness.outbox.pending = (sink, query) => {
      asked.push(query.limit);
      return pending.call(harness.outbox, sink, query);
    };
    await harness.drain();
    const arrivedOf = (event: number) => harness.sink.arrived.filter((position) => position % 700 === event);
    for (const event of [0, 1, 350, 699])
      expect(arrivedOf(event)).toEqual(range(1, 3_500).filter((each) => each % 700 === event));
    expect(Math.max(...asked)).toBeLessThanOrEqual(1_000);
    expect(harness.counters()).toEqual({ pending: 0, delivered: 3_500, dead: 0 });
  });

  test('never has more than a thousand records in flight, however many batches it allows', async () => {
    const harness = rigWith({ inFlight: 16, limits: { records: 300, bytes: 10_000_000 } });
    harness.sink.does(() => 'later');
    const others = range(1, 700).flatMap((index) => [`event-${index}`, `event-${index}`]);
    await harness.appendMany([...Array<string>(64).fill('a'), ...others]);
    void harness.drain();
    await settled();
    expect(positions(harness).flat()).toHaveLength(1_000);
  });

  test('gets a backlog of one event in order, however much of it there is', async () => {
    const harness = rigWith({ batchBy: 'event', inFlight: 4 });
    await harness.appendMany([...Array<string>(2_500).fill('a'), 'b']);
    await harness.drain();
    expect(harness.sink.arrived.filter((position) => position <= 2_500)).toEqual(range(1, 2_500));
    expect(harness.sink.arrived).toContain(2_501);
  });
});

describe('a sink that is down', () => {
  test('is paused longer each time, and is retried with one record', async () => {
    const harness = rigWith();
    harness.append('a', 'b', 'c');
    harness.sink.does(() => unavailable);
    await harness.drainFor(70_000);
    expect(seconds(harness)).toEqual([0, 2, 6, 14, 30, 62]);
    expect(positions(harness)).toEqual([[1, 2, 3], [1], [2], [3], [1], [2]]);
    expect(harness.relay.health()).toMatchObject({ state: 'failing', step: 6, lastErrorCode: 'http-503' });
  });

  test('gets every record in order once it recovers, in growing batches', async () => {
    const harness = rigWith();
    harness.append(...Array<string>(20).fill('a'));
    harness.sink.does((_batch, attempt) => (attempt < 4 ? unavailable : delivered));
    await harness.drainFor(60_000);
    expect(harness.sink.arrived).toEqual(range(1, 20));
    expect(
      positions(harness)
        .slice(3)
        .map((batch) => batch.length),
    ).toEqual([1, 2, 4, 8, 5]);
    expect(harness.relay.health()).toMatchObject({ state: 'idle', step: 0, retryAt: null });
    expect(harness.lines).toEqual([
      'scripted is failing: the service is down',
      expect.stringMatching(/^scripted recovered after 14 s.$/),
    ]);
  });

  test('is not called for new records during its pause', async () => {
    const harness = rigWith();
    harness.sink.does(() => unavailable);
    harness.append('a');
    await harness.drain();
    harness.append('b');
    expect(await harness.drain()).toBe(2_000);
    expect(harness.sink.sent).toHaveLength(1);
  });

  test('with sixteen batches in flight has failed once, not sixteen times', async () => {
    const harness = rigWith({ batchBy: 'event', inFlight: 16 });
    harness.sink.does(() => unavailable);
    harness.append(...range(1, 16).map((index) => `event-${index}`));
    await harness.drain();
    expect(harness.sink.sent).toHaveLength(16);
    expect(harness.relay.health()).toMatchObject({ step: 1 });
  });

  test('counts as failing at once, also while another batch is in flight', async () => {
    const harness = rigWith({ batchBy: 'event', inFlight: 2 });
    harness.sink.does(() => 'later');
    harness.append('a', 'b');
    void harness.drain();
    await settled();
    harness.sink.sent[0]?.answer(unavailable);
    await settled();
    expect(harness.relay.health()).toMatchObject({ state: 'failing', inFlight: 1 });
  });

  test('has the number of the records that wait for it in the log', async () => {
    const harness = rigWith();
    harness.sink.does(() => unavailable);
    harness.append('a', 'b', 'c');
    await harness.drainFor(15 * 60_000);
    expect(harness.lines.at(-1)).toContain('3 records wait for it: the service is down');
  });

  test('that sends a Retry-After is paused for that long, but no longer than 15 minutes', async () => {
    const harness = rigWith();
    harness.append('a');
    harness.sink.does((_batch, attempt) => ({ ...unavailable, retryAfterMs: attempt === 1 ? 90_000 : 3_600_000 }));
    await harness.drainFor(1_200_000);
    expect(seconds(harness)).toEqual([0, 90, 990]);
  });

  test('because a role is missing is retried slowly, and no record is lost', async () => {
    const harness = rigWith();
    harness.append('a');
    harness.sink.does((_batch, attempt) => (attempt < 3 ? forbidden : delivered));
    await harness.drainFor(600_000);
    expect(seconds(harness)).toEqual([0, 60, 120]);
    expect(harness.counters()).toEqual({ pending: 0, delivered: 1, dead: 0 });
  });

  test('stays paused after a restart, for as long as before', async () => {
    const before = rigWith();
    before.append('a', 'b');
    before.sink.does(() => unavailable);
    await before.drainFor(20_000);
    expect(before.relay.health().step).toBe(4);
    const harness = before.restart();
    rigs.splice(0, rigs.length, harness);
    expect(harness.relay.health()).toMatchObject({ state: 'failing', step: 4 });
    expect(await harness.drain()).toBe(10_000);
    harness.sink.does(() => delivered);
    await harness.drainFor(10_000);
    expect(positions(harness).slice(-2)).toEqual([[2], [1]]);
  });

  test.each([
    { name: 'forwards', stepMs: 86_400_000, waitMs: 0 },
    { name: 'backwards', stepMs: -86_400_000, waitMs: 2_000 },
  ])('is not stalled by a clock that was set $name by a day during the restart', async ({ stepMs, waitMs }) => {
    const before = rigWith();
    before.append('a');
    before.sink.does(() => unavailable);
    await before.drain();
    before.clock.stepWall(stepMs);
    const harness = before.restart();
    rigs.splice(0, rigs.length, harness);
    expect(await harness.drain()).toBe(waitMs || 4_000);
  });

  test('is not stalled by a clock that is set back while it waits', async () => {
    const harness = rigWith();
    harness.append('a');
    harness.sink.does((_batch, attempt) => (attempt === 1 ? unavailable : delivered));
    await harness.drain();
    harness.clock.stepWall(-86_400_000);
    await harness.clock.advance(2_000);
    expect(await harness.drain()).toBe(Number.POSITIVE_INFINITY);
  });

  test('without a result is aborted after a minute', async () => {
    const harness = rigWith();
    harness.append('a');
    harness.sink.does((_batch, attempt) => (attempt === 1 ? 'later' : delivered));
    const drained = harness.drain();
    await harness.clock.advance(60_000);
    expect(await drained).toBeLessThan(Number.POSITIVE_INFINITY);
    expect(harness.relay.health()).toMatchObject({ state: 'failing', lastErrorCode: 'deadline-exceeded' });
    await harness.drainFor(10_000);
    expect(harness.sink.arrived).toEqual([1]);
  });

  test('that throws is logged and retried', async () => {
    const harness = rigWith();
    harness.append('a');
    harness.sink.does((_batch, attempt) => {
      if (attempt === 1) throw new Error('a bug');
      return delivered;
    });
    await harness.drainFor(10_000);
    expect(harness.sink.arrived).toEqual([1]);
    expect(harness.lines[0]).toMatch(/threw/);
  });
});

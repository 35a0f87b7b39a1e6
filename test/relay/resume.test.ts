import { expect, onTestFinished, test } from 'vitest';
import { lacksToken } from '../../src/azure/token-failure.ts';
import { settled } from '../support/fake-clock.ts';
import { type Harness, openHarness, preempt, seconds } from './harness.ts';
import { delivered, unavailable } from './scripted-sink.ts';

const minute = 60_000;

/** A sink that is paused for fifteen minutes, by the Retry-After of the token endpoint. */
async function pausedFor(code: string): Promise<Harness> {
  const harness = openHarness();
  onTestFinished(() => harness.close());
  harness.sink.does(() => ({ kind: 'retry', cause: 'throttled', code, reason: 'later', retryAfterMs: 60 * minute }));
  harness.append('a', 'b');
  void harness.relay.run(harness.stop.signal);
  await settled();
  await harness.clock.advance(minute);
  expect(seconds(harness)).toEqual([0]);
  harness.sink.does(() => delivered);
  return harness;
}

test.for(['token-throttled', 'http-401', 'unauthorized'])(
  'a sink that failed with %s is tried at once when there is a token again, with its entire backlog',
  async (code) => {
    const harness = await pausedFor(code);
    harness.relay.resume(lacksToken);
    await settled();
    await harness.clock.advance(1000);
    expect(seconds(harness)[1]).toBe(60);
    expect(harness.counters()).toMatchObject({ pending: 0, delivered: 2 });
  },
);

test('a sink that failed for another reason stays paused when tokens are issued again', async () => {
  const harness = await pausedFor('http-429');
  harness.relay.resume(lacksToken);
  await settled();
  await harness.clock.advance(minute);
  expect(seconds(harness)).toEqual([0]);
});

test('a pause that a late answer began after the sink had recovered ends too', async () => {
  const harness = openHarness({ batchBy: 'event', inFlight: 2 });
  onTestFinished(() => harness.close());
  const throttled = { kind: 'retry', cause: 'throttled', code: 'token-throttled', reason: 'later' } as const;
  harness.sink.does((_batch, attempt) => (attempt < 3 ? 'later' : delivered));
  harness.append('a', 'b');
  void harness.relay.run(harness.stop.signal);
  await settled();
  harness.sink.sent[0]?.answer(unavailable);
  await settled();
  harness.append(preempt);
  await settled();
  expect(harness.sink.arrived).toEqual([3, 1]);
  harness.sink.sent[1]?.answer({ ...throttled, retryAfterMs: 15 * minute });
  await harness.clock.advance(minute);
  expect(harness.sink.arrived).toEqual([3, 1]);
  harness.relay.resume(lacksToken);
  await settled();
  await harness.clock.advance(1_000);
  expect(harness.sink.arrived).toEqual([3, 1, 2]);
});

test('a sink that is well is not disturbed when tokens come again', async () => {
  const harness = openHarness();
  onTestFinished(() => harness.close());
  void harness.relay.run(harness.stop.signal);
  harness.relay.resume(lacksToken);
  await settled();
  expect(harness.relay.health()).toMatchObject({ state: 'idle', step: 0 });
});

import { expect, test } from 'vitest';
import { isUrgent } from '../../src/lifecycle/urgency.ts';
import { silentLog } from '../../src/log.ts';
import { createCommitThrottle } from '../../src/relay/commit-throttle.ts';
import { Relay, type RelayOptions } from '../../src/relay/relay.ts';
import { settled } from '../support/fake-clock.ts';
import { openHarness } from './harness.ts';
import { delivered } from './scripted-sink.ts';

const cases = [
  { name: 'a commit of 1 ms is followed by 9 ms of rest', tookMs: 1, restMs: 9 },
  { name: 'a commit of 10 ms is followed by 90 ms of rest', tookMs: 10, restMs: 90 },
  { name: 'a disk that stalled for 3 s rests for no longer than 100 ms', tookMs: 3000, restMs: 100 },
  { name: 'a commit that took no time is followed by none', tookMs: 0, restMs: 0 },
];

test.each(cases)('$name', ({ tookMs, restMs }) => {
  let now = 1000;
  const pace = createCommitThrottle({ monotonicMs: () => now });
  expect(pace.isDue(1)).toBe(true);
  pace.write(() => {
    now += tookMs;
  });
  expect(pace.dueInMs()).toBe(restMs);
  expect(pace.isDue(1)).toBe(restMs === 0);
  now += restMs;
  expect(pace.isDue(1)).toBe(true);
});

test('as many outcomes as fill a transaction are written without a pause', () => {
  let now = 0;
  const pace = createCommitThrottle({ monotonicMs: () => now });
  pace.write(() => {
    now += 10;
  });
  expect([pace.isDue(499), pace.isDue(500)]).toEqual([false, true]);
});

test('delivered records are written after the pause, though another batch never returns', async () => {
  const harness = openHarness({ batchBy: 'event', inFlight: 3 });
  harness.sink.does(() => 'later');
  let spentMs = 0;
  let writes = 0;
  const { outbox } = harness;
  const clock = { ...harness.clock, monotonicMs: () => harness.clock.monotonicMs() + spentMs };
  const slow: RelayOptions['outbox'] = {
    get state() {
      return outbox.state;
    },
    pending: (...query) => outbox.pending(...query),
    progress: (sink) => outbox.progress(sink),
    counters: () => outbox.counters(),
    onAppended: (listener) => outbox.onAppended(listener),
    settle(...outcomes) {
      outbox.settle(...outcomes);
      writes += 1;
      spentMs += 10;
    },
  };
  harness.append('first', 'second', 'never back');
  const relay = new Relay({ sink: harness.sink, outbox: slow, clock, log: silentLog, isUrgent });
  const drained = relay.drainOnce(harness.stop.signal);
  await settled();
  harness.sink.sent[0]?.answer(delivered);
  await settled();
  harness.sink.sent[1]?.answer(delivered);
  await settled();
  expect(writes).toBe(1);
  await harness.clock.advance(89);
  expect(writes).toBe(1);
  await harness.clock.advance(1);
  expect(writes).toBe(2);
  expect(harness.counters()).toEqual({ pending: 1, delivered: 2, dead: 0 });
  harness.sink.sent[2]?.answer(delivered);
  await drained;
  relay.close();
  harness.close();
});

import { expect, test } from 'vitest';
import { isUrgent } from '../../src/lifecycle/urgency.ts';
import { silentLog } from '../../src/log.ts';
import { Relay, type RelayOptions } from '../../src/relay/relay.ts';
import { settled } from '../support/fake-clock.ts';
import { openHarness } from './harness.ts';
import { delivered } from './scripted-sink.ts';

test('delivered records are written after the rest of the disk, though another batch never returns', async () => {
  const harness = openHarness({ batchBy: 'event', inFlight: 3 });
  harness.sink.does(() => 'later');
  const { outbox, clock } = harness;
  const { monotonicMs } = clock;
  let spentMs = 0;
  Object.assign(clock, { monotonicMs: () => monotonicMs() + spentMs });
  const slow: RelayOptions['outbox'] = {
    get state() {
      return outbox.state;
    },
    pending: (...query) => outbox.pending(...query),
    progress: (sink) => outbox.progress(sink),
    counters: () => outbox.counters(),
    onAppended: (listener) => outbox.onAppended(listener),
    onRecovered: (listener) => outbox.onRecovered(listener),
    settle: (sink, updates, progress) =>
      outbox.settle(sink, updates, {
        ...progress,
        // Read within the transaction that writes it, which takes 10 ms here.
        get step() {
          spentMs += 10;
          return progress.step;
        },
      }),
  };
  harness.append('first', 'second', 'never back');
  const relay = new Relay({ sink: harness.sink, outbox: slow, clock, log: silentLog, isUrgent });
  const drained = relay.drainOnce(harness.stop.signal);
  await settled();
  harness.sink.sent[0]?.answer(delivered);
  await settled();
  expect(harness.counters()).toEqual({ pending: 2, delivered: 1, dead: 0 });
  harness.sink.sent[1]?.answer(delivered);
  await clock.advance(89);
  expect(harness.counters()).toEqual({ pending: 2, delivered: 1, dead: 0 });
  await clock.advance(1);
  expect(harness.counters()).toEqual({ pending: 1, delivered: 2, dead: 0 });
  harness.sink.sent[2]?.answer(delivered);
  await drained;
  relay.close();
  harness.close();
});

import { expect, test } from 'vitest';
import { createSendWatch } from '../../src/health/send-counts.ts';
import type { SendResult, Sink } from '../../src/sinks/sink.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { sampleEntry } from '../support/sample-record.ts';

function sinkThatAnswers(...answers: readonly SendResult[]): Sink {
  const left = [...answers];
  return {
    name: 'hub',
    batchBy: 'any',
    inFlight: 1,
    limits: { records: 10, bytes: 1000 },
    send: async () => left.shift() ?? { kind: 'delivered' },
    check: async () => ({ ok: true, code: 'ok', detail: '' }),
    close: async () => {},
  };
}
const signal = new AbortController().signal;
const retry = (cause: 'transient' | 'throttled' | 'configuration', code: string): SendResult => ({
  kind: 'retry',
  cause,
  code,
  reason: '',
});

test('answers are counted by class, and records that may have been stored unanswered as possible duplicates', async () => {
  const watch = createSendWatch(createFakeClock());
  const sink = watch.watched(
    sinkThatAnswers(
      retry('transient', 'connection-refused'),
      retry('transient', 'send-timeout'),
      retry('configuration', 'http-403'),
      { kind: 'rejected', cause: 'poison', code: 'http-400', reason: '' },
    ),
  );
  for (let n = 0; n < 4; n += 1) await sink.send([sampleEntry(), sampleEntry()], signal);
  expect(watch.counts('hub')).toEqual({
    retries: { transient: 2, configuration: 1 },
    refusals: { poison: 1 },
    duplicatesPossible: 2,
  });
});

test('a delivery reports for each record the time since its observation, never negative', async () => {
  const clock = createFakeClock('2026-03-14T09:27:00.000Z');
  const watch = createSendWatch(clock);
  const delivered: [string, number][] = [];
  watch.onDelivered((sink, seconds) => delivered.push([sink, seconds]));
  const entries = ['2026-03-14T09:26:58.500Z', '2026-03-14T09:28:00.000Z'].map((observedAt) =>
    sampleEntry({ observedAt }),
  );
  expect(await watch.watched(sinkThatAnswers()).send(entries, signal)).toEqual({ kind: 'delivered' });
  expect(delivered).toEqual([
    ['hub', 1.5],
    ['hub', 0],
  ]);
});

test('missed deadlines are read from the sinks that keep some', () => {
  const watch = createSendWatch(createFakeClock());
  watch.watched(sinkThatAnswers());
  watch.watched(
    Object.assign(sinkThatAnswers(), { name: 'table', deadlines: { missed: { upload: 2 }, lateSettles: 1 } }),
  );
  expect(watch.deadlines()).toEqual([{ target: 'table', missed: { upload: 2 }, lateSettles: 1 }]);
});

import { describe, expect, test } from 'vitest';
import type { Log } from '../../src/log.ts';
import { silentLog } from '../../src/log.ts';
import type { PendingDelivery } from '../../src/outbox/outbox.ts';
import { send } from '../../src/relay/send.ts';
import { type Entry, parsed, type SendResult, type Sink } from '../../src/sinks/sink.ts';
import { createFakeClock, settled } from '../support/fake-clock.ts';
import { sampleRecord } from '../support/sample-record.ts';

const entry = (json: string): PendingDelivery => ({
  position: 1,
  eventKey: 'a',
  json: Buffer.from(json),
  attempts: 0,
  appendedAt: '2026-01-01T00:00:00.000Z',
});
const good = entry(JSON.stringify(sampleRecord()));

const sinkThat = (sending: Sink['send']): Sink => ({
  name: 'scripted',
  batchBy: 'any',
  inFlight: 1,
  limits: { records: 10, bytes: 1_000 },
  send: sending,
  check: async () => ({ ok: true, code: 'ok', detail: '' }),
  close: async () => {},
});

/** Sends with a fake clock; the answer appears in `answer` once there is one. */
function sending(sink: Sink, batch: readonly PendingDelivery[] = [good], log: Log = silentLog) {
  const clock = createFakeClock();
  const stop = new AbortController();
  const answer: { result: SendResult | null } = { result: null };
  void send(batch, { sink, clock, log, deadlineMs: 60_000 }, stop.signal).then((result) => {
    answer.result = result;
  });
  return { clock, stop, answer };
}

describe('one send', () => {
  test('passes the stored bytes to the sink, without parsing them', async () => {
    let got: readonly Entry[] = [];
    const { answer } = sending(
      sinkThat(async (batch) => {
        got = batch;
        return { kind: 'delivered' };
      }),
    );
    await settled();
    expect(answer.result).toEqual({ kind: 'delivered' });
    expect(got[0]?.json).toBe(good.json);
    expect(got.map((entry) => parsed(entry).record)).toEqual([sampleRecord()]);
  });

  test('that hangs ends at the deadline, and the sink is aborted', async () => {
    let aborted = false;
    const { clock, answer } = sending(
      sinkThat(
        (_batch, signal) =>
          new Promise(() => {
            signal.addEventListener('abort', () => {
              aborted = true;
            });
          }),
      ),
    );
    await clock.advance(59_999);
    expect(answer.result).toBeNull();
    await clock.advance(1);
    expect(answer.result).toMatchObject({ kind: 'retry', cause: 'transient', code: 'deadline-exceeded' });
    expect(answer.result).toHaveProperty('reason', expect.stringContaining('no answer in 60 s;'));
    expect(aborted).toBe(true);
    expect(clock.sleepers()).toBe(0);
  });

  test('whose sink throws is logged as an internal error and retried', async () => {
    const lines: string[] = [];
    const log: Log = { ...silentLog, error: (_fields, message) => lines.push(message) };
    const thrown = sinkThat(() => {
      throw new Error('no such method');
    });
    const { answer } = sending(thrown, [good], log);
    await settled();
    expect(answer.result).toMatchObject({ kind: 'retry', cause: 'transient', code: 'sink-threw' });
    expect(lines).toEqual(['the sink scripted threw, which it never should: please report it']);
  });

  test('of a stored record that is not JSON refuses that record instead of failing repeatedly', async () => {
    const reading = sinkThat(async (batch) => {
      for (const entry of batch) expect(parsed(entry).record.eventId).toBeDefined();
      return { kind: 'delivered' };
    });
    const { answer } = sending(reading, [good, entry('{"eventId":')]);
    await settled();
    expect(answer.result).toMatchObject({ kind: 'rejected', cause: 'poison', code: 'unreadable' });
  });

  test('that is stopped waits briefly for the result of the sink', async () => {
    const slow = sinkThat(async (_batch, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { kind: 'delivered' };
    });
    const { stop, answer } = sending(slow);
    stop.abort();
    await settled();
    expect(answer.result).toEqual({ kind: 'delivered' });
  });

  test('that is stopped does not wait for a sink without a result', async () => {
    const { clock, stop, answer } = sending(sinkThat(() => new Promise(() => {})));
    await settled();
    stop.abort();
    await clock.advance(1_000);
    expect(answer.result).toMatchObject({ kind: 'retry', code: 'stopped' });
  });

  test('that is stopped before it started, or throws because of the stop, is no failure of the sink', async () => {
    const lines: string[] = [];
    const log: Log = { ...silentLog, error: (_fields, message) => lines.push(message) };
    const clock = createFakeClock();
    const throwing = sinkThat(async (_batch, signal) => signal.throwIfAborted() as never);
    const to = { sink: throwing, clock, log, deadlineMs: 60_000 };
    expect(await send([good], to, AbortSignal.abort())).toMatchObject({ kind: 'retry', code: 'stopped' });
    expect(lines).toEqual([]);
  });
});

import { expect, onTestFinished, test } from 'vitest';
import { startHealth } from '../../src/health/health.ts';
import { createRuntimeStats } from '../../src/health/runtime-stats.ts';
import { silentLog } from '../../src/log.ts';
import { openOutbox } from '../../src/outbox/durable-outbox.ts';
import { Relay } from '../../src/relay/relay.ts';
import type { Sink } from '../../src/sinks/sink.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { event, nothing, observe } from '../support/observations.ts';
import { until } from '../support/until.ts';
import { freePort } from './free-port.ts';

const imds = { timeoutSeconds: 10, firstTimeoutSeconds: 130 };
const turn = {
  pollResult: { kind: 'unchanged', azureTime: null, clockOffsetSeconds: 0 },
  appeared: { seen: 1, ours: 1 },
} as const;
const sink: Sink = {
  name: 'hub',
  batchBy: 'any',
  inFlight: 1,
  limits: { records: 10, bytes: 1_000_000 },
  send: async () => ({ kind: 'retry', cause: 'configuration', code: 'http-403', reason: 'Grant the role.' }),
  check: async () => ({ ok: true, code: 'ok', detail: '' }),
  close: async () => {},
};

/** An outbox with one record, a relay that cannot deliver it, and what reports both. */
async function bridge() {
  const directory = temporaryDirectory('health-parts');
  onTestFinished(() => directory[Symbol.dispose]());
  const clock = createFakeClock();
  const log = silentLog;
  const runtimeStats = createRuntimeStats({ imds, holdSeconds: {} }, clock);
  const outbox = openOutbox({ directory: directory.path, sinks: ['hub'], maxMegabytes: 16, clock, log, version: '1' });
  const relay = new Relay({ sink: runtimeStats.watched(sink), outbox, clock, log, isUrgent: () => false });
  const port = await freePort();
  const credential = { deadlines: { missed: { token: 1 }, lateSettles: 0 } };
  const stop = new AbortController();
  const health = startHealth({
    ...{ runtimeStats, outbox, relays: [relay], credential, port, env: {}, version: '1.2.3', clock, log },
    imds: { ...imds, intervalSeconds: 1, isWarm: () => true },
    holdSeconds: {},
    senderFacts: () => [],
    stateDirectory: directory.path,
    stop: stop.signal,
  });
  onTestFinished(async () => {
    await health.close();
    relay.close();
    outbox.close();
  });
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });
    return { status: answer.status, body: await answer.text() };
  };
  await until(() =>
    ask('/livez').then(
      () => true,
      () => false,
    ),
  );
  return { clock, runtimeStats, outbox, relay, ask, health };
}

test('before the first document it lives and is not ready, with it it is, and when polling ceases it is neither', async () => {
  const { clock, runtimeStats, ask } = await bridge();
  expect([(await ask('/livez')).status, (await ask('/readyz')).status]).toEqual([200, 503]);
  runtimeStats.recordPoll(turn);
  expect([(await ask('/livez')).status, (await ask('/readyz')).status]).toEqual([200, 200]);
  await clock.advance(166_000);
  expect([(await ask('/livez')).status, (await ask('/readyz')).status]).toEqual([503, 503]);
  expect((await ask('/livez')).body).toMatch(/^The loop poll has been stuck for 166 s; its limit is 165 s/);
  expect(JSON.parse((await ask('/healthz')).body).ApplicationHealthState).toBe('Unhealthy');
});

test('metrics are those of the outbox and of the relay, and of what the sink answered', async () => {
  const { runtimeStats, outbox, relay, ask, clock } = await bridge();
  const { state, records } = observe([nothing, { events: [event()] }], { state: outbox.state });
  outbox.append(state, records);
  await relay.drainOnce(new AbortController().signal);
  await clock.advance(2_500);
  runtimeStats.relayPassed('hub');
  runtimeStats.recordPollFailure();
  const { body } = await ask('/metrics');
  for (const line of [
    'bridge_records_accepted_total 1',
    'bridge_events_open{phase="Scheduled"} 1',
    'bridge_turn_failures_total 1',
    'bridge_sink_pending{sink="hub"} 1',
    'bridge_sink_oldest_pending_age_seconds{sink="hub"} 2.5',
    'bridge_sink_failing{sink="hub",code="http-403"} 1',
    'bridge_sink_retries_total{sink="hub",class="configuration"} 1',
    'bridge_deadline_exceeded_total{target="credential",op="token"} 1',
    'bridge_loop_age_seconds{loop="hub"} 0',
    'bridge_store_writable 1',
  ]) {
    expect(body.split('\n')).toContain(line);
  }
});

test('a bridge whose outbox was closed still answers, so that its end can be watched', async () => {
  const { outbox, ask } = await bridge();
  outbox.close();
  expect((await ask('/livez')).status).toBe(200);
  expect((await ask('/metrics')).status).toBe(200);
});

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { metricFamilies } from '../../src/health/metric-families.ts';
import type { Readings } from '../../src/health/metric-family.ts';
import { createMetrics } from '../../src/health/metrics.ts';
import { deliveryLatency } from '../../src/health/sink-metrics.ts';

const counters = { accepted: 9, delivered: 5, pending: 2, dead: 1, expired: 1, abandoned: 0, undurable: 3 };
const readings: Readings = {
  version: '1.2.3',
  polls: {
    polls: 7,
    results: { document: 2, unchanged: 4, timeout: 1 },
    failedPolls: { timeout: 1 },
    pollFailures: 0,
    eventsSeen: 4,
    eventsOurs: 1,
    lastDocument: { at: new Date('2026-01-01T00:00:00.500Z'), monotonicMs: 0 },
    failing: null,
    clockOffsetSeconds: -2,
  },
  loops: [{ loop: 'poll', ageMs: 1500, limitMs: 165_000, because: '', isProgressing: true }],
  records: 17,
  openEvents: { Scheduled: 1, Started: 0 },
  sinks: [
    {
      sink: 'event-hubs',
      counters,
      imbalance: 0,
      pending: 2,
      oldestPendingSeconds: 12.5,
      lastSuccessAt: null,
      relay: {
        sink: 'event-hubs',
        state: 'failing',
        step: 3,
        retryAt: null,
        lastErrorCode: 'unauthorized',
        lastErrorReason: '',
        inFlight: 1,
        recordsInFlight: 3,
        deadLetterCounts: { 'http-400': 2 },
      },
      retries: { configuration: 3 },
      refusals: { poison: 1 },
      duplicatesPossible: 2,
    },
  ],
  senders: [
    {
      role: 'event-hubs',
      pid: 4712,
      residentBytes: 60e6,
      starts: 4,
      deaths: { 'sender-exited': 3 },
      recentDeaths: 2,
      lastDeath: { code: 'sender-exited', reason: 'It ended.' },
    },
    { role: 'tokens', pid: null, residentBytes: 0, starts: 9, deaths: {}, recentDeaths: 0, lastDeath: null },
  ],
  store: {
    errors: { ENOSPC: 1 },
    corruptions: 0,
    fill: { bytes: 4096, limitBytes: 8192, isAlarming: false },
    storage: { fault: null, undurable: 0 },
  },
  deadlines: [{ target: 'credential', missed: { token: 2 }, lateSettles: 1 }],
  process: { residentBytes: 1e8, cpuSeconds: 1.25, startedAt: new Date(1000) },
};

const linesOf = async (of: Readings) => {
  const metrics = await createMetrics(() => of);
  return (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
};

test('metrics are read at the moment of the request', async () => {
  const lines = await linesOf(readings);
  expect(lines).toEqual(
    expect.arrayContaining([
      'bridge_info{version="1.2.3"} 1',
      'bridge_poll_total{result="timeout"} 1',
      'bridge_last_success_poll_seconds 1767225600.5',
      'bridge_records_accepted_total 17',
      'bridge_loop_age_seconds{loop="poll"} 1.5',
      'bridge_events_open{phase="Scheduled"} 1',
      'bridge_sink_delivered_total{sink="event-hubs"} 5',
      'bridge_sink_oldest_pending_age_seconds{sink="event-hubs"} 12.5',
      'bridge_sink_failing{sink="event-hubs",code="unauthorized"} 1',
      'bridge_sink_dead_total{sink="event-hubs",reason="http-400"} 2',
      'bridge_sink_dead_letters{sink="event-hubs"} 1',
      'bridge_sink_retries_total{sink="event-hubs",class="configuration"} 3',
      'bridge_sender_up{sender="event-hubs"} 1',
      'bridge_sender_up{sender="tokens"} 0',
      'bridge_sender_resident_bytes{sender="event-hubs"} 60000000',
      'bridge_sender_starts_total{sender="tokens"} 9',
      'bridge_sender_exits_total{sender="event-hubs",code="sender-exited"} 3',
      'bridge_store_errors_total{code="ENOSPC"} 1',
      'bridge_store_writable 1',
      'bridge_deadline_exceeded_total{target="credential",op="token"} 2',
      'bridge_conservation_violation{sink="event-hubs"} 0',
    ]),
  );
});

test('ended series are omitted, and unknown values are not 0', async () => {
  let now = readings;
  const metrics = await createMetrics(() => now);
  await metrics.text();
  const { lastDocument: _, clockOffsetSeconds: __, ...polls } = readings.polls;
  now = {
    ...readings,
    polls: { ...polls, lastDocument: null, clockOffsetSeconds: null },
    sinks: readings.sinks.map((sink) => ({ ...sink, relay: null, oldestPendingSeconds: null })),
  };
  const text = await metrics.text();
  expect(text).not.toMatch(/^bridge_(sink_failing|sink_oldest_pending_age_seconds|sink_last_success_seconds)\{/m);
  expect(text).not.toMatch(/^bridge_sender_resident_bytes\{sender="tokens"/m);
  expect(text).not.toMatch(/^bridge_(last_success_poll|clock_offset)_seconds /m);
});

test('two bridges in one process keep their deliveries apart', async () => {
  const [one, other] = [await createMetrics(() => readings), await createMetrics(() => readings)];
  one.delivered('event-hubs', 0.2);
  expect(await one.text()).toContain('bridge_sink_delivery_latency_seconds_count{sink="event-hubs"} 1');
  expect(await other.text()).not.toContain('bridge_sink_delivery_latency_seconds_count{');
});

test('every metric has a help text, a unique name, and labels that its values have', () => {
  const all = [...metricFamilies, deliveryLatency];
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  for (const { name, help } of all) {
    expect(name).toMatch(/^(bridge|process)_[a-z_]+$/);
    expect(help).toMatch(/^.{20,}\.$/);
  }
  for (const { name, labels, read } of metricFamilies) {
    for (const sample of read(readings)) expect(Object.keys(sample.labels).sort(), name).toEqual([...labels].sort());
  }
});

test('no label can hold an event, a record or a VM', () => {
  const labels = new Set([...metricFamilies, deliveryLatency].flatMap((family) => [...family.labels]));
  expect([...labels].sort()).toEqual([
    'class',
    'code',
    'loop',
    'op',
    'phase',
    'reason',
    'result',
    'sender',
    'sink',
    'target',
    'version',
  ]);
});

/** Of the Debian package prometheus. */
const fetched = 'node_modules/.cache/third-party/debian/promtool';
const promtool = existsSync(fetched) ? fetched : 'promtool';
const whyNoPromtool = spawnSync(promtool, ['--version']).error
  ? 'there is no promtool here (test/third-party/prepare fetches it on Debian)'
  : '';

test('promtool finds no problem in the metrics', async (context) => {
  if (whyNoPromtool !== '') return context.skip(whyNoPromtool);
  const metrics = await createMetrics(() => readings);
  metrics.delivered('event-hubs', 0.2);
  const said = execFileSync(promtool, ['check', 'metrics'], { input: await metrics.text(), encoding: 'utf8' });
  expect(said).toBe('');
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/read-config.ts';
import { startHeartbeat } from '../../src/heartbeat/heartbeat.ts';
import type { HeartbeatPolls } from '../../src/heartbeat/row.ts';
import { silentLog } from '../../src/log.ts';
import { openOutbox } from '../../src/outbox/durable-outbox.ts';
import { heartbeatTargets } from '../../src/sinks/registry.ts';
import { configurationFor, temporaryDirectory } from '../support/bridge-process.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { type LocalAzure, startLocalAzure } from '../support/local-azure.ts';
import { event, nothing, type ObservationSpec, observe, observerNamed } from '../support/observations.ts';
import { root } from '../support/source-tree.ts';
import { until } from '../support/until.ts';

const polls = { polls: 5, failedPolls: {}, eventsSeen: 0, eventsOurs: 0, clockOffsetSeconds: 0, lastDocument: null };
const { tables } = JSON.parse(readFileSync(join(root, 'bicep/schema/columns.json'), 'utf8'));

describe('the heartbeat against the simulator', () => {
  let local: LocalAzure;
  beforeAll(async () => {
    local = await startLocalAzure({
      streams: { 'Custom-VmLifecycle_CL': null, 'Custom-VmLifecycleBridge_CL': tables.VmLifecycleBridge_CL },
    });
  });
  afterAll(() => local.close());

  const rows = () => local.azure.logAnalytics.rows('Custom-VmLifecycleBridge_CL');

  async function start(
    more: Record<string, unknown> = {},
    {
      ready = Promise.resolve(true),
      name = 'web_0',
      counts = () => polls as HeartbeatPolls,
      seen = [] as readonly ObservationSpec[],
    } = {},
  ) {
    const directory = temporaryDirectory('heartbeat');
    onTestFinished(() => directory[Symbol.dispose]());
    const value = configurationFor(local.azure, 'web_0', directory.path, more);
    const read = readConfig({
      documents: [{ value, source: 'the test', keepsSecrets: true }],
      env: {},
      defaultStateDirectory: '/x',
    });
    if (!read.config) throw new Error(read.problems.join(' '));
    const clock = createFakeClock(new Date().toISOString());
    const outbox = openOutbox({
      directory: directory.path,
      sinks: ['event-hubs'],
      maxMegabytes: 16,
      clock,
      log: silentLog,
      version: '1',
    });
    onTestFinished(() => outbox.close());
    if (name) outbox.rememberObserver(observerNamed(name), null);
    if (seen.length > 0) {
      const { state, records } = observe(seen, { from: clock.now().getTime() });
      outbox.append(state, records);
    }
    const lines: string[] = [];
    const log = {
      ...silentLog,
      warn: (_: object, line: string) => lines.push(line),
      info: (_: object, line: string) => lines.push(line),
    };
    const began = clock.monotonicMs();
    const around = { credential: local.credential, clock };
    const senders = await Promise.all(heartbeatTargets(read.config).map(({ open }) => open(around)));
    const sent = rows().length;
    const heartbeat = startHeartbeat({
      config: read.config,
      outbox,
      counts,
      upMs: () => clock.monotonicMs() - began,
      senders,
      version: '1.2.3',
      // An installation is refused after the first heartbeat.
      refusedVersion: () => (rows().length > sent ? '1.3.0' : null),
      clock,
      log,
      ready,
      random: () => 0.5,
    });
    return { heartbeat, clock, lines };
  }
  const sleeping = (clock: { sleepers(): number }) => until(() => clock.sleepers() > 0, { what: 'the next heartbeat' });

  test('it is sent after the start, then every hour, and at the stop with the reason', async () => {
    const before = rows().length;
    const { heartbeat, clock } = await start();
    for (const [count, waitMs] of [
      [1, 30_000],
      [2, 1_800_000],
      [3, 3_600_000],
    ] as const) {
      await sleeping(clock);
      await clock.advance(waitMs - 1);
      expect(rows()).toHaveLength(before + count - 1);
      await clock.advance(1);
      await until(() => rows().length === before + count);
    }
    await heartbeat.stopped('asked');
    const newRows = rows().slice(before);
    expect(newRows.map(({ State, StopReason }) => [State, StopReason ?? null])).toEqual([
      ['starting', null],
      ['running', null],
      ['running', null],
      ['stopping', 'asked'],
    ]);
    expect(newRows[0]).toMatchObject({ VmName: 'web_0', BridgeVersion: '1.2.3', UptimeSeconds: 30, Polls: 5 });
    expect(newRows.map(({ RefusedVersion }) => RefusedVersion ?? null)).toEqual([null, '1.3.0', '1.3.0', '1.3.0']);
    expect(local.azure.eventHubs.connections).toBe(0);
  });

  test('it counts the polls since the previous heartbeat, and has the age of the last valid document', async () => {
    const before = rows().length;
    // Polls and failures since the start, and the second of the last document, at each heartbeat.
    const timeline = [
      { polls: 30, failed: 0, documentAt: 29 },
      { polls: 1830, failed: 600, documentAt: 1230 },
      { polls: 5430, failed: 4200, documentAt: 1230 },
    ];
    const began = { ms: 0 };
    const counts = (): HeartbeatPolls => {
      const {
        polls: all,
        failed,
        documentAt,
      } = timeline[rows().length - before] ?? { polls: 0, failed: 0, documentAt: 0 };
      const failedPolls = failed > 0 ? { timeout: failed - 1, 'http-503': 1 } : {};
      return { ...polls, polls: all, failedPolls, lastDocument: { monotonicMs: began.ms + 1000 * documentAt } };
    };
    const { heartbeat, clock } = await start({}, { counts });
    began.ms = clock.monotonicMs();
    for (const [count, waitMs] of [
      [1, 30_000],
      [2, 1_800_000],
      [3, 3_600_000],
    ] as const) {
      await sleeping(clock);
      await clock.advance(waitMs);
      await until(() => rows().length === before + count);
    }
    const figures = rows()
      .slice(before)
      .map((row) => [row.RecentPolls, row.RecentFailedPolls, row.LastDocumentAgeSeconds]);
    expect(figures).toEqual([
      [30, 0, 1],
      [1800, 600, 600],
      [3600, 3600, 4200],
    ]);
    await heartbeat.stopped('asked');
  });

  test('before the first document since the start, the age is that of the document that the state remembers', async () => {
    const before = rows().length;
    const planned = event({ eventType: 'Redeploy', notBefore: new Date(Date.now() + 86_400_000).toISOString() });
    const { heartbeat, clock } = await start({}, { seen: [nothing, { events: [planned] }] });
    await sleeping(clock);
    await clock.advance(30_000);
    const row = await until(() => rows()[before]);
    // The document was seen two seconds after the start of the clock.
    expect(row).toMatchObject({
      LastDocumentAgeSeconds: 28,
      NextEventType: 'Redeploy',
      NextNotBefore: planned.notBefore,
    });
    await heartbeat.stopped('asked');
  });

  test('where there never was a document, the age is that of the bridge', async () => {
    const before = rows().length;
    const { heartbeat, clock } = await start();
    await sleeping(clock);
    await clock.advance(30_000);
    expect(await until(() => rows()[before])).toMatchObject({ LastDocumentAgeSeconds: 30, IntervalMinutes: 60 });
    await heartbeat.stopped('asked');
  });

  test('on the hub it is a CloudEvent with the VM as key, on a connection that is closed at once', async () => {
    const { heartbeat, clock } = await start({ heartbeat: { eventHubs: true } });
    await sleeping(clock);
    await clock.advance(30_000);
    const { vmId } = observerNamed('web_0');
    const event = await until(() => local.azure.eventHubs.events().find(({ partitionKey }) => partitionKey === vmId));
    expect(JSON.parse(event.body.toString())).toMatchObject({ vmId, state: 'starting', isTest: false });
    expect(event.properties).toMatchObject({
      'cloudEvents:type': 'com.scheduledeventsbridge.heartbeat.v1',
      'cloudEvents:id': event.messageId,
      'cloudEvents:subject': vmId,
    });
    await until(() => local.azure.eventHubs.connections === 0);
    await heartbeat.stopped('failed');
  });

  test('a table that keeps refusing is logged as one outage, with its end', async () => {
    local.azure.logAnalytics.fault({ status: 403 });
    const { heartbeat, clock, lines } = await start();
    await sleeping(clock);
    await clock.advance(30_000);
    await until(() => lines.length === 1);
    await sleeping(clock);
    await clock.advance(1_800_000);
    await sleeping(clock);
    local.azure.logAnalytics.fault(null);
    await clock.advance(3_600_000);
    await until(() => lines.length === 2);
    expect(lines).toEqual([
      expect.stringMatching(
        /^A heartbeat could not be sent to the stream Custom-VmLifecycleBridge_CL .*Monitoring Metrics Publisher/,
      ),
      expect.stringMatching(/^Heartbeats arrive at .* again\.$/),
    ]);
    await heartbeat.stopped('asked');
  });

  test.for([
    {
      name: 'with 0 minutes there is no heartbeat',
      more: { heartbeat: { everyMinutes: 0 } },
      ready: true,
      vm: 'web_0',
    },
    { name: 'where it is not certain whose outbox this is there is no heartbeat', more: {}, ready: false, vm: 'web_0' },
    { name: 'a VM that does not know its name sends no heartbeat', more: {}, ready: true, vm: '' },
  ])('$name', async ({ more, ready, vm }) => {
    const before = rows().length;
    const { heartbeat, clock } = await start(more, { ready: Promise.resolve(ready), name: vm });
    await clock.advance(7_200_000);
    await heartbeat.stopped('asked');
    expect(rows()).toHaveLength(before);
  });

  test('a table that hangs holds up the end for four seconds at most', async () => {
    const { heartbeat, clock } = await start();
    await sleeping(clock);
    local.azure.logAnalytics.fault('hang');
    const ended = heartbeat.stopped('asked');
    await until(() => clock.sleepers() > 0);
    await clock.advance(4_000);
    await ended;
    local.azure.logAnalytics.fault(null);
  });
});

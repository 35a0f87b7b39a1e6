import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { freePort } from '../health/free-port.ts';
import { type StartBridge, test } from '../support/azure-test.ts';
import type { BridgeProcess } from '../support/bridge-process.ts';
import { hubRecords, tableRows } from '../support/delivered.ts';
import { runCommand } from '../support/program.ts';
import { root } from '../support/source-tree.ts';
import { until } from '../support/until.ts';

const { tables } = JSON.parse(readFileSync(join(root, 'bicep/schema/columns.json'), 'utf8'));

describe('the health endpoints of a bridge', { concurrent: true }, () => {
  test.override('simulator', {
    streams: { 'Custom-VmLifecycle_CL': null, 'Custom-VmLifecycleBridge_CL': tables.VmLifecycleBridge_CL },
  });

  async function started(start: StartBridge) {
    const port = await freePort();
    const bridge = start({ http: { port } });
    const ask = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: answer.status, body: await answer.text() };
    };
    const isServed = () =>
      ask('/livez').then(
        ({ status }) => status === 200,
        () => false,
      );
    await until(isServed, { timeoutMs: 30_000, what: 'the local HTTP' });
    return { bridge, ask, port };
  }
  const stop = async (bridge: BridgeProcess) => {
    bridge.kill('SIGTERM');
    expect(await bridge.exited).toEqual({ code: 0, signal: null });
  };
  const value = (metrics: string, name: string): number =>
    Number(
      metrics
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.slice(name.length + 1),
    );

  test('a failing sink makes it neither dead nor unready, and is in the metrics', async ({ azure, start }) => {
    azure.logAnalytics.fault({ status: 403 });
    const { bridge, ask } = await started(start);
    await until(async () => (await ask('/readyz')).status === 200);
    azure.imds.schedule({ eventType: 'Preempt', resources: ['web_0'], notBefore: new Date(Date.now() + 30_000) });
    await until(async () =>
      (await ask('/metrics')).body.includes('bridge_sink_failing{sink="log-analytics",code="http-403"} 1'),
    );
    // Counted with the commit, shortly after the hub has it.
    await until(async () => value((await ask('/metrics')).body, 'bridge_sink_delivered_total{sink="event-hubs"}') > 0);
    expect(hubRecords(azure).length).toBeGreaterThan(0);
    expect(await ask('/livez')).toEqual({ status: 200, body: 'alive\n' });
    expect(await ask('/readyz')).toEqual({
      status: 200,
      body: expect.stringMatching(/^ready\nlog-analytics is refused \(http-403\), \d waiting\n$/),
    });
    const health = JSON.parse((await ask('/healthz')).body);
    expect(health).toMatchObject({ ApplicationHealthState: 'Healthy', status: 'warning' });
    expect(JSON.parse(health.customMetrics).sinks['log-analytics']).toMatchObject({
      state: 'refused',
      code: 'http-403',
    });
    const { body } = await ask('/metrics');
    expect(value(body, 'bridge_sink_pending{sink="log-analytics"}')).toBeGreaterThan(0);
    expect(value(body, 'bridge_sink_delivered_total{sink="event-hubs"}')).toBeGreaterThan(0);
    expect(value(body, 'bridge_sink_delivery_latency_seconds_count{sink="event-hubs"}')).toBeGreaterThan(0);
    expect(value(body, 'bridge_loop_age_seconds{loop="poll"}')).toBeLessThan(60);
    expect(body).toMatch(/^bridge_loop_age_seconds\{loop="(event-hubs|log-analytics)"\}/m);
    azure.logAnalytics.fault(null);
    await stop(bridge);
  });

  test('the end is reported in the table, with its reason, by a heartbeat that fits every column', async ({
    azure,
    start,
  }) => {
    const rows = () => azure.logAnalytics.rows('Custom-VmLifecycleBridge_CL');
    const before = rows().length;
    const { bridge, ask } = await started(start);
    await until(async () => (await ask('/readyz')).status === 200);
    await until(
      async () =>
        value((await ask('/metrics')).body, 'bridge_poll_total{result="unchanged"}') > 0 ||
        value((await ask('/metrics')).body, 'bridge_poll_total{result="document"}') > 1,
    );
    await stop(bridge);
    const newRows = rows().slice(before);
    expect(newRows.at(-1)).toMatchObject({ State: 'stopping', StopReason: 'asked', VmName: 'web_0', IsTest: false });
    expect(newRows.length).toBeLessThanOrEqual(2);
  });

  test('a health port in use by another bridge does not stop polling', async ({ azure, directory, start }) => {
    const { bridge, port } = await started(start);
    const second = start({ stateDirectory: join(directory, 'second'), http: { port } });
    await until(() =>
      second.log.some(({ level, msg }) => level === 'warn' && msg.includes('another program has that port')),
    );
    const polls = azure.imds.polls.web_0 ?? 0;
    await until(() => (azure.imds.polls.web_0 ?? 0) > polls + 3);
    await stop(second);
    await stop(bridge);
  });

  test('a test record goes to the hub and to the table, marked as one', async ({ azure, directory, start }) => {
    const { bridge } = await started(start);
    const { recordId } = (await until(async () => {
      const { code, out } = await runCommand(['emit-test', '--state-directory', directory, '--json']);
      return code === 0 && JSON.parse(out);
    })) as { recordId: string };
    const record = await until(() => hubRecords(azure).find((one) => one.recordId === recordId));
    expect(record).toMatchObject({ isTest: true, phase: 'Scheduled', eventType: 'Test', vmName: 'web_0' });
    await until(() => tableRows(azure).find(({ RecordId }) => RecordId === recordId));
    await stop(bridge);
  });
});

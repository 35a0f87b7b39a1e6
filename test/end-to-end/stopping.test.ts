import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import { test } from '../support/azure-test.ts';
import { type BridgeProcess, configurationFor, type StartOptions, startBridge } from '../support/bridge-process.ts';
import { runCheck } from '../support/check-process.ts';
import { hubRecords, recordLines, tableRows } from '../support/delivered.ts';
import { until } from '../support/until.ts';

describe('stopping and starting', { concurrent: true }, () => {
  async function untilPolling({ imds }: AzureSimulator): Promise<void> {
    const polls = (): number => imds.polls.web_0 ?? 0;
    const before = polls();
    await until(() => polls() > before + 1, { what: 'polls' });
  }
  const inFifteenMinutes = (): Date => new Date(Date.now() + 900_000);

  const requests: readonly (readonly [string, StartOptions, (bridge: BridgeProcess) => void])[] = [
    ['SIGTERM', {}, (bridge) => bridge.kill('SIGTERM')],
    ['SIGINT', {}, (bridge) => bridge.kill('SIGINT')],
    [
      'the end of standard input, where the service host of Windows asks so,',
      { stdin: 'pipe', env: { SCHEDULED_EVENTS_BRIDGE_STOP_ON_STDIN_END: '1' } },
      ({ child }) => void child.stdin?.end(),
    ],
  ];
  test.for(requests)('%s sends what is pending and ends with 0', async ([_, options, stop], { azure, start }) => {
    const before = hubRecords(azure).length;
    azure.eventHubs.fault({ delayMs: 1500 });
    const bridge = start({}, options);
    await untilPolling(azure);
    const eventId = azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore: inFifteenMinutes() });
    await until(() => bridge.log.some((line) => line.phase === 'Scheduled'), { what: 'the record' });
    stop(bridge);
    expect(await bridge.exited).toEqual({ code: 0, signal: null });
    expect(hubRecords(azure)).toHaveLength(before + 1);
    azure.eventHubs.fault(null);
    azure.imds.remove(eventId);
  });

  test('a second signal ends it at once, and the next start sends what was left', async ({ azure, start }) => {
    const before = hubRecords(azure).length;
    azure.eventHubs.fault('silent');
    const bridge = start();
    await untilPolling(azure);
    const eventId = azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore: inFifteenMinutes() });
    await until(() => bridge.log.some((line) => line.phase === 'Scheduled'));
    bridge.kill('SIGTERM');
    await until(() => bridge.log.some(({ msg }) => msg.startsWith('The bridge is stopping')));
    bridge.kill('SIGTERM');
    expect((await bridge.exited).code).toBe(143);
    azure.eventHubs.fault(null);
    const again = start();
    await until(() => hubRecords(azure).length > before, { what: 'the record of before' });
    again.kill('SIGTERM');
    expect((await again.exited).code).toBe(0);
    azure.imds.remove(eventId);
  });

  test('interrupted, check says so and ends with a code of its own', async ({ azure, directory }) => {
    azure.imds.fault('instance', 'hang');
    azure.imds.fault('scheduledevents', 'hang');
    const requests = (): number => azure.imds.requests('instance');
    const before = requests();
    const interruption = new AbortController();
    const checking = runCheck(configurationFor(azure, 'web_0', directory), {
      kill: interruption.signal,
      signal: 'SIGINT',
    });
    await until(() => requests() > before, { what: 'its first request' });
    interruption.abort();
    expect(await checking).toMatchObject({
      code: 130,
      out: '',
      err: 'Interrupted before the end: the result is incomplete.\n',
    });
  });

  test('undelivered records are reported at the end, and those on no disk are reported as lost', async ({
    azure,
    directory,
    start,
  }) => {
    const inTheWay = join(directory, 'a-file');
    writeFileSync(inTheWay, 'not a directory');
    await azure.eventHubs.pause({ drop: true });
    const { eventHubs } = configurationFor(azure, 'web_0', '').sinks as { eventHubs: object };
    const last: string[] = [];
    for (const stateDirectory of [join(directory, 'state'), inTheWay]) {
      const bridge = start({ stateDirectory, sinks: { eventHubs } });
      await untilPolling(azure);
      const eventId = azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore: inFifteenMinutes() });
      await until(() => bridge.log.some((line) => line.phase === 'Scheduled'));
      bridge.kill('SIGTERM');
      expect((await bridge.exited).code).toBe(0);
      last.push(bridge.log.findLast(({ pending }) => pending !== undefined)?.msg ?? '');
      azure.imds.remove(eventId);
    }
    await azure.eventHubs.resume();
    expect(last[0]).toBe('1 record waits for event-hubs; the next start sends them.');
    expect(last[1]).toMatch(/^1 record waits for event-hubs, 1 in memory only: those are lost now\./);
  });

  test('a restart during an event repeats no step, and continues', async ({ azure, start }) => {
    const before = hubRecords(azure).length;
    const first = start();
    await untilPolling(azure);
    const eventId = azure.imds.schedule({ eventType: 'Reboot', resources: ['web_0'], notBefore: inFifteenMinutes() });
    await until(() => hubRecords(azure).length === before + 1);
    first.kill('SIGTERM');
    await first.exited;
    const second = start();
    await untilPolling(azure);
    azure.imds.start(eventId);
    await until(() => hubRecords(azure).length === before + 2);
    azure.imds.remove(eventId);
    await until(() => hubRecords(azure).length === before + 3);
    second.kill('SIGTERM');
    await second.exited;
    expect(recordLines(hubRecords(azure).slice(before)).map((line) => line.split(' ')[1])).toEqual([
      'Scheduled',
      'Started',
      'Completed',
    ]);
  });

  test('a second instance ends within a second with the reason', async ({ azure, directory, start }) => {
    const first = start();
    await untilPolling(azure);
    const second = start();
    expect((await second.exited).code).toBe(75);
    expect(second.stderr()).toContain(directory);
    expect(first.child.exitCode).toBeNull();
  });

  test('a configuration with mistakes is refused with all of them at once', async () => {
    const bridge = startBridge({ imds: { pollIntervalSecond: 1 }, scope: { witnessRate: 2 } });
    expect((await bridge.exited).code).toBe(78);
    for (const name of ['imds.pollIntervalSecond', 'scope.witnessRate', 'sinks'])
      expect(bridge.stderr()).toContain(name);
  });

  test('records go to stdout, one JSON object a line, logs to stderr', async ({ azure, start }) => {
    const bridge = start({ sinks: { stdout: {} } });
    await untilPolling(azure);
    const eventId = azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore: inFifteenMinutes() });
    await until(() => bridge.stdout().includes('\n'));
    azure.imds.remove(eventId);
    bridge.kill('SIGTERM');
    await bridge.exited;
    const lines = bridge.stdout().trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).phase)[0]).toBe('Scheduled');
    expect(tableRows(azure).some(({ EventId }) => EventId === eventId)).toBe(false);
  });
});

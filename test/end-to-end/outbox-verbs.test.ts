import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { addOutbox } from '../../src/cli/outbox/command.ts';
import { addStatus } from '../../src/cli/status/command.ts';
import type { Status } from '../../src/cli/status/status.ts';
import { runVerb } from '../cli/outbox/command-line.ts';
import { type BridgeProcess, configurationFor, startBridge, temporaryDirectory } from '../support/bridge-process.ts';
import { hubRecords, tableRows } from '../support/delivered.ts';
import { until } from '../support/until.ts';

describe('an operator at a bridge that runs, and at one that stopped', () => {
  let azure: AzureSimulator;
  beforeAll(async () => {
    azure = await startAzureSimulator();
  });
  afterAll(() => azure.close());

  const statusOf = async (directory: string): Promise<Status> =>
    JSON.parse((await runVerb(addStatus, ['status', '--json', '--state-directory', directory])).out);
  const outbox = (directory: string, ...[sub = '', ...rest]: readonly string[]) =>
    runVerb(addOutbox, ['outbox', sub, '--state-directory', directory, ...rest]);
  const schedule = (eventType: 'Freeze' | 'Reboot'): string =>
    azure.imds.schedule({ eventType, resources: ['web_0'], notBefore: new Date(Date.now() + 900_000) });
  const idsOf = (eventId: string): unknown[] =>
    tableRows(azure).flatMap(({ EventId, RecordId }) => (EventId === eventId ? [RecordId] : []));
  const onHub = (eventId: string): unknown[] =>
    hubRecords(azure).flatMap((record) => (record.eventId === eventId ? [record.recordId] : []));

  async function stop(bridge: BridgeProcess): Promise<void> {
    bridge.kill('SIGTERM');
    await bridge.exited;
  }

  /** Two events, of which the table refuses the rows of the first for ever. @returns that one. */
  async function oneDeadLetter(directory: string): Promise<string> {
    const refused = schedule('Freeze');
    azure.logAnalytics.fault({ refuseRows: ({ EventId }) => EventId === refused });
    await until(() => onHub(refused).length > 0, { what: 'the hub has the first event' });
    const other = schedule('Reboot');
    await until(() => idsOf(other).length > 0, { what: 'the table has the other event', timeoutMs: 60_000 });
    await until(async () => (await statusOf(directory)).sinks.some(({ deadLetters }) => deadLetters > 0), {
      what: 'a dead letter',
      timeoutMs: 60_000,
      everyMs: 100,
    });
    return refused;
  }

  test('the status names what refuses and how to fix it, and says when all is well again', async () => {
    using directory = temporaryDirectory('status');
    azure.logAnalytics.fault({ status: 403 });
    const bridge = startBridge(configurationFor(azure, 'web_0', directory.path));
    const eventId = schedule('Freeze');
    const refusing = await until(
      async () => {
        const { out, reason } = await runVerb(addStatus, ['status', '--state-directory', directory.path]);
        return out.startsWith('Log Analytics has taken nothing since') ? { out, reason } : null;
      },
      { everyMs: 100, timeoutMs: 30_000 },
    );
    expect(refusing.reason).toBe('actionRequired');
    expect(refusing.out.split('\n')[0]).toContain('Monitoring Metrics Publisher');
    expect(refusing.out).toMatch(/Freeze +Scheduled +not before .* this VM/);
    expect(await statusOf(directory.path)).toMatchObject({ running: true, observer: { vmName: 'web_0' } });
    expect((await outbox(directory.path, 'list')).out).toMatch(
      new RegExp(`log-analytics +pending .*${eventId.toLowerCase()}`),
    );
    await stop(bridge);
    const stopped = await statusOf(directory.path);
    expect(stopped.running).toBe(false);
    expect(stopped.verdict.problems).toHaveLength(2);

    azure.logAnalytics.fault(null);
    const again = startBridge(configurationFor(azure, 'web_0', directory.path));
    await until(async () => (await statusOf(directory.path)).verdict.message.startsWith('Running; both destinations'), {
      everyMs: 100,
      timeoutMs: 90_000,
    });
    await stop(again);
  });

  test('a dead letter is sent again by the service that runs, with its own id', async () => {
    using directory = temporaryDirectory('retry');
    const bridge = startBridge(configurationFor(azure, 'web_0', directory.path));
    const eventId = await oneDeadLetter(directory.path);
    expect((await outbox(directory.path, 'list', '--state', 'dead')).out).toMatch(/log-analytics +dead .* http-400: /);
    azure.logAnalytics.fault(null);
    expect(await outbox(directory.path, 'retry', '--all')).toMatchObject({
      out: '1 dead letter will be sent again, with the same id.\n',
      reason: null,
    });
    await until(() => idsOf(eventId).length > 0, { timeoutMs: 20_000, what: 'the table has it' });
    expect(idsOf(eventId)[0]).toBe(onHub(eventId)[0]);
    await until(async () => (await statusOf(directory.path)).sinks.every(({ deadLetters }) => deadLetters === 0));
    await stop(bridge);
  });

  test('a dead letter that is asked for while no service runs is sent by the next', async () => {
    using directory = temporaryDirectory('stopped');
    const bridge = startBridge(configurationFor(azure, 'web_0', directory.path));
    const eventId = await oneDeadLetter(directory.path);
    await stop(bridge);
    expect((await outbox(directory.path, 'retry', '--all', '--sink', 'log-analytics')).reason).toBeNull();
    azure.logAnalytics.fault(null);
    const again = startBridge(configurationFor(azure, 'web_0', directory.path));
    await until(() => idsOf(eventId).length > 0, { timeoutMs: 60_000, what: 'the table has it' });
    await stop(again);
  });

  test('pending records are exported, purged by the running service, and do not arrive', async () => {
    using directory = temporaryDirectory('purge');
    azure.logAnalytics.fault({ status: 403 });
    const bridge = startBridge(configurationFor(azure, 'web_0', directory.path));
    const eventId = schedule('Freeze');
    await until(() => onHub(eventId).length > 0);
    const { out } = await outbox(directory.path, 'export', '--state', 'pending', '--sink', 'log-analytics');
    const saved = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(saved.find((record) => record.eventId === eventId)).toMatchObject({ recordId: onHub(eventId)[0] });
    const purge = ['purge', '--state', 'pending', '--sink', 'log-analytics'];
    expect(await outbox(directory.path, ...purge)).toMatchObject({ reason: 'usage', out: '' });
    expect((await outbox(directory.path, ...purge, '--yes')).out).toMatch(/^\d+ deliver(y|ies) discarded\.\n$/);
    azure.logAnalytics.fault(null);
    const later = schedule('Reboot');
    await until(() => idsOf(later).length > 0, { timeoutMs: 90_000, what: 'the table is back' });
    expect(idsOf(eventId)).toEqual([]);
    const { sinks } = await statusOf(directory.path);
    expect(sinks.find(({ name }) => name === 'log-analytics')?.counters.expired).toBe(saved.length);
    await stop(bridge);
  });
});

import { describe, expect } from 'vitest';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import { addOutbox } from '../../src/cli/outbox/command.ts';
import { addStatus } from '../../src/cli/status/command.ts';
import type { Status } from '../../src/cli/status/status.ts';
import { runVerb } from '../cli/outbox/command-line.ts';
import { test } from '../support/azure-test.ts';
import type { BridgeProcess } from '../support/bridge-process.ts';
import { hubRecords, tableRows } from '../support/delivered.ts';
import { until } from '../support/until.ts';

describe('an operator at a bridge that runs, and at one that stopped', { concurrent: true }, () => {
  const statusOf = async (directory: string): Promise<Status> =>
    JSON.parse((await runVerb(addStatus, ['status', '--json', '--state-directory', directory])).out);
  const outbox = (directory: string, ...[sub = '', ...rest]: readonly string[]) =>
    runVerb(addOutbox, ['outbox', sub, '--state-directory', directory, ...rest]);
  const schedule = ({ imds }: AzureSimulator, eventType: 'Freeze' | 'Reboot'): string =>
    imds.schedule({ eventType, resources: ['web_0'], notBefore: new Date(Date.now() + 900_000) });
  const idsOf = (azure: AzureSimulator, eventId: string): unknown[] =>
    tableRows(azure).flatMap(({ EventId, RecordId }) => (EventId === eventId ? [RecordId] : []));
  const onHub = (azure: AzureSimulator, eventId: string): unknown[] =>
    hubRecords(azure).flatMap((record) => (record.eventId === eventId ? [record.recordId] : []));

  async function stop(bridge: BridgeProcess): Promise<void> {
    bridge.kill('SIGTERM');
    await bridge.exited;
  }

  /** Two events; the table always refuses the rows of the first. @returns that one. */
  async function oneDeadLetter(azure: AzureSimulator, directory: string): Promise<string> {
    const refused = schedule(azure, 'Freeze');
    azure.logAnalytics.fault({ refuseRows: ({ EventId }) => EventId === refused });
    await until(() => onHub(azure, refused).length > 0, { what: 'the hub has the first event' });
    const other = schedule(azure, 'Reboot');
    await until(() => idsOf(azure, other).length > 0, { what: 'the table has the other event', timeoutMs: 60_000 });
    await until(async () => (await statusOf(directory)).sinks.some(({ deadLetters }) => deadLetters > 0), {
      what: 'a dead letter',
      timeoutMs: 60_000,
    });
    return refused;
  }

  test('the status names the failing destination and the remedy, and reports when it recovers', async ({
    azure,
    directory,
    start,
  }) => {
    azure.logAnalytics.fault({ status: 403 });
    const bridge = start();
    const eventId = schedule(azure, 'Freeze');
    const refusing = await until(
      async () => {
        const { out, reason } = await runVerb(addStatus, ['status', '--state-directory', directory]);
        return out.startsWith('Log Analytics has accepted nothing since') ? { out, reason } : null;
      },
      { timeoutMs: 30_000 },
    );
    expect(refusing.reason).toBe('actionRequired');
    expect(refusing.out.split('\n')[0]).toContain('Monitoring Metrics Publisher');
    expect(refusing.out).toMatch(/Freeze +Scheduled +not before .* this VM/);
    expect(await statusOf(directory)).toMatchObject({ running: true, observer: { vmName: 'web_0' } });
    expect((await outbox(directory, 'list')).out).toMatch(
      new RegExp(`log-analytics +pending .*${eventId.toLowerCase()}`),
    );
    await stop(bridge);
    const stopped = await statusOf(directory);
    expect(stopped.running).toBe(false);
    expect(stopped.verdict.problems).toHaveLength(2);

    azure.logAnalytics.fault(null);
    start();
    await until(async () => (await statusOf(directory)).verdict.message.startsWith('Running; both destinations'), {
      timeoutMs: 90_000,
    });
  });

  test('a dead letter is sent again by the service that runs, with its own id', async ({ azure, directory, start }) => {
    start();
    const eventId = await oneDeadLetter(azure, directory);
    expect((await outbox(directory, 'list', '--state', 'dead')).out).toMatch(/log-analytics +dead .* http-400: /);
    azure.logAnalytics.fault(null);
    expect(await outbox(directory, 'retry', '--all')).toMatchObject({
      out: '1 dead letter will be sent again, with the same id.\n',
      reason: null,
    });
    await until(() => idsOf(azure, eventId).length > 0, { timeoutMs: 20_000, what: 'the table has it' });
    expect(idsOf(azure, eventId)[0]).toBe(onHub(azure, eventId)[0]);
    await until(async () => (await statusOf(directory)).sinks.every(({ deadLetters }) => deadLetters === 0));
  });

  test('a dead letter that is requested while no service runs is sent by the next service', async ({
    azure,
    directory,
    start,
  }) => {
    const bridge = start();
    const eventId = await oneDeadLetter(azure, directory);
    await stop(bridge);
    expect((await outbox(directory, 'retry', '--all', '--sink', 'log-analytics')).reason).toBeNull();
    azure.logAnalytics.fault(null);
    start();
    await until(() => idsOf(azure, eventId).length > 0, { timeoutMs: 60_000, what: 'the table has it' });
  });

  test('pending records are exported, purged by the running service, and do not arrive', async ({
    azure,
    directory,
    start,
  }) => {
    azure.logAnalytics.fault({ status: 403 });
    start();
    const eventId = schedule(azure, 'Freeze');
    await until(() => onHub(azure, eventId).length > 0);
    const { out } = await outbox(directory, 'export', '--state', 'pending', '--sink', 'log-analytics');
    const saved = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(saved.find((record) => record.eventId === eventId)).toMatchObject({ recordId: onHub(azure, eventId)[0] });
    const purge = ['purge', '--state', 'pending', '--sink', 'log-analytics'];
    expect(await outbox(directory, ...purge)).toMatchObject({ reason: 'usage', out: '' });
    expect((await outbox(directory, ...purge, '--yes')).out).toMatch(/^\d+ deliver(y|ies) discarded\.\n$/);
    azure.logAnalytics.fault(null);
    const later = schedule(azure, 'Reboot');
    await until(() => onHub(azure, later).length > 0);
    expect((await outbox(directory, 'retry', '--now')).reason).toBeNull();
    await until(() => idsOf(azure, later).length > 0, { timeoutMs: 90_000, what: 'the table is back' });
    expect(idsOf(azure, eventId)).toEqual([]);
    const { sinks } = await statusOf(directory);
    expect(sinks.find(({ name }) => name === 'log-analytics')?.counters.expired).toBe(saved.length);
  });
});

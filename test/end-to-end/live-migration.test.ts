import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { encodeRow } from '../../src/sinks/log-analytics/encode.ts';
import { type BridgeProcess, configurationFor, startBridge, temporaryDirectory } from '../support/bridge-process.ts';
import { hubRecords, recordLines, tableRows } from '../support/delivered.ts';
import { until } from '../support/until.ts';

/**
 * The live migration of two VMs that Microsoft's documentation shows, seen by a bridge on each of them:
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events
 */
describe('the live migration of the documents', () => {
  let azure: AzureSimulator;
  let bridges: readonly BridgeProcess[];
  const directories = [temporaryDirectory('west-0'), temporaryDirectory('west-1')];

  beforeAll(async () => {
    azure = await startAzureSimulator({ vms: [{ name: 'WestNO_0' }, { name: 'WestNO_1' }] });
    bridges = directories.map(({ path }, n) => startBridge(configurationFor(azure, `WestNO_${n}`, path)));
    await until(() => ['WestNO_0', 'WestNO_1'].every((vm) => (azure.imds.polls[vm] ?? 0) > 1), { what: 'first polls' });
    const eventId = azure.imds.schedule({
      eventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
      eventType: 'Freeze',
      resources: ['WestNO_0', 'WestNO_1'],
      notBefore: new Date(Date.now() + 15 * 60_000),
      durationSeconds: 5,
      eventSource: 'Platform',
      description: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
    });
    await until(() => hubRecords(azure).length === 2, { what: 'Scheduled on the hub' });
    azure.imds.start(eventId);
    await until(() => hubRecords(azure).length === 4, { what: 'Started on the hub' });
    azure.imds.remove(eventId);
    await until(() => hubRecords(azure).length === 6 && tableRows(azure).length === 6, { what: 'Completed at both' });
  });

  afterAll(async () => {
    for (const bridge of bridges) bridge.kill('SIGTERM');
    await Promise.all(bridges.map(({ exited }) => exited));
    expect(azure.errors).toEqual([]);
    await azure.close();
    for (const directory of directories) directory[Symbol.dispose]();
  });

  const lifecycle = (vm: string): string[] => [
    `Freeze Scheduled of ${vm}: said-by-azure`,
    `Freeze Started of ${vm}: said-by-azure`,
    `Freeze Completed of ${vm}: left-after-started`,
  ];
  const of = (vm: string, lines: readonly string[]): string[] => lines.filter((line) => line.includes(` of ${vm}:`));

  test.each(['WestNO_0', 'WestNO_1'])(
    '%s is reported as Scheduled, Started, Completed, in that order at both sinks',
    (vm) => {
      expect(of(vm, recordLines(hubRecords(azure)))).toEqual(lifecycle(vm));
      expect(of(vm, recordLines(tableRows(azure)))).toEqual(lifecycle(vm));
    },
  );

  test('hub and table have the same records', () => {
    const rows = hubRecords(azure).map((record) => encodeRow(record));
    const byId = (a: object, b: object): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
    expect([...tableRows(azure)].sort(byId)).toEqual(JSON.parse(JSON.stringify(rows.sort(byId))));
  });

  test('the two VMs agree on three transitions, in six records', () => {
    const records = hubRecords(azure);
    expect(new Set(records.map(({ transitionId }) => transitionId)).size).toBe(3);
    expect(new Set(records.map(({ recordId }) => recordId)).size).toBe(6);
  });

  test('on the hub the records of an event are CloudEvents in one partition, keyed by the event', () => {
    const events = azure.eventHubs.events();
    expect(new Set(events.map(({ partition }) => partition)).size).toBe(1);
    for (const { body, properties, partitionKey, messageId, correlationId, contentType } of events) {
      const record = JSON.parse(body.toString('utf8'));
      expect(properties).toMatchObject({
        'cloudEvents:specversion': '1.0',
        'cloudEvents:id': record.recordId,
        'cloudEvents:source': record.resourceId,
        'cloudEvents:type': `com.scheduledeventsbridge.scheduledevent.${record.phase.toLowerCase()}.v1`,
        'cloudEvents:subject': record.eventId,
        'cloudEvents:time': record.observedAt,
        'cloudEvents:transitionid': record.transitionId,
      });
      expect({ partitionKey, messageId, correlationId, contentType }).toEqual({
        partitionKey: record.eventId.toLowerCase(),
        messageId: record.recordId,
        correlationId: record.transitionId,
        contentType: 'application/json',
      });
    }
  });
});

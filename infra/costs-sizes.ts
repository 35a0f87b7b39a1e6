import { readFileSync } from 'node:fs';
import { type HeartbeatFacts, heartbeatRow } from '../src/heartbeat/row.ts';
import type { LifecycleRecord } from '../src/lifecycle/record.ts';
import type { Observer } from '../src/lifecycle/scheduled-event.ts';
import { noCounters } from '../src/outbox/outbox.ts';
import { encodeEvent } from '../src/sinks/event-hubs/encode.ts';
import { encodeRow, type Row } from '../src/sinks/log-analytics/encode.ts';

/** Bytes of one record and one heartbeat, as the encoders of the bridge make them. */
export interface Sizes {
  readonly record: {
    /** Body and properties of a message. */
    readonly message: number;
    /** A row as JSON, before compression: what is uploaded. */
    readonly row: number;
    /** Its values as text, without the names of the columns: what Log Analytics bills. */
    readonly billed: number;
  };
  readonly heartbeat: { readonly row: number; readonly billed: number };
}

/** Names as long as they are in a real fleet; those of the fixture are short. One VM of a scale set. */
const observer = {
  computer: 'vmss-orders-web-prod-weu000003',
  vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
  vmName: 'vmss-orders-web-prod-weu_3',
  resourceId:
    '/subscriptions/11111111-2222-3333-4444-555555555555/resourcegroups/rg-orders-web-prod-weu/providers/microsoft.compute/virtualmachinescalesets/vmss-orders-web-prod-weu/virtualmachines/3',
  subscriptionId: '11111111-2222-3333-4444-555555555555',
  resourceGroup: 'rg-orders-web-prod-weu',
  vmScaleSetName: 'vmss-orders-web-prod-weu',
  vmScaleSetResourceId:
    '/subscriptions/11111111-2222-3333-4444-555555555555/resourcegroups/rg-orders-web-prod-weu/providers/microsoft.compute/virtualmachinescalesets/vmss-orders-web-prod-weu',
  placementGroupId: 'f67c14ab-e92c-408c-ae2d-da15866ec79a',
  location: 'westeurope',
  zone: '2',
  physicalZone: 'westeurope-az2',
  faultDomain: '0',
  updateDomain: '0',
  vmSize: 'Standard_D2s_v5',
  vmPriority: 'Regular',
  osType: 'Linux',
  imageReference: 'canonical:ubuntu-24_04-lts:server:latest',
  azureEnvironment: 'AzurePublicCloud',
  tags: { owner: 'team-orders', environment: 'production' },
} as const satisfies Observer;

const streamId = '0b7e6c0e-52d1-4f0c-93b1-6ab1a7b1d0a4';

/** The records of a live migration, with an observer and a machine that say everything they can. */
function sampleRecords(): readonly LifecycleRecord[] {
  const file = new URL('../test/fixtures/records/live-migration.json', import.meta.url);
  const records = JSON.parse(readFileSync(file, 'utf8')) as readonly LifecycleRecord[];
  return records.map((record) => ({
    ...record,
    ...observer,
    affectedResources: [observer.vmName, 'vmss-orders-web-prod-weu_7'],
    scheduledEventResourceId: `${observer.vmScaleSetResourceId}/providers/microsoft.maintenance/scheduledevents/${record.eventId.toLowerCase()}`,
    streamId,
    position: 17,
    bootId: '3e2f6a3c-6a52-4d42-9b52-1b1b0e0f7c11',
    physicalHost: 'AMS21PRDAPP17',
  }));
}

/** After a month of running: counters are as long as they get. */
function sampleHeartbeat(): HeartbeatFacts {
  const upMs = 30 * 86_400_000;
  const counters = { ...noCounters, accepted: 1000, delivered: 1000 };
  return {
    at: new Date('2026-03-14T10:00:00.000Z'),
    observer,
    state: 'running',
    stopReason: null,
    bridgeVersion: '1.2.3',
    refusedVersion: null,
    upMs,
    polls: {
      polls: upMs / 1000,
      failedPolls: { timeout: 12, 'http-500': 3 },
      eventsSeen: 200,
      eventsOurs: 10,
      clockOffsetSeconds: 0,
      lastDocument: null,
    },
    streamId,
    lastPosition: 1000,
    openEvents: 0,
    sinks: { 'event-hubs': counters, 'log-analytics': counters },
    oldestPendingAt: null,
    imdsApiVersion: '2020-07-01',
    configHash: '0123456789abcdef',
    intervalMinutes: 60,
    lastDocumentAgeMs: 900,
    recent: { polls: 3600, failedPolls: 0 },
    next: null,
  };
}

// assumption: logs-billed-size
/**
 * A row is billed by its values as text. https://learn.microsoft.com/azure/azure-monitor/logs/cost-logs#data-size-calculation
 * Null is nothing; a list or an object counts as its JSON.
 */
export const billedBytes = (row: Row): number =>
  Object.values(row).reduce<number>((sum, value) => sum + valueBytes(value), 0);

/** Of one value of a row. */
export function valueBytes(value: unknown): number {
  if (value === null || value === undefined) return 0;
  return Buffer.byteLength(typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** A row of each table that alerts read. Of the Azure Monitor agent's `Heartbeat` only what they need. */
export interface SampleRows {
  readonly VmLifecycle_CL: Row;
  readonly VmLifecycleBridge_CL: Row;
  readonly Heartbeat: Row;
}

export function sampleRows(): SampleRows {
  const [record] = sampleRecords().map(encodeRow);
  if (record === undefined) throw new Error('test/fixtures/records/live-migration.json holds no record');
  const heartbeat = heartbeatRow(sampleHeartbeat());
  const agent = { TimeGenerated: heartbeat.TimeGenerated, _ResourceId: observer.resourceId };
  return { VmLifecycle_CL: record, VmLifecycleBridge_CL: heartbeat, Heartbeat: agent };
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

function messageBytes(record: LifecycleRecord): number {
  const { body, properties } = encodeEvent({ record, json: Buffer.from(JSON.stringify(record)) });
  return (body as Buffer).length + jsonBytes(properties);
}

const mean = (numbers: readonly number[]): number =>
  Math.round(numbers.reduce((sum, one) => sum + one, 0) / numbers.length);

/** Measures what the encoders of this version make. */
export function measureSizes(): Sizes {
  const records = sampleRecords();
  const rows = records.map(encodeRow);
  const heartbeat = heartbeatRow(sampleHeartbeat());
  return {
    record: {
      message: mean(records.map(messageBytes)),
      row: mean(rows.map(jsonBytes)),
      billed: mean(rows.map(billedBytes)),
    },
    heartbeat: { row: jsonBytes(heartbeat), billed: billedBytes(heartbeat) },
  };
}

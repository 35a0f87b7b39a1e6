import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import type { ParsedEntry } from '../../src/sinks/sink.ts';

const resourceId =
  '/subscriptions/11111111-2222-3333-4444-555555555555/resourcegroups/web/providers/microsoft.compute/virtualmachines/web_3';
const eventId = '602D9444-D2CD-49C7-8624-8643E7171297';

/** A complete record as the bridge writes it: a freeze announced fifteen minutes ahead. Every field holds something. */
export function sampleRecord(overrides: Partial<LifecycleRecord> = {}): LifecycleRecord {
  return {
    recordId: '5f0c6a1f7e2b4c1d9a8e3b2c1d0f9e8a',
    transitionId: '9b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e',
    schemaVersion: '1.1',
    eventId,
    eventType: 'Freeze',
    eventSource: 'Platform',
    eventStatus: 'Scheduled',
    resourceType: 'VirtualMachine',
    description: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
    affectedResources: ['web_3', 'web_7'],
    affectedResourceCount: 2,
    notBefore: '2026-03-14T09:41:53.000Z',
    durationSeconds: 5,
    documentIncarnation: 2,
    imdsApiVersion: '2020-07-01',
    rawEvent: {
      EventId: eventId,
      EventStatus: 'Scheduled',
      EventType: 'Freeze',
      ResourceType: 'VirtualMachine',
      Resources: ['web_3', 'web_7'],
      NotBefore: 'Sat, 14 Mar 2026 09:41:53 GMT',
      Description: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
      EventSource: 'Platform',
      DurationInSeconds: 5,
    },
    phase: 'Scheduled',
    evidence: ['said-by-azure'],
    changes: [{ field: 'durationSeconds', from: -1, to: 5 }],
    sequence: 1,
    streamId: '0b7e6c0e-52d1-4f0c-93b1-6ab1a7b1d0a4',
    position: 17,
    repeat: 0,
    observedAt: '2026-03-14T09:26:53.123Z',
    firstSeenAt: '2026-03-14T09:26:53.123Z',
    startedAt: '2026-03-14T09:41:55.250Z',
    startSeen: true,
    noticeSeconds: 899.877,
    startedSeconds: 7.5,
    observedPauseMs: 2978,
    observedPauseTotalMs: 3010,
    observedOutageSeconds: 41.5,
    bootId: '3e2f6a3c-6a52-4d42-9b52-1b1b0e0f7c11',
    physicalHost: 'AMS21PRDAPP17',
    previousPhysicalHost: 'AMS21PRDAPP16',
    clockOffsetSeconds: 0,
    observerAffected: true,
    computer: 'web-3',
    vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
    vmName: 'web_3',
    resourceId,
    subscriptionId: '11111111-2222-3333-4444-555555555555',
    resourceGroup: 'web',
    vmScaleSetName: 'web',
    vmScaleSetResourceId:
      '/subscriptions/11111111-2222-3333-4444-555555555555/resourcegroups/web/providers/microsoft.compute/virtualmachinescalesets/web',
    placementGroupId: 'f67c14ab-e92c-408c-ae2d-da15866ec79a',
    location: 'westeurope',
    zone: '2',
    physicalZone: 'westeurope-az2',
    faultDomain: '1',
    updateDomain: '3',
    vmSize: 'Standard_D2s_v5',
    vmPriority: 'Regular',
    osType: 'Linux',
    imageReference: 'canonical:ubuntu-24_04-lts:server:latest',
    azureEnvironment: 'AzurePublicCloud',
    tags: { owner: 'web-team' },
    scheduledEventResourceId: `${resourceId}/providers/microsoft.maintenance/scheduledevents/${eventId.toLowerCase()}`,
    eventsInSight: [eventId],
    isTest: false,
    bridgeVersion: '0.1.0',
    ...overrides,
  };
}

/** A record as the relay hands it to a sink. */
export function sampleEntry(overrides: Partial<LifecycleRecord> = {}): ParsedEntry {
  const record = sampleRecord(overrides);
  return { record, json: Buffer.from(JSON.stringify(record)) };
}

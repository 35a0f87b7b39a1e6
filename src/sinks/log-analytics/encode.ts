import type { LifecycleRecord } from '../../lifecycle/record.ts';
import { truncateText, truncateValue } from '../../lifecycle/truncate.ts';

/** One row of the table, by column. */
export type Row = Record<string, unknown>;

/**
 * The column of each field of a record: its name in PascalCase, except the duration, which Azure's own tables call
 * `DurationInSeconds`. A field without a column does not compile.
 */
export const columnOf = {
  recordId: 'RecordId',
  transitionId: 'TransitionId',
  schemaVersion: 'SchemaVersion',
  eventId: 'EventId',
  eventType: 'EventType',
  eventSource: 'EventSource',
  eventStatus: 'EventStatus',
  resourceType: 'ResourceType',
  description: 'Description',
  affectedResources: 'AffectedResources',
  affectedResourceCount: 'AffectedResourceCount',
  notBefore: 'NotBefore',
  durationSeconds: 'DurationInSeconds',
  documentIncarnation: 'DocumentIncarnation',
  imdsApiVersion: 'ImdsApiVersion',
  rawEvent: 'RawEvent',
  phase: 'Phase',
  evidence: 'Evidence',
  changes: 'Changes',
  sequence: 'Sequence',
  streamId: 'StreamId',
  position: 'Position',
  repeat: 'Repeat',
  observedAt: 'ObservedAt',
  firstSeenAt: 'FirstSeenAt',
  startedAt: 'StartedAt',
  startSeen: 'StartSeen',
  noticeSeconds: 'NoticeSeconds',
  startedSeconds: 'StartedSeconds',
  observedPauseMs: 'ObservedPauseMs',
  observedPauseTotalMs: 'ObservedPauseTotalMs',
  observedOutageSeconds: 'ObservedOutageSeconds',
  bootId: 'BootId',
  physicalHost: 'PhysicalHost',
  previousPhysicalHost: 'PreviousPhysicalHost',
  clockOffsetSeconds: 'ClockOffsetSeconds',
  observerAffected: 'ObserverAffected',
  computer: 'Computer',
  vmId: 'VmId',
  vmName: 'VmName',
  resourceId: 'ResourceId',
  subscriptionId: 'SubscriptionId',
  resourceGroup: 'ResourceGroup',
  vmScaleSetName: 'VmScaleSetName',
  vmScaleSetResourceId: 'VmScaleSetResourceId',
  placementGroupId: 'PlacementGroupId',
  location: 'Location',
  zone: 'Zone',
  physicalZone: 'PhysicalZone',
  faultDomain: 'FaultDomain',
  updateDomain: 'UpdateDomain',
  vmSize: 'VmSize',
  vmPriority: 'VmPriority',
  osType: 'OsType',
  imageReference: 'ImageReference',
  azureEnvironment: 'AzureEnvironment',
  tags: 'Tags',
  scheduledEventResourceId: 'ScheduledEventResourceId',
  eventsInSight: 'EventsInSight',
  isTest: 'IsTest',
  bridgeVersion: 'BridgeVersion',
} as const satisfies Record<keyof LifecycleRecord, string>;

/** What the service takes in one field; longer ones it cuts without a word. */
const mostFieldBytes = 64 * 1024;

const fields = Object.entries(columnOf) as readonly (readonly [keyof LifecycleRecord, string])[];

// assumption: logs-time-replaced
/**
 * A record as a row. `TimeGenerated`, which every table has, is the time of observation too: the service replaces it when
 * it is older than two days, `ObservedAt` never.
 * https://learn.microsoft.com/azure/azure-monitor/logs/log-standard-columns#timegenerated
 */
export function encodeRow(record: LifecycleRecord): Row {
  const row: Row = { TimeGenerated: record.observedAt };
  for (const [field, column] of fields) row[column] = fitting(record[field]);
  return row;
}

function fitting(value: unknown): unknown {
  if (typeof value === 'string')
    return value.length * 3 <= mostFieldBytes ? value : truncateText(value, mostFieldBytes);
  return typeof value === 'object' && value !== null ? truncateValue(value, mostFieldBytes) : value;
}

import { createHash } from 'node:crypto';
import { partitionOfKey } from '../../../../src/azure-simulator/event-hubs/partition-key.ts';
import type { LifecycleRecord, Phase } from '../../../../src/lifecycle/record.ts';
import { recordId, stepOf, transitionId } from '../../../../src/lifecycle/record-id.ts';

/** A message of the hub: as `infra/examples/histories/README.md` describes it. */
export interface Message {
  readonly partition: string;
  readonly partitionKey?: string;
  readonly contentType?: string;
  readonly messageId?: string;
  readonly correlationId?: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Instead of a body that is JSON. */
  readonly bodyBase64?: string;
}

export const partitions = 4;

/** The partition into which Event Hubs puts a message with this key, of a hub with four partitions. */
export const partitionOf = (key: string): string => String(partitionOfKey(key, partitions));

/** A time of the day on which all histories take place, between 09:00 and 10:59. */
export const at = (time: string, laterSeconds = 0): string =>
  new Date(Date.parse(`2026-03-14T${time}:00.000Z`) + 1000 * laterSeconds).toISOString();

/** The same GUID for the same text. */
export function guid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** A scheduled event, as Azure lists it. */
export interface ListedEvent {
  readonly eventId: string;
  readonly eventType: string;
  readonly affectedResources: readonly string[];
  readonly notBefore: string;
}

export const event = (name: string, eventType: string, notBefore: string, vms: readonly string[]): ListedEvent => ({
  eventId: guid(`event ${name}`).toUpperCase(),
  eventType,
  affectedResources: vms,
  notBefore: at(notBefore),
});

/** The bridge of one VM: numbers its records as a bridge does. */
export class Bridge {
  readonly vmName: string;
  readonly #group: string;
  readonly #clockOffsetSeconds: number;
  #streams = 0;
  #streamId = '';
  #position = 0;
  readonly #sequences = new Map<string, number>();
  readonly #repeats = new Map<string, number>();

  /** @param clockOffsetSeconds Azure's clock minus the VM's. */
  constructor(vmName: string, { group = vmName.replace(/_.*/, ''), clockOffsetSeconds = 0 } = {}) {
    this.vmName = vmName;
    this.#group = group;
    this.#clockOffsetSeconds = clockOffsetSeconds;
    this.losesState();
  }

  losesState(): void {
    this.#streams += 1;
    this.#streamId = guid(`stream ${this.#group} ${this.vmName} ${this.#streams}`);
    this.#position = 0;
    this.#sequences.clear();
    this.#repeats.clear();
  }

  /** What it reports of an event. @param time by Azure's clock. */
  reports(phase: Phase, time: string, listed: ListedEvent, more: Partial<LifecycleRecord> = {}): Message {
    const { eventId, eventType, affectedResources, notBefore } = listed;
    const vmId = guid(`vm ${this.#group} ${this.vmName}`);
    const observedAt = at(time, -this.#clockOffsetSeconds);
    const resourceId = `/subscriptions/${subscriptionId}/resourcegroups/${this.#group}/providers/microsoft.compute/virtualmachines/${this.vmName}`;
    const content = phase === 'Updated' ? JSON.stringify([eventType, affectedResources, notBefore, more]) : undefined;
    const detail = { vmId, ...(content !== undefined && { content }) };
    const first = transitionId(eventId, stepOf(phase), 0, detail);
    const repeat = this.#repeats.get(first) ?? 0;
    const sequence = (this.#sequences.get(eventId.toLowerCase()) ?? 0) + 1;
    this.#repeats.set(first, repeat + 1);
    this.#sequences.set(eventId.toLowerCase(), sequence);
    this.#position += 1;
    const transition = transitionId(eventId, stepOf(phase), repeat, detail);
    const eventStatus = phase === 'Started' || phase === 'Completed' ? 'Started' : 'Scheduled';
    const description = `${eventType} of a virtual machine`;
    const startedAt = eventStatus === 'Started' ? observedAt : null;
    return messageOf({
      recordId: recordId(transition, vmId),
      transitionId: transition,
      schemaVersion: '1.1',
      eventId,
      eventType,
      eventSource: 'Platform',
      eventStatus,
      resourceType: 'VirtualMachine',
      description,
      affectedResources,
      affectedResourceCount: affectedResources.length,
      notBefore,
      durationSeconds: 5,
      documentIncarnation: this.#position + 1,
      imdsApiVersion: '2020-07-01',
      rawEvent: {
        EventId: eventId,
        EventStatus: eventStatus,
        EventType: eventType,
        ResourceType: 'VirtualMachine',
        Resources: affectedResources,
        NotBefore: eventStatus === 'Started' ? '' : new Date(notBefore).toUTCString(),
        Description: description,
        EventSource: 'Platform',
        DurationInSeconds: 5,
      },
      phase,
      evidence: ['said-by-azure'],
      changes: [],
      sequence,
      streamId: this.#streamId,
      position: this.#position,
      repeat,
      observedAt,
      firstSeenAt: null,
      startedAt,
      startSeen: startedAt === null ? null : true,
      noticeSeconds: null,
      startedSeconds: null,
      observedPauseMs: null,
      observedPauseTotalMs: null,
      observedOutageSeconds: null,
      bootId: guid(`boot ${this.#group} ${this.vmName}`),
      physicalHost: null,
      previousPhysicalHost: null,
      clockOffsetSeconds: this.#clockOffsetSeconds,
      observerAffected: affectedResources.includes(this.vmName),
      computer: this.vmName.replace('_', '-'),
      vmId,
      vmName: this.vmName,
      resourceId,
      subscriptionId,
      resourceGroup: this.#group,
      vmScaleSetName: null,
      vmScaleSetResourceId: null,
      placementGroupId: null,
      location: 'westeurope',
      zone: null,
      physicalZone: null,
      faultDomain: '0',
      updateDomain: '0',
      vmSize: 'Standard_D2s_v5',
      vmPriority: 'Regular',
      osType: 'Linux',
      imageReference: 'canonical:ubuntu-24_04-lts:server:latest',
      azureEnvironment: 'AzurePublicCloud',
      tags: {},
      scheduledEventResourceId:
        `${resourceId}/providers/microsoft.maintenance/scheduledevents/${eventId}`.toLowerCase(),
      eventsInSight: null,
      isTest: false,
      bridgeVersion: '0.1.0',
      ...more,
    });
  }

  /** The `Snapshot` of a new stream: the events that the VM sees. */
  sees(time: string, events: readonly ListedEvent[]): Message {
    const about = { eventId: `in-sight-${this.#streamId}`, eventType: '', affectedResources: [], notBefore: at(time) };
    return this.reports('Snapshot', time, about, {
      ...{ eventType: null, eventSource: null, eventStatus: null, resourceType: null, description: null },
      ...{ notBefore: null, durationSeconds: null, rawEvent: {}, evidence: ['new-stream'] },
      eventsInSight: events.map(({ eventId }) => eventId).sort(),
    });
  }
}

const subscriptionId = '11111111-2222-3333-4444-555555555555';

/**
 * A record as the bridge sends it, by `infra/record.md`: attributes of a CloudEvent as application properties. A test compares it with
 * what the bridge's own encoder makes of the body.
 */
export function messageOf(record: LifecycleRecord): Message {
  const partitionKey = record.eventId.toLowerCase();
  const attributes = {
    specversion: '1.0',
    id: record.recordId,
    source: record.resourceId ?? `urn:uuid:${record.vmId}`,
    type: `com.scheduledeventsbridge.scheduledevent.${record.phase.toLowerCase()}.v1`,
    subject: record.eventId,
    time: record.observedAt,
    dataschema: 'urn:scheduled-events-bridge:lifecycle-record:v1',
    partitionkey: partitionKey,
    sequence: String(record.sequence),
    transitionid: record.transitionId,
  };
  return {
    partition: partitionOf(partitionKey),
    partitionKey,
    contentType: 'application/json',
    messageId: record.recordId,
    correlationId: record.transitionId,
    properties: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [`cloudEvents:${name}`, value])),
    body: record,
  };
}

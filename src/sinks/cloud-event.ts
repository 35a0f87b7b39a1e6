import type { LifecycleRecord } from '../lifecycle/record.ts';

/** All records of an event are in one partition, and so in order. */
export const partitionKey = (record: LifecycleRecord): string => record.eventId.toLowerCase();

/**
 * The attributes of a record as a CloudEvent 1.0, except those of its data. All of them strings: Kafka readers of Event Hubs get any other
 * type AMQP-encoded. https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md#context-attributes
 */
export const cloudEventAttributes = (record: LifecycleRecord): Readonly<Record<string, string>> => ({
  specversion: '1.0',
  id: record.recordId,
  source: record.resourceId?.toLowerCase() ?? `urn:uuid:${record.vmId.toLowerCase()}`,
  type: `com.scheduledeventsbridge.scheduledevent.${record.phase.toLowerCase()}.v1`,
  subject: record.eventId,
  time: record.observedAt,
  dataschema: 'urn:scheduled-events-bridge:lifecycle-record:v1',
  partitionkey: partitionKey(record),
  sequence: String(record.sequence),
  transitionid: record.transitionId,
});

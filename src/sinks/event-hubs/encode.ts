import type { EventData } from '@azure/event-hubs';
import type { LifecycleRecord } from '../../lifecycle/record.ts';
import type { Entry } from '../sink.ts';

/** All records of an event are in one partition, and so in order. */
export const partitionKey = (record: LifecycleRecord): string => record.eventId.toLowerCase();

/**
 * A record as a CloudEvent in AMQP binary mode: the body is the record's JSON as it was stored, the attributes are
 * application properties. All of them strings: Kafka readers get any other type AMQP-encoded.
 * https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/amqp-protocol-binding.md
 */
export function encodeEvent({ record, json }: Entry): EventData {
  return {
    // A Buffer passes through the SDK as it is; a string or an object would be serialised again.
    body: json,
    contentType: 'application/json',
    messageId: record.recordId,
    correlationId: record.transitionId,
    properties: attributes(record),
  };
}

function attributes(record: LifecycleRecord): Record<string, string> {
  const cloudEvent = {
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
  };
  return Object.fromEntries(Object.entries(cloudEvent).map(([name, value]) => [`cloudEvents:${name}`, value]));
}

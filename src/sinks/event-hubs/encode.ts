import type { EventData } from '@azure/event-hubs';
import { cloudEventAttributes } from '../cloud-event.ts';
import type { ParsedEntry } from '../sink.ts';

/**
 * A record as a CloudEvent in AMQP binary mode: the body is the record's JSON as it was stored, the attributes are
 * application properties.
 * https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/amqp-protocol-binding.md
 */
export function encodeEvent({ record, json }: ParsedEntry): EventData {
  return {
    // A Buffer passes through the SDK as it is; a string or an object would be serialised again.
    body: json,
    contentType: 'application/json',
    messageId: record.recordId,
    correlationId: record.transitionId,
    properties: Object.fromEntries(
      Object.entries(cloudEventAttributes(record)).map(([name, value]) => [`cloudEvents:${name}`, value]),
    ),
  };
}

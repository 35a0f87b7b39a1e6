import { cloudEventAttributes } from '../cloud-event.ts';
import { type Entry, type ParsedEntry, parsed } from '../sink.ts';
import type { HttpConfig } from './config.ts';

/**
 * A record as a CloudEvent in the JSON format; `data` is its JSON as it was stored, byte for byte.
 * https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md
 */
function encodeEvent({ record, json }: ParsedEntry): Buffer {
  const attributes = JSON.stringify({ ...cloudEventAttributes(record), datacontenttype: 'application/json' });
  return Buffer.concat([Buffer.from(`${attributes.slice(0, -1)},"data":`), json, Buffer.from('}')]);
}

/** A request in structured content mode has one event, in batched content mode a list of them. */
export interface EncodedRequest {
  readonly contentType: string;
  readonly body: Buffer;
}

/** https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md#32-structured-content-mode */
export function encodeRequests(batch: readonly Entry[], mode: HttpConfig['mode']): readonly EncodedRequest[] {
  const events = batch.map((entry) => encodeEvent(parsed(entry)));
  if (mode === 'structured') {
    return events.map((body) => ({ contentType: 'application/cloudevents+json; charset=utf-8', body }));
  }
  const parts = events.flatMap((event, index) => [Buffer.from(index === 0 ? '' : ','), event]);
  const body = Buffer.concat([Buffer.from('['), ...parts, Buffer.from(']')]);
  return [{ contentType: 'application/cloudevents-batch+json; charset=utf-8', body }];
}

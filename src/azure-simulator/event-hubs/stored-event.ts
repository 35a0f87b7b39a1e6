import rhea from 'rhea';
import { annotationsSection, binaryOf, sectionCodes, splitSections } from './sections.ts';

/** One event as a partition keeps it. */
export interface StoredEvent {
  readonly partition: number;
  /** 0, 1, 2 … per partition. */
  readonly sequenceNumber: number;
  /** A string that only the service understands; larger is later. */
  readonly offset: string;
  readonly enqueuedAt: Date;
  readonly partitionKey: string | null;
  readonly messageId: unknown;
  readonly correlationId: unknown;
  readonly contentType: string | null;
  /** Application properties. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** The data section as it came; a body of any other kind as JSON. */
  readonly body: Buffer;
  /** The whole message as the producer encoded it. */
  readonly raw: Buffer;
}

/** Where an event came to lie. */
export type Placement = Pick<StoredEvent, 'partition' | 'sequenceNumber' | 'offset' | 'enqueuedAt' | 'partitionKey'>;

/** Decodes on demand: under load a hub stores far more than is read. */
export function createStoredEvent(raw: Buffer, placement: Placement): StoredEvent {
  let decoded: ReturnType<typeof decode> | undefined;
  const message = (): ReturnType<typeof decode> => {
    decoded ??= decode(raw);
    return decoded;
  };
  return {
    ...placement,
    raw,
    get messageId() {
      return message().messageId;
    },
    get correlationId() {
      return message().correlationId;
    },
    get contentType() {
      return message().contentType;
    },
    get properties() {
      return message().properties;
    },
    get body() {
      return message().body;
    },
  };
}

function decode(raw: Buffer): Pick<StoredEvent, 'messageId' | 'correlationId' | 'contentType' | 'properties' | 'body'> {
  const message = rhea.message.decode(raw);
  const contentType: unknown = message.content_type;
  return {
    messageId: message.message_id ?? null,
    correlationId: message.correlation_id ?? null,
    contentType: typeof contentType === 'string' ? contentType : null,
    properties: { ...(message.application_properties as Record<string, unknown> | undefined) },
    body: bodyOf(raw),
  };
}

/** The body of an encoded event; the rest is decoded only where it is no data section. */
export function bodyOf(raw: Buffer): Buffer {
  const data = splitSections(raw).filter(({ code }) => code === sectionCodes.data);
  if (data.length > 0) return Buffer.concat(data.map(binaryOf));
  return Buffer.from(JSON.stringify(rhea.message.decode(raw).body ?? null));
}

/** What a consumer gets: the producer's own sections, with the service's annotations in place of the header. */
export function toDelivery({ raw, ...event }: StoredEvent, lastEnqueued: StoredEvent | null): Buffer {
  const own = rhea.message.decode(raw).message_annotations as Record<string, unknown> | undefined;
  const annotations = annotationsSection('message_annotations', {
    ...own,
    ...(event.partitionKey === null ? {} : { 'x-opt-partition-key': event.partitionKey }),
    'x-opt-sequence-number': rhea.types.wrap_long(event.sequenceNumber),
    'x-opt-offset': event.offset,
    'x-opt-enqueued-time': rhea.types.wrap_timestamp(event.enqueuedAt.getTime()),
  });
  const { header, deliveryAnnotations, messageAnnotations } = sectionCodes;
  const replaced: readonly number[] = [header, deliveryAnnotations, messageAnnotations];
  const rest = splitSections(raw).filter(({ code }) => !replaced.includes(code));
  const runtime = lastEnqueued === null ? [] : [runtimeMetrics(lastEnqueued)];
  return Buffer.concat([...runtime, annotations, ...rest.map(({ bytes }) => bytes)]);
}

function runtimeMetrics(last: StoredEvent): Buffer {
  return annotationsSection('delivery_annotations', {
    last_enqueued_sequence_number: rhea.types.wrap_long(last.sequenceNumber),
    last_enqueued_offset: last.offset,
    last_enqueued_time_utc: rhea.types.wrap_timestamp(last.enqueuedAt.getTime()),
    runtime_info_retrieval_time_utc: rhea.types.wrap_timestamp(Date.now()),
  });
}

import heartbeatSchema from '../../infra/schema/heartbeat.v1.json' with { type: 'json' };
import recordSchema from '../../infra/schema/lifecycle-record.v1.json' with { type: 'json' };
import type { Heartbeat, LifecycleRecord } from './record.ts';
import { patternsIn, problemsOf, type Schema, show } from './validate.ts';

const heartbeatPatterns = patternsIn(heartbeatSchema as Schema);
const recordPatterns = patternsIn(recordSchema as Schema);

/** The outcome of parsing. It never throws, so that one invalid message does not stop the batch that contains it. */
export type Message =
  | { readonly kind: 'record'; readonly record: LifecycleRecord }
  | { readonly kind: 'heartbeat'; readonly heartbeat: Heartbeat }
  /** Not meant for this version: another type of CloudEvent, or another major version. */
  | { readonly kind: 'ignored'; readonly reason: string }
  /** It claims to be a record or a heartbeat and is neither, or is no message at all: log the problem. */
  | { readonly kind: 'invalid'; readonly problem: string };

/** The fields used of an `EventData` or `ReceivedEventData` of `@azure/event-hubs`. */
export interface EventDataLike {
  /** JSON as text or bytes, or the object parsed from it. */
  readonly body: unknown;
  /** Attributes of the CloudEvent, with the prefix `cloudEvents:` or `cloudEvents_`. */
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
  readonly contentType?: string | undefined;
  readonly sequenceNumber?: number | undefined;
}

/** An HTTP request with CloudEvents. Headers: an object, whatever the case of its keys, or `Headers`. */
export interface HttpRequestLike {
  readonly headers:
    | Readonly<Record<string, string | readonly string[] | undefined>>
    | { get(name: string): string | null };
  /** JSON as text or bytes, or what a framework parsed from it. */
  readonly body: unknown;
}

/**
 * Reads one message of an event hub. Without attributes of a CloudEvent (some forwarders lose them) the body decides.
 *
 * @example
 * const message = parseEventData(eventData);
 * if (message.kind === 'record') fleet.add(message.record);
 * if (message.kind === 'invalid') console.error(message.problem);
 */
export function parseEventData(message: EventDataLike): Message {
  if (!isObject(message)) return invalid('message', `expected an object with a body, found ${show(message)}`);
  const { body, sequenceNumber } = message;
  const properties = message.properties ?? {};
  const contentType = asText(message.contentType) ?? '';
  const where = sequenceNumber === undefined ? 'message' : `message with sequence number ${sequenceNumber}`;
  const attribute = (name: string): unknown => properties[`cloudEvents:${name}`] ?? properties[`cloudEvents_${name}`];
  const type = attribute('type');
  const json = readJson(body);
  if ('problem' in json) return unreadable(where, json.problem, type);
  return isMediaType(contentType, 'application/cloudevents+json')
    ? parseStructured(json.value, where)
    : parseData({ type, specversion: attribute('specversion'), data: json.value, where });
}

/** Reads the CloudEvents of an HTTP request in structured, batched or binary content mode. */
export function parseHttp(request: HttpRequestLike): readonly Message[] {
  if (!isObject(request) || !isObject(request.headers))
    return [invalid('request', `expected an object with headers and a body, found ${show(request)}`)];
  const { headers, body } = request;
  const header = (name: string): string | undefined => headerOf(headers, name);
  const contentType = header('content-type') ?? '';
  const json = readJson(body);
  const type = header('ce-type');
  if ('problem' in json) return [unreadable('request', json.problem, type ?? contentType)];
  const { value } = json;
  if (isMediaType(contentType, 'application/cloudevents-batch+json')) {
    if (!Array.isArray(value)) return [invalid('request', `expected a list of CloudEvents, found ${show(value)}`)];
    return value.map((event, index) => parseStructured(event, `event ${index + 1} of ${value.length}`));
  }
  if (isMediaType(contentType, 'application/cloudevents+json')) return [parseStructured(value, 'request')];
  if (type !== undefined)
    return [parseData({ type, specversion: header('ce-specversion'), data: value, where: 'request' })];
  return [
    invalid(
      'request',
      `content-type is ${show(contentType)} and there is no header ce-type: expected application/cloudevents+json, application/cloudevents-batch+json, or the headers of a CloudEvent`,
    ),
  ];
}

function headerOf(headers: HttpRequestLike['headers'], name: string): string | undefined {
  if (typeof headers.get === 'function') return (headers as Headers).get(name) ?? undefined;
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return Array.isArray(value) ? value.join(', ') : asText(value);
}

const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const isMediaType = (contentType: string, wanted: string): boolean =>
  contentType.split(';')[0]?.trim().toLowerCase() === wanted;

function readJson(body: unknown): { readonly value: unknown } | { readonly problem: string } {
  try {
    if (body instanceof Uint8Array)
      return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) };
    return { value: typeof body === 'string' ? JSON.parse(body) : body };
  } catch (error) {
    return { problem: `the body is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function parseStructured(event: unknown, where: string): Message {
  if (!isObject(event)) return invalid(where, `expected a CloudEvent, found ${show(event)}`);
  const { type, specversion, data, data_base64: bytes } = event;
  if (bytes === undefined) return parseData({ type, specversion, data, where, path: 'data' });
  const json = readJson(Uint8Array.from(Buffer.from(typeof bytes === 'string' ? bytes : '', 'base64')));
  return 'problem' in json
    ? unreadable(where, `data_base64: ${json.problem}`, type)
    : parseData({ type, specversion, data: json.value, where, path: 'data' });
}

interface Data {
  /** Attribute `type` of the CloudEvent. */
  readonly type: unknown;
  readonly specversion: unknown;
  readonly data: unknown;
  readonly where: string;
  /** Where the data is in the body. */
  readonly path?: string;
}

const recordType = /^com\.scheduledeventsbridge\.scheduledevent\.[a-z]+\.v1$/;
const heartbeatType = 'com.scheduledeventsbridge.heartbeat.v1';

function parseData({ type, specversion, data, where, path = '' }: Data): Message {
  const kind = typeof type === 'string' ? kindOfType(type) : kindOfData(data);
  if (kind === null) {
    const reason =
      typeof type === 'string'
        ? `CloudEvents of type ${show(type)} are not read`
        : 'it has neither the type of a CloudEvent nor the fields of a record';
    return { kind: 'ignored', reason: `${where}: ${reason}` };
  }
  if (specversion !== undefined && specversion !== '1.0')
    return { kind: 'ignored', reason: `${where}: CloudEvents of version ${show(specversion)} are not read` };
  if (kind === 'heartbeat') {
    const problems = problemsOf(data, heartbeatSchema as Schema, path, heartbeatPatterns);
    return problems.length > 0
      ? invalid(where, problems.join('; '))
      : { kind, heartbeat: data as unknown as Heartbeat };
  }
  const version = isObject(data) ? data.schemaVersion : undefined;
  if (typeof version === 'string' && /^\d+\.\d+$/.test(version) && !version.startsWith('1.'))
    return { kind: 'ignored', reason: `${where}: schemaVersion is ${version}, and 1.x is read` };
  const problems = problemsOf(data, recordSchema as Schema, path, recordPatterns);
  return problems.length > 0
    ? invalid(where, problems.join('; '))
    : { kind, record: data as unknown as LifecycleRecord };
}

function kindOfType(type: string): 'record' | 'heartbeat' | null {
  if (recordType.test(type)) return 'record';
  return type === heartbeatType ? 'heartbeat' : null;
}

function kindOfData(data: unknown): 'record' | 'heartbeat' | null {
  if (!isObject(data)) return null;
  if ('recordId' in data && 'schemaVersion' in data) return 'record';
  return 'lastPosition' in data && 'uptimeSeconds' in data ? 'heartbeat' : null;
}

/** An unreadable body is invalid only if the attributes say that it is a record or a heartbeat. */
const unreadable = (where: string, problem: string, type: unknown): Message =>
  typeof type === 'string' && (kindOfType(type) !== null || type.includes('cloudevents'))
    ? invalid(where, problem)
    : { kind: 'ignored', reason: `${where}: ${problem}` };

const invalid = (where: string, problem: string): Message => ({ kind: 'invalid', problem: `${where}: ${problem}` });

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

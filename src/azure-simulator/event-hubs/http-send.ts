import type { IncomingMessage, ServerResponse } from 'node:http';
import rhea from 'rhea';
import { decodePart } from '../decode-part.ts';
import { pathOf } from '../path-of.ts';
import { readBody } from '../read-body.ts';
import { isObject } from '../read-fields.ts';
import { parseAddress } from './address.ts';
import type { Batch } from './batch.ts';
import type { Broker } from './broker.ts';
import { judgeToken } from './put-token.ts';
import { notFound, outOfRange, type Refusal, refusal } from './refusal.ts';
import { type Outcomes, type Transfer, take } from './transfer.ts';

/**
 * Sending without AMQP: `POST /{hub}/messages` or `/{hub}/partitions/{id}/messages`, a single event or a batch in JSON.
 * https://learn.microsoft.com/rest/api/eventhub/send-event https://learn.microsoft.com/rest/api/eventhub/send-batch-events
 */
export async function answerSend(request: IncomingMessage, response: ServerResponse, broker: Broker): Promise<void> {
  const body = await readBody(request);
  if (body === null) return;
  const answer = (status: number, why?: Refusal): void => {
    if (response.destroyed) return;
    const detail = why === undefined ? '' : errorBody(status, why);
    response.writeHead(status, { 'content-type': 'application/xml; charset=utf-8' }).end(detail);
  };
  const reject = (why: Refusal): void => answer(statuses[why.condition] ?? 500, why);
  const drop = (): void => void response.socket?.destroy();
  const outcomes: Outcomes = { accept: () => answer(201), reject, detach: drop, close: drop, drop };
  const transfer = await read(request, body, broker);
  if ('condition' in transfer) reject(transfer);
  else await take(transfer, outcomes, broker);
}

/** By AMQP condition; 500 for any other. */
const statuses: Readonly<Record<string, number>> = {
  'amqp:unauthorized-access': 401,
  'amqp:not-found': 404,
  'amqp:not-allowed': 405,
  'amqp:decode-error': 400,
  'com.microsoft:argument-out-of-range': 400,
  'amqp:link:message-size-exceeded': 413,
  'com.microsoft:server-busy': 503,
};

/** The transfer that a request asks for, or why it is refused. */
async function read(request: IncomingMessage, body: Buffer, broker: Broker): Promise<Transfer | Refusal> {
  const [, path = ''] = /^\/(.+)\/messages$/i.exec(pathOf(request.url)) ?? [];
  const address = parseAddress(decodePart(path));
  const hub = address.kind === 'hub' ? broker.hubs.find(address.hub) : undefined;
  if (address.kind !== 'hub' || hub === undefined) return notFound(pathOf(request.url));
  if (request.method !== 'POST') return refusal('amqp:not-allowed', 'only POST is supported');
  const forbidden = await whyForbidden(request.headers.authorization ?? '', address.hub, broker);
  if (forbidden !== null) return forbidden;
  if (broker.fault('attach') !== null) return notFound(address.hub);
  const partition = address.partition === null ? null : Number(address.partition);
  if (partition !== null && hub.partitions[partition] === undefined) return outOfRange(String(address.partition));
  const events = isBatch(request) ? readBatch(body) : [readSingle(request, body)];
  if (events === null) return refusal('amqp:decode-error', 'the body is not a JSON array of objects with a Body each');
  return { batch: encode(events), bytes: body.length, hub, partition };
}

async function whyForbidden(
  authorization: string,
  entity: string,
  { tokens, clock, fault }: Broker,
): Promise<Refusal | null> {
  const unauthorized = (why: string): Refusal => refusal('amqp:unauthorized-access', why);
  if (fault('put-token') !== null) return unauthorized('InvalidSignature: a fault');
  const token = authorization.replace(/^Bearer /i, '');
  if (token === '') return unauthorized('MissingToken: The Authorization header is missing.');
  const judged = await judgeToken(token, `sb://namespace/${entity}`, tokens, clock.now());
  return judged.accepted ? null : unauthorized(judged.description);
}

/** One event of a request. */
interface SentEvent {
  readonly body: Buffer;
  readonly contentType?: string | undefined;
  /** `BrokerProperties`. */
  readonly broker: Readonly<Record<string, unknown>>;
  readonly properties: Readonly<Record<string, unknown>>;
}

const isBatch = ({ headers }: IncomingMessage): boolean =>
  /^application\/vnd\.microsoft\.servicebus\.json/i.test(headers['content-type'] ?? '');

/** Null when it is no batch. Headers do not apply to its events. */
function readBatch(body: Buffer): SentEvent[] | null {
  const sent = parseJson(body.toString());
  if (!Array.isArray(sent) || sent.length === 0 || !sent.every(isMessage)) return null;
  return sent.map(({ Body, IsBodyBase64, BrokerProperties, UserProperties }) => ({
    body: Buffer.from(Body, IsBodyBase64 === true ? 'base64' : 'utf8'),
    broker: isObject(BrokerProperties) ? BrokerProperties : {},
    properties: isObject(UserProperties) ? UserProperties : {},
  }));
}

const isMessage = (one: unknown): one is { readonly Body: string } & Readonly<Record<string, unknown>> =>
  isObject(one) && typeof one.Body === 'string';

/** Headers that belong to HTTP; every other one is a property of the event. */
const ownHeaders =
  /^(accept|connection|content|date|expect|host|origin|te$|trailer|transfer|upgrade|user-agent|x-ms-|authorization|brokerproperties)/i;

function readSingle({ headers, rawHeaders }: IncomingMessage, body: Buffer): SentEvent {
  const pairs = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1]] as const] : []));
  const broker = parseJson(String(headers.brokerproperties ?? '{}'));
  return {
    body,
    contentType: headers['content-type'],
    broker: isObject(broker) ? broker : {},
    properties: Object.fromEntries(pairs.filter(([name]) => !ownHeaders.test(name))),
  };
}

/** All of a batch goes to one partition, so it has one key: that of its first event. */
function encode(events: readonly SentEvent[]): Batch {
  const key = events[0]?.broker.PartitionKey;
  return { events: events.map(encodeOne), partitionKey: typeof key === 'string' ? key : null };
}

function encodeOne({ body, contentType, broker, properties }: SentEvent): Buffer {
  const { MessageId, CorrelationId } = broker;
  return rhea.message.encode({
    body: rhea.message.data_section(body),
    ...(contentType === undefined ? {} : { content_type: contentType }),
    ...(typeof MessageId === 'string' ? { message_id: MessageId } : {}),
    ...(typeof CorrelationId === 'string' ? { correlation_id: CorrelationId } : {}),
    application_properties: properties,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error of the service in XML. */
function errorBody(status: number, { description }: Refusal): string {
  const text = description.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<Error><Code>${status}</Code><Detail>${text}</Detail></Error>`;
}

import { gunzipSync } from 'node:zlib';
import { decodeJwt } from 'jose';
import { decodePart } from '../decode-part.ts';
import type { TokenIssuer } from '../token-issuer.ts';
import { type Column, type Row, typeMismatch } from './columns.ts';
import type { RuleThrottle } from './rule-limit.ts';

/** An upload, judged: either rows to store, or the status and error that the service refuses it with. */
export type Upload =
  | { readonly accepted: true; readonly stream: string; readonly rows: readonly Row[] }
  | {
      readonly accepted: false;
      readonly status: number;
      readonly code: string;
      readonly message: string;
      readonly headers: Readonly<Record<string, string>>;
    };

export interface UploadRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface Rule {
  readonly ruleId: string;
  readonly audience: string;
  readonly issuer: TokenIssuer;
  /** Whether this client id has the role Monitoring Metrics Publisher on the rule. */
  readonly mayPublish: (clientId: string) => boolean;
  readonly throttle: RuleThrottle;
  /** Declared columns per stream; null = whatever is sent is kept. */
  readonly streams: ReadonlyMap<string, readonly Column[] | null>;
}

/** The API takes 1 MB per call, compressed and uncompressed. https://learn.microsoft.com/azure/azure-monitor/service-limits#logs-ingestion-api */
export const maxCallBytes = 1_048_576;
/** Azure names the rule in a refusal by its resource id too. */
const ruleResourceId =
  '/subscriptions/8d10da13-8125-4ba9-a717-bf7490507b3d/resourceGroups/simulated/providers/Microsoft.Insights/dataCollectionRules/simulated';
const apiVersions = ['2021-11-01-preview', '2023-01-01'];

/** Judges one `POST /dataCollectionRules/{id}/streams/{stream}`: address, token, role, size, limit, format, columns, in this order. */
export async function judge(request: UploadRequest, rule: Rule): Promise<Upload> {
  const path = /^\/dataCollectionRules\/([^/]+)\/streams\/([^/]+)$/i.exec(request.url.pathname);
  const [, ruleId, stream] = path?.map(decodePart) ?? [];
  if (ruleId == null || stream == null) return refuse(404, 'NotFound', `nothing is at ${request.url.pathname}`);
  if (request.method !== 'POST') return refuse(405, 'MethodNotAllowed', 'only POST is supported');
  const token = /^Bearer (.+)$/i.exec(String(request.headers.authorization ?? ''))?.[1];
  if (token === undefined) return refuse(401, 'MissingToken', 'the Authorization header holds no bearer token');
  const reason = await rule.issuer.refusal(token, [rule.audience]);
  if (reason !== null) return refuse(401, 'InvalidToken', reason);
  const version = request.url.searchParams.get('api-version');
  if (version === null || !apiVersions.includes(version)) {
    return refuse(
      400,
      'InvalidApiVersion',
      `api-version ${version} is not supported; known are ${apiVersions.join(', ')}`,
    );
  }
  if (ruleId !== rule.ruleId) {
    return refuse(404, 'NotFound', `Data collection rule with immutable Id '${ruleId}' not found.`);
  }
  const clientId = String(decodeJwt(token).appid);
  if (!rule.mayPublish(clientId)) {
    return refuse(
      403,
      'OperationFailed',
      `The authentication token provided does not have access to ingest data for the data collection rule with immutable Id '${ruleId}' PipelineAccessResult: AccessGranted: False, IsRbacPresent: False, IsDcrDceBindingValid: , DcrArmId: ${ruleResourceId}, Message: ${clientId} lacks the role Monitoring Metrics Publisher.`,
    );
  }
  const columns = rule.streams.get(stream);
  if (columns === undefined) {
    return refuse(400, 'InvalidStream', `Stream ${stream} was not configured in data collection rule ${ruleId}.`);
  }
  return read(request, rule.throttle, stream, columns);
}

function read(
  { headers, body }: UploadRequest,
  throttle: RuleThrottle,
  stream: string,
  columns: readonly Column[] | null,
): Upload {
  const tooLarge = refuse(413, 'ContentLengthLimitExceeded', `a call holds at most ${maxCallBytes} bytes`);
  if (body.length > maxCallBytes) return tooLarge;
  if (!/^application\/json/i.test(String(headers['content-type'] ?? ''))) {
    return refuse(415, 'UnsupportedMediaType', 'content-type must be application/json');
  }
  const plain = decompress(body, String(headers['content-encoding'] ?? 'identity'));
  if (plain === null) return refuse(400, 'InvalidCompression', 'content-encoding and body do not agree');
  if (plain.length > maxCallBytes) return tooLarge;
  const seconds = throttle.secondsToWait(plain.length);
  if (seconds > 0) {
    const why = `the data collection rule has taken all it takes in a minute; retry in ${seconds} s`;
    return refuse(429, 'TooManyRequests', why, { 'retry-after': String(seconds) });
  }
  const rows = parseRows(plain);
  if (rows === null) return refuse(400, 'InvalidFormat', 'the body is not a JSON array of objects in UTF-8');
  const wrong = columns === null ? null : typeMismatch(rows, columns);
  if (wrong !== null) return refuse(400, 'InvalidRecord', wrong);
  return { accepted: true, stream, rows };
}

function decompress(body: Buffer, encoding: string): Buffer | null {
  if (encoding === 'identity') return body;
  if (encoding !== 'gzip') return null;
  try {
    // One byte over the limit is enough to know that a body is too large.
    return gunzipSync(body, { maxOutputLength: maxCallBytes });
  } catch (error) {
    const tooLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    return tooLong ? Buffer.alloc(maxCallBytes + 1) : null;
  }
}

function parseRows(body: Buffer): Row[] | null {
  try {
    const rows: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    const isRow = (row: unknown): boolean => typeof row === 'object' && row !== null && !Array.isArray(row);
    return Array.isArray(rows) && rows.every(isRow) ? (rows as Row[]) : null;
  } catch {
    return null;
  }
}

const refuse = (status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) =>
  ({ accepted: false, status, code, message, headers }) as const;

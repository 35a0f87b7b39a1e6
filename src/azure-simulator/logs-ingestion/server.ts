import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Certificate } from '../certificate.ts';
import type { ErrorLog } from '../errors.ts';
import { createFaultQueue } from '../fault-queue.ts';
import { inUrl, listen } from '../listen.ts';
import { readBody } from '../read-body.ts';
import type { TokenIssuer } from '../token-issuer.ts';
import { asStored, type Column, type Row } from './columns.ts';
import { createRuleThrottle, type RuleLimit } from './rule-limit.ts';
import { judge, type Upload } from './upload.ts';

/** How the endpoint may misbehave. */
export type LogsFault =
  /** This status instead of storing anything. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** Stored at once, answered late. */
  | { readonly delayMs: number }
  /** 400 for the whole call when it holds such a row: nothing of it is stored. */
  | { readonly refuseRows: (row: Row) => boolean }
  /** Nothing is stored and nothing answered. */
  | 'hang'
  /** The connection is reset; nothing is stored. */
  | 'reset'
  /** Stored, and the connection is reset instead of an answer. */
  | 'accept-then-reset'
  /** Nothing is stored, and the answer has no end. */
  | 'endless'
  /** Nothing is stored, and 300 KB of answer become 300 MB when they are unpacked. */
  | 'gzip-bomb';

/** A call that came to an end. Status 0: it got no answer. */
export interface LogsRequest {
  readonly at: Date;
  readonly status: number;
  /** On the wire. */
  readonly bytes: number;
  /** Of a valid call, even if a fault then changed its result; otherwise 0. */
  readonly rows: number;
}

/** The Logs Ingestion API of one data collection rule. */
export interface LogsIngestionSimulator {
  /** `https://localhost:PORT`. */
  readonly endpoint: string;
  readonly ruleId: string;
  /** The first stream. */
  readonly streamName: string;
  /** Of the rule, by name. */
  readonly streams: readonly string[];
  /** What the table of `stream` (default: the first) holds, in order of arrival, copies included. */
  rows(stream?: string): readonly Row[];
  /** When each of these rows arrived, in the same order. */
  arrivals(stream?: string): readonly Date[];
  readonly requests: readonly LogsRequest[];
  /** Until cleared with `null`, or `times` times. */
  fault(fault: LogsFault | null, times?: number): void;
  /** Declares a stream, or redeclares its columns: from now on undeclared columns are dropped and wrong types refused. */
  declare(stream: string, columns: readonly Column[] | null): void;
  /** From now on the rule takes in no more than this; what is too much is a 429. `null`, as in the beginning: anything. */
  limit(limit: RuleLimit | null): void;
  /** From now on only these client ids have the role Monitoring Metrics Publisher, others get a 403. `null`, the default: all have it. */
  authorize(clientIds: readonly string[] | null): void;
}

export interface LogsIngestionOptions {
  readonly port?: number;
  /** Default: loopback. */
  readonly host?: string;
  readonly ruleId?: string;
  /** Columns per stream; null keeps whatever is sent. */
  readonly streams?: Readonly<Record<string, readonly Column[] | null>>;
  /** The audience of tokens. Default `https://monitor.azure.com`. */
  readonly audience?: string;
  /** Milliseconds since the epoch, for limits and times of arrival. Default: the clock of this machine. */
  readonly now?: () => number;
  readonly certificate: Certificate;
  readonly issuer: TokenIssuer;
  readonly log: ErrorLog;
}

const defaultStreams = { 'Custom-VmLifecycle_CL': null, 'Custom-VmLifecycleBridge_CL': null };

export async function startLogsIngestion(
  options: LogsIngestionOptions,
): Promise<{ logAnalytics: LogsIngestionSimulator; close(): Promise<void> }> {
  const { certificate, issuer, log, audience = 'https://monitor.azure.com', now = Date.now } = options;
  const ruleId = options.ruleId ?? 'dcr-00000000000000000000000000000000';
  const streams = new Map<string, readonly Column[] | null>(Object.entries(options.streams ?? defaultStreams));
  const newTable = (): { readonly rows: Row[]; readonly arrivals: Date[] } => ({ rows: [], arrivals: [] });
  const tables = new Map([...streams.keys()].map((stream) => [stream, newTable()]));
  const requests: LogsRequest[] = [];
  const faults = createFaultQueue<LogsFault>();
  const throttle = createRuleThrottle(now);
  let publishers: ReadonlySet<string> | null = null;
  const mayPublish = (clientId: string): boolean => publishers?.has(clientId.toLowerCase()) ?? true;

  const store = (upload: Upload): void => {
    if (!upload.accepted) return;
    const columns = streams.get(upload.stream);
    const table = tables.get(upload.stream);
    const at = new Date(now());
    for (const row of upload.rows) {
      table?.rows.push(columns ? asStored(row, columns, at) : row);
      table?.arrivals.push(at);
    }
  };

  const handle = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(message);
    if (body === null) return;
    const url = new URL(message.url ?? '/', 'https://logs');
    const upload = await judge(
      { method: message.method ?? 'GET', url, headers: message.headers, body },
      { ruleId, audience, issuer, mayPublish, throttle, streams },
    );
    const rows = upload.accepted ? upload.rows.length : 0;
    const done = (status: number): void =>
      void requests.push({ at: new Date(now()), status, bytes: body.length, rows });
    const answer = (status: number, text = '', headers: Readonly<Record<string, string>> = {}): void => {
      done(status);
      if (!response.destroyed) response.writeHead(status, headers).end(text);
    };
    const refuse = (status: number, code: string, text: string, headers: Readonly<Record<string, string>> = {}): void =>
      answer(status, JSON.stringify({ error: { code, message: text } }), {
        'content-type': 'application/json',
        ...headers,
      });
    const verdict = (): void =>
      upload.accepted ? answer(204) : refuse(upload.status, upload.code, upload.message, upload.headers);

    const fault = faults.take((one) => fitsRows(one, upload));
    if (fault === null) {
      store(upload);
      return verdict();
    }
    if (fault === 'hang') return done(0);
    if (fault === 'endless' || fault === 'gzip-bomb') {
      done(200);
      return floods[fault](response);
    }
    if (fault === 'reset' || fault === 'accept-then-reset') {
      if (fault === 'accept-then-reset') store(upload);
      done(0);
      response.socket?.destroy();
      return;
    }
    if ('status' in fault) return answer(fault.status, fault.body ?? '', fault.headers ?? {});
    if ('refuseRows' in fault) return refuse(400, 'InvalidRecord', 'a row of the call was refused');
    store(upload);
    await sleep(fault.delayMs, undefined, { ref: false });
    verdict();
  };

  const server = createServer({ key: certificate.key, cert: certificate.cert }, log.guard(handle));
  const port = await listen(server, options.port ?? 0, 'the Logs Ingestion API', options.host);
  const streamName = [...streams.keys()][0] ?? 'Custom-VmLifecycle_CL';

  const logAnalytics: LogsIngestionSimulator = {
    endpoint: `https://${inUrl(options.host ?? 'localhost')}:${port}`,
    ruleId,
    streamName,
    get streams() {
      return [...streams.keys()];
    },
    rows: (stream = streamName) => tables.get(stream)?.rows ?? [],
    arrivals: (stream = streamName) => tables.get(stream)?.arrivals ?? [],
    requests,
    fault: (fault, times) => faults.set(fault, times),
    declare(stream, columns) {
      streams.set(stream, columns);
      if (!tables.has(stream)) tables.set(stream, newTable());
    },
    limit: throttle.limit,
    authorize(clientIds) {
      publishers = clientIds && new Set(clientIds.map((id) => id.toLowerCase()));
    },
  };
  return {
    logAnalytics,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const floods = {
  'gzip-bomb': (response: ServerResponse): void => {
    // A gzip file may have many members; one is packed at once, 300 would take seconds.
    const member = gzipSync(Buffer.alloc(1024 * 1024));
    const packed = Buffer.concat(Array.from({ length: 300 }, () => member));
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
  },
  endless(response: ServerResponse): void {
    const piece = Buffer.alloc(64 * 1024);
    const write = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.writeHead(200).on('drain', write);
    write();
  },
};

/** `refuseRows` is played, and used up, only where such a row is in the call; every other fault always. */
function fitsRows(fault: LogsFault, upload: Upload): boolean {
  if (typeof fault !== 'object' || !('refuseRows' in fault)) return true;
  return upload.accepted && upload.rows.some(fault.refuseRows);
}

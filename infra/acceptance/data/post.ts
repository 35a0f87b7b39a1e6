import { type Agent, request } from 'node:https';
import { getCACertificates } from 'node:tls';

/** The answer of a service to one request, as it came. */
export interface HttpReply {
  /** 0: the connection ended without an answer; `message` says how. */
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The code of the service, where the body is one of its errors. */
  readonly code: string | null;
  /** Its words; the body itself where it has another form. */
  readonly message: string;
}

export interface Posted {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

const replyMs = 60_000;
const mostBytes = 64 * 1024;

/** Sends a POST request and returns the answer, whatever it is. Never rejects. */
export function post(
  { url, headers, body }: Posted,
  { ca = null, agent }: { readonly ca?: string | null; readonly agent?: Agent } = {},
): Promise<HttpReply> {
  const { promise, resolve } = Promise.withResolvers<HttpReply>();
  const without = (error: Error): void => resolve({ status: 0, headers: {}, code: null, message: error.message });
  const trusted = ca === null ? {} : { ca: [...getCACertificates('default'), ca] };
  const sent = request(
    url,
    {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      timeout: replyMs,
      agent,
      ...trusted,
    },
    (response) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        bytes += part.length;
        if (bytes <= mostBytes) parts.push(part);
      });
      response.on('error', without);
      response.on('end', () => {
        const names = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
        const text = Buffer.concat(parts).toString();
        resolve({ status: response.statusCode ?? 0, headers: Object.fromEntries(names), ...readError(text) });
      });
    },
  );
  sent.on('timeout', () => sent.destroy(new Error(`no answer within ${replyMs / 1000} s`)));
  sent.on('error', without);
  sent.end(body);
  return promise;
}

/** Code and message of an error in JSON, as Azure Monitor has it, or in XML, as Event Hubs has it. */
export function readError(body: string): Pick<HttpReply, 'code' | 'message'> {
  const [, xmlCode, detail] = /<Error><Code>(.*?)<\/Code><Detail>(.*?)<\/Detail>/s.exec(body) ?? [];
  if (xmlCode !== undefined) return { code: xmlCode, message: detail ?? '' };
  try {
    const { error } = JSON.parse(body) as { readonly error?: { readonly code?: unknown; readonly message?: unknown } };
    if (error === undefined) return { code: null, message: body };
    return { code: typeof error.code === 'string' ? error.code : null, message: String(error.message ?? '') };
  } catch {
    return { code: null, message: body };
  }
}

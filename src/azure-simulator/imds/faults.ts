import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from './answer.ts';

/**
 * How the endpoint may misbehave. Each is one that was met in the field or that a peer was seen to stumble over. What was asked is done
 * all the same, an approval too: only the answer is wrong, or none.
 */
export type Fault =
  /** This status instead of the answer. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  /** The good answer, late: the first call may take two minutes. */
  | { readonly delayMs: number }
  /** Nothing is ever answered. */
  | 'hang'
  /** The connection is reset instead of an answer. */
  | 'reset'
  /** 200 with an empty body. */
  | 'empty'
  /** 200 whose JSON stops in the middle. */
  | 'truncated'
  /** The connection ends in the middle of the body. */
  | 'cut-off'
  /** 200 with an HTML page. */
  | 'not-json'
  /** 200 with valid JSON of 11 MB. */
  | 'huge'
  /** 302 to another address. */
  | 'redirect'
  /** The good answer, one byte every 100 ms. */
  | 'slow'
  /** JSON without `Events`. */
  | 'no-events'
  /** JSON without `DocumentIncarnation`. */
  | 'no-incarnation'
  /** JSON that is not an object. */
  | 'null';

/** Answers `response` wrongly. `good` is what would have been answered. */
export async function playFault(fault: Fault, good: Answer, response: ServerResponse): Promise<void> {
  if (typeof fault === 'object') {
    if ('delayMs' in fault) {
      await sleep(fault.delayMs, undefined, { ref: false });
      return write(response, good);
    }
    return write(response, { status: fault.status, headers: fault.headers ?? {}, body: fault.body ?? '' });
  }
  switch (fault) {
    case 'hang':
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'redirect':
      return write(response, { status: 302, headers: { location: 'http://login.invalid/portal' }, body: '' });
    case 'cut-off':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': good.body.length + 100 });
      response.write(good.body.slice(0, Math.ceil(good.body.length / 2)), () => response.socket?.destroy());
      return;
    case 'slow':
      return writeSlowly(response, good);
    default:
      return write(response, { status: 200, headers: good.headers, body: wrongBody(fault, good.body) });
  }
}

function wrongBody(fault: Exclude<Fault, object>, good: string): string {
  switch (fault) {
    case 'truncated':
      return good.slice(0, Math.ceil(good.length / 2));
    case 'not-json':
      return '<html><body>Service unavailable</body></html>';
    case 'huge':
      return JSON.stringify({ DocumentIncarnation: 1, Events: [], Padding: 'x'.repeat(11 * 1024 * 1024) });
    case 'no-events':
      return JSON.stringify({ DocumentIncarnation: 1 });
    case 'no-incarnation':
      return JSON.stringify({ Events: [] });
    case 'null':
      return 'null';
    default:
      return '';
  }
}

async function writeSlowly(response: ServerResponse, { status, headers, body }: Answer): Promise<void> {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  for (const byte of Buffer.from(body)) {
    if (response.destroyed) return;
    response.write(Buffer.of(byte));
    await sleep(100, undefined, { ref: false });
  }
  response.end();
}

export function write(response: ServerResponse, { status, headers, body }: Answer): void {
  if (response.destroyed) return;
  response.writeHead(status, headers).end(body);
}

import { Agent, request } from 'undici';
import { type Answer, isDocument, type RecordedAnswer, type RecordedVm } from './format.ts';
import { vmOfInstance } from './vm-of-instance.ts';

/** The newest version of scheduled events, which has every field. */
export const apiVersion = '2020-07-01';
const instanceVersion = '2023-11-15';

/** A metadata service, real or simulated, that is recorded. Nothing here rejects. */
export interface Endpoint {
  poll(deadlineMs: number, signal: AbortSignal): Promise<RecordedAnswer>;
  /** Null when the endpoint names none. */
  vm(deadlineMs: number, signal: AbortSignal): Promise<RecordedVm | null>;
  close(): Promise<void>;
}

/** What is kept of an answer that is no document. */
const longestKeptBytes = 65_536;
/** A longer answer is no document. */
const longestReadBytes = 10 * 1024 * 1024;

/** @param url may have a path prefix. Never through a proxy: the metadata service refuses that. */
export function openEndpoint(url: string): Endpoint {
  const base = url.replace(/\/+$/, '');
  // No connection is used twice: after a migration it would lead to a host that does not know it and may never answer.
  const dispatcher = new Agent({ pipelining: 0, headersTimeout: 0, bodyTimeout: 0 });

  const get = async (path: string, signal: AbortSignal): Promise<Answer> => {
    const { statusCode, headers, body } = await request(`${base}${path}`, {
      dispatcher,
      signal,
      headers: { Metadata: 'true' },
    });
    const kept = ['retry-after', 'location'].flatMap((name) => {
      const value = [headers[name] ?? []].flat()[0];
      return value === undefined ? [] : [[name, value] as const];
    });
    return { status: statusCode, headers: Object.fromEntries(kept), body: await readText(body) };
  };

  return {
    async poll(deadlineMs, signal) {
      const deadline = AbortSignal.timeout(deadlineMs);
      try {
        const path = `/metadata/scheduledevents?api-version=${apiVersion}`;
        return resultOf(await get(path, AbortSignal.any([deadline, signal])));
      } catch (error) {
        if (deadline.aborted) {
          return { failure: { kind: 'no-answer', reason: `no answer came in ${deadlineMs / 1000} s` } };
        }
        return { failure: { kind: 'broken', reason: `the connection broke (${reasonOf(error)})` } };
      }
    },
    async vm(deadlineMs, signal) {
      const ask = async (version: string): Promise<Answer> =>
        await get(
          `/metadata/instance?api-version=${version}`,
          AbortSignal.any([AbortSignal.timeout(deadlineMs), signal]),
        );
      try {
        const first = await ask(instanceVersion);
        const known = first.status === 400 ? newestKnown(first.body) : null;
        const { status, body } = known === null ? first : await ask(known);
        return status === 200 ? vmOfInstance(JSON.parse(body)) : null;
      } catch {
        return null;
      }
    },
    close: () => dispatcher.destroy(),
  };
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > longestReadBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

function resultOf(answer: Answer): RecordedAnswer {
  if (answer.status === 200) {
    try {
      const document: unknown = JSON.parse(answer.body);
      if (isDocument(document)) return { document };
    } catch {
      // Not JSON: the answer itself is recorded.
    }
  }
  const body = Buffer.from(answer.body).subarray(0, longestKeptBytes).toString('utf8');
  return { answer: { ...answer, body } };
}

/** The newest version that a host knows, from its answer to a version that it does not know. */
function newestKnown(body: string): string | null {
  try {
    const [newest] = (JSON.parse(body) as { 'newest-versions'?: unknown[] })['newest-versions'] ?? [];
    return typeof newest === 'string' ? newest : null;
  } catch {
    return null;
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}

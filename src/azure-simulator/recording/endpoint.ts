import { Agent, request } from 'undici';
import type { VmDefinition } from '../imds/vm.ts';
import { type Answer, isDocument, type Seen } from './format.ts';
import { vmOfInstance } from './vm-of-instance.ts';

/** The newest version of the scheduled events: it tells every field. */
export const apiVersion = '2020-07-01';
const instanceVersion = '2023-11-15';

/** A real metadata service, or a simulated one, as somebody who records it sees it. Nothing here rejects. */
export interface Endpoint {
  look(deadlineMs: number, signal: AbortSignal): Promise<Seen>;
  /** Null when the endpoint does not tell. */
  vm(deadlineMs: number, signal: AbortSignal): Promise<VmDefinition | null>;
  close(): Promise<void>;
}

/** More of an answer that is no document is not kept. */
const longestKeptBytes = 65_536;
/** A longer answer is no document. */
const longestReadBytes = 10 * 1024 * 1024;

/** @param url perhaps with a path prefix. A proxy is never asked: the metadata service refuses what came through one. */
export function openEndpoint(url: string): Endpoint {
  const base = url.replace(/\/+$/, '');
  // No connection is used twice: a VM that was moved meanwhile finds another host there, which does not know it and may say nothing at all.
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
    async look(deadlineMs, signal) {
      const deadline = AbortSignal.timeout(deadlineMs);
      try {
        const path = `/metadata/scheduledevents?api-version=${apiVersion}`;
        return seenIn(await get(path, AbortSignal.any([deadline, signal])));
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

/** A document, or the answer that is none. */
function seenIn(answer: Answer): Seen {
  if (answer.status === 200) {
    try {
      const document: unknown = JSON.parse(answer.body);
      if (isDocument(document)) return { document };
    } catch {
      // No JSON: the answer itself is what was seen.
    }
  }
  const body = Buffer.from(answer.body).subarray(0, longestKeptBytes).toString('utf8');
  return { answer: { ...answer, body } };
}

/** A host that does not know the version names the newest that it knows. */
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

import type { Readable } from 'node:stream';
import { createDefaultHttpClient, type HttpClient } from '@azure/core-rest-pipeline';

/** Answers of the endpoints have a few hundred bytes, refusals with their reasons a few thousand. */
export const longestAnswerBytes = 64 * 1024;

/**
 * The HTTP client of the Azure SDKs, with a limit on answers: theirs buffers everything, and a broken proxy that answers in place of
 * the service can send gigabytes, or 1 MB of gzip that becomes gigabytes. Bytes are counted after decompression. `timeout` and signal
 * of a request apply until the last byte.
 */
export function boundedHttpClient(mostBytes: number = longestAnswerBytes): HttpClient {
  const client = createDefaultHttpClient();
  return {
    async sendRequest(request) {
      const { streamResponseStatusCodes, abortSignal, timeout } = request;
      request.streamResponseStatusCodes = new Set([Number.POSITIVE_INFINITY]);
      const { readableStreamBody, ...response } = await client.sendRequest(request);
      if (streamResponseStatusCodes) request.streamResponseStatusCodes = streamResponseStatusCodes;
      else delete request.streamResponseStatusCodes;
      if (!readableStreamBody) return response;
      const stream = readableStreamBody as Readable;
      const end = (): void => void stream.destroy(Object.assign(new Error('aborted'), { name: 'AbortError' }));
      const timer = timeout > 0 ? setTimeout(end, timeout) : undefined;
      abortSignal?.addEventListener('abort', end);
      if (abortSignal?.aborted) end();
      try {
        return { ...response, bodyAsText: await read(stream, mostBytes) };
      } finally {
        clearTimeout(timer);
        abortSignal?.removeEventListener('abort', end);
      }
    },
  };
}

async function read(stream: Readable, mostBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > mostBytes)
      throw Object.assign(new Error(`an answer of more than ${mostBytes} bytes`), { code: 'ANSWER_TOO_LONG' });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

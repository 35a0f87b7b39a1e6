import type { Writable } from 'node:stream';
import { createDeadlines } from '../../azure/deadline.ts';
import { failedCheck, KnownFailure, retry } from '../../azure/failure.ts';
import type { Sink } from '../sink.ts';

export const stdoutShape = {
  name: 'stdout',
  batchBy: 'any',
  inFlight: 1,
  limits: { records: 500, bytes: 1024 * 1024 },
} as const;

export interface StdoutOptions {
  readonly stream?: Writable;
  /** Deadline of one send. */
  readonly sendMs?: number;
}

/**
 * One JSON record a line on standard output; logs go to standard error. The worked example of a sink: all that one has
 * to do, and nothing else.
 *
 * 1. It has a name and says what a batch may be: here events may mix, and order is kept by one batch at a time.
 * 2. `send` sends `entry.json`, the bytes as they were stored, and answers every outcome as a {@link SendResult}.
 * 3. It ends on the signal or at its own deadline, even when the destination hangs.
 */
export function createStdoutSink({ stream = process.stdout, sendMs = 12_000 }: StdoutOptions = {}): Sink {
  const deadlines = createDeadlines('the reader of standard output');
  const ignore = (): void => {};
  // A closed reader is a failed send, not a reason to end the process: without a listener it would be one.
  stream.on('error', ignore);

  return {
    ...stdoutShape,

    async send(batch, signal) {
      if (!stream.writable) return closed;
      // What was given to a reader that does not read is still in memory: more of it would pile up there.
      if (stream.writableNeedDrain) return notRead;
      try {
        const bytes = Buffer.concat(batch.flatMap(({ json }) => [json, newline]));
        await deadlines.run('send', sendMs, [signal], () => write(stream, bytes));
        return { kind: 'delivered' };
      } catch (error) {
        return error instanceof KnownFailure ? error.failure : closed;
      }
    },

    async check() {
      if (stream.writable) return { ok: true, code: 'ok', detail: 'Standard output is open.' };
      return failedCheck(closed);
    },

    async close() {
      stream.removeListener('error', ignore);
    },
  };
}

const newline = Buffer.from('\n');

/** Resolves when the bytes have left the process. */
const write = (stream: Writable, bytes: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

export const closed = retry(
  'configuration',
  'closed',
  'Standard output is closed: keep whatever reads it running, or remove sinks.stdout.',
);

export const notRead = retry(
  'transient',
  'not-read',
  'The program that reads standard output has stopped reading; retrying. If this continues, check that program.',
);

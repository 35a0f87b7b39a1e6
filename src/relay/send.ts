import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { type Entry, type ParsedEntry, parsed, type SendResult, type Sink } from '../sinks/sink.ts';
import type { Batch } from './batch.ts';

/** After an abort a sink gets this long to return the result of the batch. */
const graceMs = 1_000;

/** Not an Error: to create one for each batch is what a send costs most. */
const isOver = 'the send is over';

/** Where, and within which time, a batch is sent. */
interface Target {
  readonly sink: Sink;
  readonly clock: Clock;
  readonly log: Log;
  readonly deadlineMs: number;
}

/** Null where the stored bytes are no JSON. */
export function recordOf(entry: Entry): ParsedEntry['record'] | null {
  try {
    return parsed(entry).record;
  } catch {
    return null;
  }
}

/**
 * One send that always has a result. A sink keeps its own deadlines; this one is for the day it does not:
 * one `send` that never returns would block its event permanently. A late result is not waited for: the batch goes
 * again, and readers fold copies. A sink that throws has a bug, which must not cost a record either.
 */
export async function send(batch: Batch, target: Target, signal: AbortSignal): Promise<SendResult> {
  const { clock, deadlineMs } = target;
  const stop = new AbortController();
  const over = new AbortController();
  const abort = (): void => stop.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([
      answer(batch, target, stop.signal),
      clock
        .sleep(deadlineMs, over.signal)
        .then(() =>
          retry('deadline-exceeded', `the sink gave no answer in ${deadlineMs / 1_000} s; the batch is sent again`),
        ),
      unanswered(clock, stop.signal, over.signal),
    ]);
  } finally {
    signal.removeEventListener('abort', abort);
    over.abort(isOver);
    stop.abort(isOver);
  }
}

async function answer(batch: Batch, { sink, log }: Target, signal: AbortSignal): Promise<SendResult> {
  try {
    return await sink.send(batch, signal);
  } catch (error) {
    if (signal.aborted) return stopped;
    if (batch.some((delivery) => recordOf(delivery) === null)) {
      return { kind: 'rejected', cause: 'poison', code: 'unreadable', reason: 'the stored record is no JSON' };
    }
    log.error({ error, records: batch.length }, `the sink ${sink.name} threw, which it never should: please report it`);
    return retry(
      'sink-threw',
      `the sink ${sink.name} failed in a way it was not made for; the log line of level error before this one shows it`,
    );
  }
}

async function unanswered(clock: Clock, stop: AbortSignal, over: AbortSignal): Promise<SendResult> {
  if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }));
  await clock.sleep(graceMs, over);
  return stopped;
}

const retry = (code: string, reason: string): SendResult => ({ kind: 'retry', cause: 'transient', code, reason });

const stopped = retry('stopped', 'the send was aborted because the bridge stops');

import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Entry, SendResult, Sink } from '../sinks/sink.ts';
import type { Waiting } from './batch.ts';

/** After an abort a sink gets this long to say what became of the batch. */
const graceMs = 1_000;

/** A reason that is no error: making one for each batch is what a send costs most. */
const isOver = 'the send is over';

/** Parsed only by the sink that asks: a sink that sends the bytes as they are costs nothing here. */
function entryOf({ json }: Waiting): Entry {
  let record: Entry['record'] | null = null;
  return {
    json,
    get record() {
      record ??= JSON.parse(json.toString()) as Entry['record'];
      return record;
    },
  };
}

function isReadable({ json }: Waiting): boolean {
  try {
    JSON.parse(json.toString());
    return true;
  } catch {
    return false;
  }
}

/**
 * One send, with an answer whatever the sink does. A sink keeps its own deadlines; this one is for the day it does not:
 * one `send` that hangs for ever would hold its event back for ever. A late answer is not waited for: the batch goes
 * again, and readers fold copies. A sink that throws has a bug, which must not cost a record either.
 */
export async function send(
  batch: readonly Waiting[],
  to: { readonly sink: Sink; readonly clock: Clock; readonly log: Log; readonly deadlineMs: number },
  signal: AbortSignal,
): Promise<SendResult> {
  const stop = new AbortController();
  const over = new AbortController();
  const abort = (): void => stop.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([
      answer(batch, to, stop.signal),
      missed(to.clock, to.deadlineMs, over.signal),
      unanswered(to.clock, stop.signal, over.signal),
    ]);
  } finally {
    signal.removeEventListener('abort', abort);
    over.abort(isOver);
    stop.abort(isOver);
  }
}

async function answer(
  batch: readonly Waiting[],
  { sink, log }: { readonly sink: Sink; readonly log: Log },
  signal: AbortSignal,
): Promise<SendResult> {
  try {
    return await sink.send(batch.map(entryOf), signal);
  } catch (error) {
    if (signal.aborted) return retry('stopped', 'the send was given up because the bridge stops');
    if (!batch.every(isReadable)) {
      return { kind: 'rejected', cause: 'poison', code: 'unreadable', reason: 'the stored record is no JSON' };
    }
    log.error({ error, records: batch.length }, `the sink ${sink.name} threw, which it never should: please report it`);
    return retry(
      'sink-threw',
      `the sink ${sink.name} failed in a way it was not made for; the log line of level error before this one shows it`,
    );
  }
}

async function missed(clock: Clock, deadlineMs: number, over: AbortSignal): Promise<SendResult> {
  await clock.sleep(deadlineMs, over);
  return retry('deadline-exceeded', `the sink gave no answer in ${deadlineMs / 1_000} s; the batch is sent again`);
}

async function unanswered(clock: Clock, stop: AbortSignal, over: AbortSignal): Promise<SendResult> {
  await new Promise<void>((resolve) => {
    if (stop.aborted) return resolve();
    stop.addEventListener('abort', () => resolve(), { once: true });
  });
  await clock.sleep(graceMs, over);
  return retry('stopped', 'the send was given up because the bridge stops');
}

const retry = (code: string, reason: string): SendResult => ({ kind: 'retry', cause: 'transient', code, reason });
